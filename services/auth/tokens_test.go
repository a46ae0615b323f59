package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const day = 24 * time.Hour

func readOnly(name string) *authv1.CreatePersonalTokenRequest {
	return &authv1.CreatePersonalTokenRequest{Name: name, Scopes: []string{"read"}}
}

func (b *bundle) newToken(
	ctx context.Context, t *testing.T, req *authv1.CreatePersonalTokenRequest,
) *authv1.CreatePersonalTokenResponse {
	t.Helper()
	resp, err := b.tokens.CreatePersonalToken(ctx, req)
	require.NoError(t, err)
	return resp
}

func (b *bundle) exchange(ctx context.Context, token string) (string, error) {
	resp, err := b.tokens.ExchangeAccessToken(ctx,
		&authv1.ExchangeAccessTokenRequest{Token: token, Address: "203.0.113.7"})
	return resp.GetAccessToken(), err
}

func (b *bundle) at(d time.Duration) *string {
	return new(b.clock.now().Add(d).Format(time.RFC3339))
}

func TestCreatePersonalToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	t.Run("returns a token that only its hash is stored of", func(t *testing.T) {
		created := b.newToken(ctx, t, &authv1.CreatePersonalTokenRequest{
			Name: " Backup ", Scopes: []string{"budgets:write", "read", "read"},
		})
		require.True(t, personaltoken.Valid(created.GetToken()))
		made := created.GetPersonalToken()
		require.Equal(t, "Backup", made.GetName())
		require.Equal(t, []string{"read", "budgets:write"}, made.GetScopes())
		require.Equal(t, "2026-06-13T12:00:00.000Z", made.GetExpiresAt(), "90 days")
		require.Nil(t, made.LastUsedAt)
		stored := pgtest.Value[string](t, b.db, `SELECT t::text FROM access_tokens t`)
		require.NotContains(t, stored, created.GetToken()[:20])
		list, err := b.tokens.ListPersonalTokens(ctx, &authv1.ListPersonalTokensRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetTokens(), 1)
		require.Equal(t, made.String(), list.GetTokens()[0].String())
	})
	t.Run("rejects invalid fields", func(t *testing.T) {
		for name, tt := range map[string]struct {
			change func(*authv1.CreatePersonalTokenRequest)
			fields []string
		}{
			"nothing": {func(r *authv1.CreatePersonalTokenRequest) {
				r.Name, r.Scopes = "", nil
			}, []string{"name", "scopes"}},
			"an unknown scope": {func(r *authv1.CreatePersonalTokenRequest) {
				r.Scopes = []string{"read", "auth:write"}
			}, []string{"scopes"}},
			"two scopes in one": {func(r *authv1.CreatePersonalTokenRequest) {
				r.Scopes = []string{"read budgets:write"}
			}, []string{"scopes"}},
			"too many scopes": {func(r *authv1.CreatePersonalTokenRequest) {
				r.Scopes = append([]string{"read"}, caller.Scopes...)
			}, []string{"scopes"}},
			"the past": {func(r *authv1.CreatePersonalTokenRequest) {
				r.ExpiresAt = b.at(0)
			}, []string{"expiresAt"}},
			"too far": {func(r *authv1.CreatePersonalTokenRequest) {
				r.ExpiresAt = b.at(366*day + time.Second)
			}, []string{"expiresAt"}},
			"no time": {func(r *authv1.CreatePersonalTokenRequest) {
				r.ExpiresAt = new("soon")
			}, []string{"expiresAt"}},
		} {
			req := readOnly("x")
			tt.change(req)
			e := b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
				_, err := b.tokens.CreatePersonalToken(ctx, req)
				return err
			})
			require.ElementsMatch(t, tt.fields, fieldNames(e), name)
		}
	})
	t.Run("accepts 366 days", func(t *testing.T) {
		req := readOnly("x")
		req.ExpiresAt = b.at(366 * day)
		require.Equal(t, "2027-03-16T12:00:00.000Z",
			b.newToken(ctx, t, req).GetPersonalToken().GetExpiresAt())
	})
	t.Run("returns the same token for a repeated key", func(t *testing.T) {
		req := readOnly("x")
		req.IdempotencyKey = "k"
		first, again := b.newToken(ctx, t, req), b.newToken(ctx, t, req)
		require.Equal(t, first.GetToken(), again.GetToken())
		require.True(t, again.GetReplayed())
	})
}

func TestCreatePersonalTokenLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	other, _ := b.member(t, "bob@example.com")
	var wait sync.WaitGroup
	var made, rejected atomic.Int32
	for i := range 40 {
		wait.Go(func() {
			req := readOnly("x")
			if i == 0 {
				req.ExpiresAt = b.at(time.Hour)
			}
			_, err := b.tokens.CreatePersonalToken(ctx, req)
			switch e := apierr.From(err); {
			case err == nil:
				made.Add(1)
			case e != nil && e.Reason == "LIMIT_REACHED":
				rejected.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	require.Equal(t, int32(20), made.Load())
	require.Equal(t, int32(20), rejected.Load())
	b.newToken(other, t, readOnly("another user has a limit of their own"))

	pgtest.Exec(t, b.db, `UPDATE access_tokens SET expires_at = $1 WHERE id IN (
		SELECT id FROM access_tokens WHERE user_id = $2 LIMIT 3)`,
		b.clock.now(), caller.ID(ctx))
	b.newToken(ctx, t, readOnly("an expired token makes room"))
	require.Equal(t, 18, pgtest.Value[int](t, b.db,
		`SELECT count(*) FROM access_tokens WHERE user_id = $1`, caller.ID(ctx)))
}

func TestCreatePersonalTokenInEndedSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	// The session ends after the create has begun.
	err := pgtest.Behind(t, b.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE sessions SET revoked_at = $1`, b.clock.now())
		return err
	}, pgtest.Call(ctx, b.tokens.CreatePersonalToken, readOnly("x")))
	require.ErrorIs(t, err, apierr.Unauthorized)
	for _, call := range []func() error{
		func() error { _, err := b.tokens.CreatePersonalToken(ctx, readOnly("x")); return err },
		func() error {
			_, err := b.tokens.ListPersonalTokens(ctx, &authv1.ListPersonalTokensRequest{})
			return err
		},
		func() error {
			_, err := b.tokens.DeletePersonalToken(ctx,
				&authv1.DeletePersonalTokenRequest{Id: b.newID().String()})
			return err
		},
	} {
		require.ErrorIs(t, call(), apierr.Unauthorized)
	}
	require.Zero(t, pgtest.Value[int](t, b.db, `SELECT count(*) FROM access_tokens`))
}

// TestCreatePersonalTokenUnverified requires that a user confirms the e-mail first, if the
// installation requires that for invitations.
func TestCreatePersonalTokenUnverified(t *testing.T) {
	t.Parallel()
	p := setupMail(t)
	p.config.Mail.Verification = verificationSoft
	p.register(t, adaMail)
	ctx := p.as(t, p.login(t, adaMail).GetAccessToken())
	create := func() error {
		_, err := p.tokens.CreatePersonalToken(ctx, readOnly("x"))
		return err
	}
	requireReason(t, codes.PermissionDenied, "EMAIL_NOT_VERIFIED", create())
	require.NoError(t, p.confirm(t, p.token(t, adaMail)))
	require.NoError(t, create())
}

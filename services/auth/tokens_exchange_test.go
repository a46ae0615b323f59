package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestExchangePersonalToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, login := b.member(t, "ada@example.com")
	created := b.newToken(ctx, t, &authv1.CreatePersonalTokenRequest{
		Name: "x", Scopes: []string{"webhooks:write", "read"}, ExpiresAt: b.at(day),
	})
	t.Run("issues an access token of five minutes with the scopes", func(t *testing.T) {
		resp, err := b.tokens.ExchangePersonalToken(t.Context(),
			&authv1.ExchangePersonalTokenRequest{Token: created.GetToken()})
		require.NoError(t, err)
		require.Equal(t, int32(300), resp.GetExpiresIn())
		require.Equal(t, "Bearer", resp.GetTokenType())
		require.Equal(t, []string{"read", "webhooks:write"}, resp.GetScopes())
		id, err := b.verify(t, resp.GetAccessToken())
		require.NoError(t, err)
		require.Equal(t, caller.Identity{
			UserID:    uuid.MustParse(login.GetUser().GetId()),
			SessionID: uuid.MustParse(created.GetPersonalToken().GetId()),
			Scope:     "read webhooks:write",
		}, id)
		b.clock.advance(5*time.Minute + time.Minute) // The second minute is the leeway.
		_, err = b.verify(t, resp.GetAccessToken())
		require.ErrorIs(t, err, apierr.TokenExpired)
	})
	t.Run("rejects other tokens without a write", func(t *testing.T) {
		token := created.GetToken()
		for name, bad := range map[string]string{
			"unknown": personaltoken.New(), "a wrong checksum": token[:len(token)-1] + "-",
			"another secret with its checksum": token[:10] + "0" + token[11:],
			"an access token":                  login.GetAccessToken(),
			"a refresh token":                  login.GetRefreshToken(), "malformed": "cof_",
		} {
			b.refuses(t, codes.Unauthenticated, "UNAUTHORIZED", func() error {
				_, err := b.exchange(t.Context(), bad)
				return err
			})
			b.refuses(t, codes.Unauthenticated, "INVALID_PERSONAL_TOKEN", func() error {
				_, err := b.tokens.ExchangePersonalToken(t.Context(),
					&authv1.ExchangePersonalTokenRequest{Token: bad})
				return err
			})
			require.NotEqual(t, token, bad, name)
		}
		b.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := b.tokens.ExchangePersonalToken(t.Context(),
				&authv1.ExchangePersonalTokenRequest{})
			return err
		})
	})
	t.Run("limits the access token by the token's expiry", func(t *testing.T) {
		b.clock.advance(day - 7*time.Minute)
		resp, err := b.tokens.ExchangePersonalToken(t.Context(),
			&authv1.ExchangePersonalTokenRequest{Token: created.GetToken()})
		require.NoError(t, err)
		require.Equal(t, int32(60), resp.GetExpiresIn())
		b.clock.advance(time.Minute)
		_, err = b.exchange(t.Context(), created.GetToken())
		require.ErrorIs(t, err, apierr.TokenExpired)
		_, err = b.tokens.ExchangePersonalToken(t.Context(),
			&authv1.ExchangePersonalTokenRequest{Token: created.GetToken()})
		requireReason(t, codes.Unauthenticated, "INVALID_PERSONAL_TOKEN", err)
	})
}

// TestExchangePersonalTokenLife requires that an access token is not valid for longer than one of a
// session, because verifiers forget an ended session after that time.
func TestExchangePersonalTokenLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	created := b.newToken(ctx, t, readOnly("x"))
	config := testConfig
	config.AccessTTL = time.Minute
	short := b.replica(t, config)
	require.NoError(t, short.keys.Refresh(t.Context()))
	resp, err := short.tokens.ExchangePersonalToken(t.Context(),
		&authv1.ExchangePersonalTokenRequest{Token: created.GetToken()})
	require.NoError(t, err)
	require.Equal(t, int32(60), resp.GetExpiresIn())
}

func TestExchangeRecordsUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	token := b.newToken(ctx, t, readOnly("x")).GetToken()
	b.clock.advance(90 * time.Second)
	version := func() string {
		return pgtest.Value[string](t, b.db, `SELECT xmin::text FROM access_tokens`)
	}
	used := func() (string, string) {
		list, err := b.tokens.ListPersonalTokens(ctx, &authv1.ListPersonalTokensRequest{})
		require.NoError(t, err)
		return list.GetTokens()[0].GetLastUsedAt(), list.GetTokens()[0].GetLastAddress()
	}
	_, err := b.exchange(t.Context(), token)
	require.NoError(t, err)
	at, address := used()
	require.Equal(t, "2026-03-15T12:01:00.000Z", at)
	require.Equal(t, "203.0.113.7", address)
	first := version()
	b.clock.advance(29 * time.Second)
	for range 3 {
		_, err = b.tokens.ExchangePersonalToken(from(t.Context(), "2001:db8::1"),
			&authv1.ExchangePersonalTokenRequest{Token: token})
		require.NoError(t, err)
	}
	require.Equal(t, first, version(), "a minute has one write")
	b.clock.advance(time.Second)
	_, err = b.tokens.ExchangePersonalToken(from(t.Context(), "2001:db8::1"),
		&authv1.ExchangePersonalTokenRequest{Token: token})
	require.NoError(t, err)
	at, address = used()
	require.Equal(t, "2026-03-15T12:02:00.000Z", at)
	require.Equal(t, "2001:db8::1", address)
}

func TestDeletePersonalToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	other, _ := b.member(t, "eve@example.com")
	created := b.newToken(ctx, t, readOnly("Phone"))
	kept := b.newToken(ctx, t, readOnly("Laptop"))
	id := created.GetPersonalToken().GetId()
	remove := func(ctx context.Context, id string) error {
		_, err := b.tokens.DeletePersonalToken(ctx, &authv1.DeletePersonalTokenRequest{Id: id})
		return err
	}
	access, err := b.exchange(t.Context(), created.GetToken())
	require.NoError(t, err)
	b.refuses(t, codes.NotFound, "TOKEN_NOT_FOUND", func() error { return remove(other, id) })
	b.refuses(t, codes.NotFound, "TOKEN_NOT_FOUND",
		func() error { return remove(ctx, b.newID().String()) })
	b.refuses(t, codes.InvalidArgument, "INVALID_TOKEN_ID",
		func() error { return remove(ctx, "1") })
	_, err = b.verify(t, access)
	require.NoError(t, err)

	// Simultaneous deletions of one token take effect once.
	var wait sync.WaitGroup
	var deleted atomic.Int32
	for range 20 {
		wait.Go(func() {
			if remove(ctx, id) == nil {
				deleted.Add(1)
			}
		})
	}
	wait.Wait()
	require.Equal(t, int32(1), deleted.Load())
	_, err = b.exchange(t.Context(), created.GetToken())
	require.ErrorIs(t, err, apierr.Unauthorized)
	_, err = b.verify(t, access)
	require.ErrorIs(t, err, apierr.Unauthorized,
		"verifiers load the token's id as an ended session")
	access, err = b.exchange(t.Context(), kept.GetToken())
	require.NoError(t, err)
	_, err = b.verify(t, access)
	require.NoError(t, err, "the other token remains")

	sessions, err := b.ListSessions(ctx, &authv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, sessions.GetSessions(), 1, "a token is no session in the list")
	audit, err := b.ListAudit(ctx, &authv1.ListAuditRequest{})
	require.NoError(t, err)
	var entries []string
	for _, e := range audit.GetEntries() {
		entries = append(entries, e.GetType()+" "+e.GetTokenName())
	}
	require.Equal(t, []string{
		"token_deleted Phone", "token_created Laptop", "token_created Phone", "login_succeeded ",
		"registered ",
	}, entries)
}

// TestDeletePersonalTokenUntilItsAccessTokensExpire requires that verifiers see the end of a token
// until the last access token that was issued for it has expired.
func TestDeletePersonalTokenUntilItsAccessTokensExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	created := b.newToken(ctx, t, readOnly("x"))
	access, err := b.exchange(t.Context(), created.GetToken())
	require.NoError(t, err)
	_, err = b.tokens.DeletePersonalToken(ctx, &authv1.DeletePersonalTokenRequest{
		Id: created.GetPersonalToken().GetId(),
	})
	require.NoError(t, err)
	for range 8 {
		require.NoError(t, b.expire(t.Context()))
		_, err = b.verify(t, access)
		require.Error(t, err)
		b.clock.advance(time.Minute)
	}
	b.clock.advance(2 * time.Hour)
	require.NoError(t, b.expire(t.Context()))
	require.Equal(t, 1, pgtest.Value[int](t, b.db, `SELECT count(*) FROM sessions`),
		"the ended session is deleted")
}

func TestExpireTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, _ := b.member(t, "ada@example.com")
	req := readOnly("x")
	req.ExpiresAt = b.at(time.Hour)
	b.newToken(ctx, t, req)
	count := func() int {
		return pgtest.Value[int](t, b.db, `SELECT count(*) FROM access_tokens`)
	}
	b.clock.advance(30 * day)
	require.NoError(t, b.expire(t.Context()))
	require.Equal(t, 1, count(), "an expired token is listed for 30 days")
	b.clock.advance(time.Hour + time.Second)
	require.NoError(t, b.expire(t.Context()))
	require.Zero(t, count())
}

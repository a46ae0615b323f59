package auth

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// revokedFrom reads the pages after a cursor like a verifier. It returns the sessions in order, the
// cursor to continue with, and the number of pages.
func (b *bundle) revokedFrom(
	t *testing.T, cursor string,
) (sessions []uuid.UUID, next string, pages int) {
	t.Helper()
	for {
		resp, err := b.ListRevokedSessions(t.Context(),
			&authv1.ListRevokedSessionsRequest{Paged: true, Cursor: cursor})
		require.NoError(t, err)
		require.Empty(t, resp.GetSessionIds())
		require.Len(t, resp.GetSessions(), 16*len(resp.GetExpireAt()))
		for i := range resp.GetExpireAt() {
			sessions = append(sessions, uuid.UUID(resp.GetSessions()[16*i:16*i+16]))
		}
		pages++
		cursor = resp.GetNextCursor()
		if !resp.GetHasMore() {
			return sessions, cursor, pages
		}
	}
}

func (b *bundle) unpagedRevoked(t *testing.T) []string {
	t.Helper()
	resp, err := b.ListRevokedSessions(t.Context(), &authv1.ListRevokedSessionsRequest{})
	require.NoError(t, err)
	require.Empty(t, resp.GetSessions())
	return resp.GetSessionIds()
}

// endMany inserts ended sessions of a user, ten of which end at a time.
func (b *bundle) endMany(t *testing.T, user string, n int, since time.Duration) {
	t.Helper()
	pgtest.Exec(t, b.db, `
		INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at, revoked_at,
			user_agent, ip_address)
		SELECT gen_random_uuid(), $1, $2::timestamptz, $2, $2 + interval '30 days',
			$2 + (i / 10) * interval '1 millisecond', '', ''
		FROM generate_series(1, $3::integer) i`, user, b.clock.now().Add(-since).UTC(), n)
}

func TestListRevokedSessions(t *testing.T) {
	t.Parallel()
	t.Run("lists a session until its last access token has expired", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		ctx, _ := env.member(t, "ada@example.com")
		env.login(t, "ada@example.com")
		id, _ := caller.From(ctx)
		const idle = 10 * time.Minute
		env.clock.advance(idle)
		_, err := env.Logout(ctx, &authv1.LogoutRequest{})
		require.NoError(t, err)
		ended, _, _ := env.revokedFrom(t, "")
		require.Equal(t, []uuid.UUID{id.SessionID}, ended)
		require.Equal(t, []string{id.SessionID.String()}, env.unpagedRevoked(t))
		resp, err := env.ListRevokedSessions(t.Context(),
			&authv1.ListRevokedSessionsRequest{Paged: true})
		require.NoError(t, err)
		require.Equal(t, env.clock.now().Add(testConfig.AccessTTL+revokedMargin-idle).Unix(),
			int64(resp.GetExpireAt()[0]))

		env.clock.advance(testConfig.AccessTTL + revokedMargin - idle - time.Second)
		require.NoError(t, env.expire(t.Context()))
		ended, _, _ = env.revokedFrom(t, "")
		require.Equal(t, []uuid.UUID{id.SessionID}, ended)
		env.clock.advance(time.Second)
		ended, _, _ = env.revokedFrom(t, "")
		require.Empty(t, ended)
		require.Empty(t, env.unpagedRevoked(t))
	})
	t.Run("omits a session that was ended without a live access token", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		env.login(t, "ada@example.com")
		env.clock.advance(testConfig.AccessTTL + revokedMargin)
		ctx := env.as(t, env.login(t, "ada@example.com").GetAccessToken())
		_, err := env.ChangePassword(ctx, &authv1.ChangePasswordRequest{
			CurrentPassword: goodPassword, NewPassword: "another password",
		})
		require.NoError(t, err)
		ended, _, _ := env.revokedFrom(t, "")
		require.Empty(t, ended)
	})
	t.Run("pages through many sessions and continues with new ones", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		user := env.register(t, "ada@example.com")
		const many = 2*revokedPage + 7
		env.endMany(t, user.GetId(), many, 30*time.Minute)
		ended, cursor, pages := env.revokedFrom(t, "")
		require.Equal(t, 3, pages)
		distinct := map[uuid.UUID]bool{}
		for _, id := range ended {
			distinct[id] = true
		}
		require.Len(t, distinct, many)
		require.Len(t, ended, many, "no session twice")
		require.Len(t, env.unpagedRevoked(t), many)

		ended, cursor, pages = env.revokedFrom(t, cursor)
		require.Empty(t, ended)
		require.Equal(t, 1, pages)
		env.endMany(t, user.GetId(), 3, 0)
		ended, _, _ = env.revokedFrom(t, cursor)
		require.Len(t, ended, 3)
	})
	t.Run("repeats the sessions whose commit may have come late", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		u := env.register(t, "ada@example.com")
		env.endMany(t, u.GetId(), revokedPage+1, 10*time.Minute)
		_, cursor, _ := env.revokedFrom(t, "")
		// A transaction that ended sessions before these pages were read commits now.
		env.endMany(t, u.GetId(), 5, revokedOverlap-time.Second)
		for range 2 {
			var ended []uuid.UUID
			ended, cursor, _ = env.revokedFrom(t, cursor)
			require.Len(t, ended, 5)
		}
		env.clock.advance(revokedOverlap)
		_, cursor, _ = env.revokedFrom(t, cursor)
		ended, _, _ := env.revokedFrom(t, cursor)
		require.Empty(t, ended)
	})
	t.Run("rejects a cursor that it did not make", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.refuses(t, codes.InvalidArgument, "INVALID_CURSOR", pgtest.Call(t.Context(),
			b.ListRevokedSessions, &authv1.ListRevokedSessionsRequest{Paged: true, Cursor: "x"}))
	})
}

// TestEndedSession checks each way to end a session against a verifier that has loaded before and
// continues, as the other services do.
func TestEndedSession(t *testing.T) {
	t.Parallel()
	type login = authv1.LoginResponse
	type end func(b *bundle, acting context.Context, ended *login) error
	for name, end := range map[string]end{
		"by sign-out": func(b *bundle, _ context.Context, l *login) error {
			_, err := b.Logout(b.as(t, l.GetAccessToken()), &authv1.LogoutRequest{})
			return err
		},
		"by its user in another session": func(b *bundle, acting context.Context, l *login) error {
			id, _ := caller.From(b.as(t, l.GetAccessToken()))
			_, err := b.RevokeSession(acting,
				&authv1.RevokeSessionRequest{Id: id.SessionID.String()})
			return err
		},
		"by a change of the password": func(b *bundle, acting context.Context, _ *login) error {
			_, err := b.ChangePassword(acting, &authv1.ChangePasswordRequest{
				CurrentPassword: goodPassword, NewPassword: "another password",
			})
			return err
		},
		"by the reuse of a refresh token": func(b *bundle, _ context.Context, l *login) error {
			if _, err := b.refresh(t.Context(), l.GetRefreshToken()); err != nil {
				return err
			}
			if _, err := b.refresh(t.Context(), l.GetRefreshToken()); apierr.From(err) == nil {
				return err
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			ctx, _ := env.member(t, "ada@example.com")
			l := env.login(t, "ada@example.com")
			v, err := caller.NewVerifier(env.trust(), env.clock.now, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			_, err = v.Verify(t.Context(), l.GetAccessToken())
			require.NoError(t, err)
			require.NoError(t, end(env, ctx, l))
			require.NoError(t, v.Reload(t.Context()))
			_, err = v.Verify(t.Context(), l.GetAccessToken())
			require.ErrorIs(t, err, apierr.Unauthorized)
		})
	}
}

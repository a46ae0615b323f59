package auth

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

// authTime returns the auth_time of an access token.
func (b *bundle) authTime(t *testing.T, access string) time.Time {
	t.Helper()
	id, err := b.verify(t, access)
	require.NoError(t, err)
	return id.AuthTime
}

// lastAudit returns the type and the outcome of the last audit entry.
func (b *bundle) lastAudit(t *testing.T) string {
	t.Helper()
	return pgtest.Value[string](t, b.db,
		`SELECT type || ' ' || outcome FROM audit ORDER BY last_at DESC, id DESC LIMIT 1`)
}

func TestAuthTime(t *testing.T) {
	t.Parallel()
	env := setup(t)
	env.register(t, "ada@example.com")
	start := env.clock.now()
	login := env.login(t, "ada@example.com")
	require.Equal(t, start, env.authTime(t, login.GetAccessToken()))
	cookie := env.cookieLogin(t, "ada@example.com")

	env.clock.advance(5 * time.Minute)
	t.Run("a refresh keeps it", func(t *testing.T) {
		refreshed, err := env.refresh(t.Context(), login.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, start, env.authTime(t, refreshed.GetAccessToken()))
	})
	t.Run("two tabs keep it", func(t *testing.T) {
		for range 2 {
			refreshed, err := env.refreshCookie(t, cookie.GetCookie().GetValue())
			require.NoError(t, err)
			require.Equal(t, start, env.authTime(t, refreshed.GetAccessToken()))
		}
	})
	t.Run("is the start of a session of an earlier release", func(t *testing.T) {
		other := env.login(t, "ada@example.com")
		pgtest.Exec(t, env.db, `UPDATE sessions SET authenticated_at = NULL`)
		created := env.clock.now()
		env.clock.advance(time.Minute)
		refreshed, err := env.refresh(t.Context(), other.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, created, env.authTime(t, refreshed.GetAccessToken()))
	})
}

func TestReauthenticate(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx, login := env.member(t, "ada@example.com")
	reauthenticate := func(password string) (*authv1.ReauthenticateResponse, error) {
		return env.Reauthenticate(ctx, &authv1.ReauthenticateRequest{Password: password})
	}
	t.Run("returns a token with the present time, which a refresh keeps", func(t *testing.T) {
		env.clock.advance(20 * time.Minute)
		confirmed, err := reauthenticate(goodPassword)
		require.NoError(t, err)
		require.Equal(t, env.clock.now(), env.authTime(t, confirmed.GetAccessToken()))
		confirmedAt := env.clock.now()
		env.clock.advance(time.Minute)
		refreshed, err := env.refresh(t.Context(), login.GetRefreshToken())
		require.NoError(t, err)
		require.Equal(t, confirmedAt, env.authTime(t, refreshed.GetAccessToken()))
		require.Equal(t, "reauthenticated success", env.lastAudit(t))
	})
	t.Run("rejects a missing and a wrong password", func(t *testing.T) {
		e := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := reauthenticate("")
			return err
		})
		require.Equal(t, []string{"password"}, fieldNames(e))
		env.refuses(t, codes.Unauthenticated, "INVALID_CREDENTIALS", func() error {
			_, err := reauthenticate("wrong password")
			return err
		})
		require.Equal(t, "reauthentication_failed failure", env.lastAudit(t))
	})
	t.Run("limits the guesses in a session", func(t *testing.T) {
		for range failuresPerPair - 1 {
			_, err := reauthenticate("wrong password")
			require.ErrorIs(t, err, errWrongPassword)
		}
		_, err := reauthenticate(goodPassword)
		requireReason(t, codes.ResourceExhausted, "RATE_LIMITED", err)
		env.clock.advance(failureWindow)
	})
	t.Run("does nothing after the password has changed meanwhile", func(t *testing.T) {
		current, err := env.currentUser(ctx)
		require.NoError(t, err)
		id, err := env.verify(t, login.GetAccessToken())
		require.NoError(t, err)
		changed := current
		changed.PasswordHash = "$argon2id$before"
		_, err = authenticateSession(t.Context(), env.db, changed, id.SessionID, env.clock.now())
		require.ErrorIs(t, err, pgx.ErrNoRows)
	})
	t.Run("rejects an ended session", func(t *testing.T) {
		_, err := env.Logout(ctx, &authv1.LogoutRequest{})
		require.NoError(t, err)
		_, err = reauthenticate(goodPassword)
		require.ErrorIs(t, err, apierr.Unauthorized)
	})
}

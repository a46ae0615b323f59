package auth

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestCookieTabs(t *testing.T) {
	t.Parallel()
	t.Run("get the same cookie when they refresh at once", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		first := env.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
		answers := make([]*authv1.RefreshResponse, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				if resp, err := env.Refresh(t.Context(), fromCookie(first)); err == nil {
					answers[i] = resp
				}
			})
		}
		all.Wait()
		for _, a := range answers {
			require.NotNil(t, a)
			require.Equal(t, answers[0].GetCookie(), a.GetCookie())
			_, err := env.verify(t, a.GetAccessToken())
			require.NoError(t, err)
		}
		_, err := env.refreshCookie(t, answers[0].GetCookie().GetValue())
		require.NoError(t, err)
	})
	t.Run("get the same cookie for less than 20 seconds", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		first := env.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
		second, err := env.refreshCookie(t, first)
		require.NoError(t, err)
		env.clock.advance(20*time.Second - time.Millisecond)
		again, err := env.refreshCookie(t, first)
		require.NoError(t, err)
		require.Equal(t, second.GetCookie(), again.GetCookie())
		require.NotEqual(t, second.GetAccessToken(), again.GetAccessToken())
		list, err := env.ListSessions(env.as(t, again.GetAccessToken()),
			&authv1.ListSessionsRequest{})
		require.NoError(t, err)
		require.Equal(t, "2026-03-15T12:00:19.999Z", list.GetSessions()[0].GetLastUsedAt(),
			"the access token expires an hour after that")
		require.Equal(t, "2026-04-14T12:00:00.000Z", list.GetSessions()[0].GetExpiresAt(),
			"the refresh token is no newer")

		env.clock.advance(time.Millisecond)
		_, err = env.refreshCookie(t, first)
		requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
		_, err = env.verify(t, again.GetAccessToken())
		require.ErrorIs(t, err, apierr.Unauthorized,
			"the cookie may have been stolen, so the session ends")
		env.requireCookieRejected(t, second.GetCookie().GetValue())
	})
	t.Run("keep a newer cookie", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		first := env.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
		second, err := env.refreshCookie(t, first)
		require.NoError(t, err)
		third, err := env.refreshCookie(t, second.GetCookie().GetValue())
		require.NoError(t, err)
		late, err := env.refreshCookie(t, first)
		require.NoError(t, err)
		require.Nil(t, late.GetCookie(), "the browser has the third one")
		require.Empty(t, late.GetRefreshToken())
		_, err = env.verify(t, late.GetAccessToken())
		require.NoError(t, err)
		_, err = env.refreshCookie(t, third.GetCookie().GetValue())
		require.NoError(t, err)
	})
	t.Run("of another session are not affected", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		first, other := env.cookieLogin(t, "ada@example.com"), env.cookieLogin(t, "ada@example.com")
		_, err := env.refreshCookie(t, first.GetCookie().GetValue())
		require.NoError(t, err)
		env.clock.advance(time.Minute)
		_, err = env.refreshCookie(t, first.GetCookie().GetValue())
		requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
		_, err = env.refreshCookie(t, other.GetCookie().GetValue())
		require.NoError(t, err)
	})
	t.Run("get nothing after the session has ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		first := b.cookieLogin(t, "ada@example.com")
		_, err := b.refreshCookie(t, first.GetCookie().GetValue())
		require.NoError(t, err)
		_, err = b.Logout(b.as(t, first.GetAccessToken()), &authv1.LogoutRequest{})
		require.NoError(t, err)
		b.requireCookieRejected(t, first.GetCookie().GetValue())
	})
	t.Run("do not weaken tokens in bodies", func(t *testing.T) {
		t.Parallel()
		inBody := func(token string) *authv1.RefreshRequest {
			return &authv1.RefreshRequest{RefreshToken: token}
		}
		becomesCookie := func(token string) *authv1.RefreshRequest {
			return &authv1.RefreshRequest{RefreshToken: token, Session: "cookie"}
		}
		for name, use := range map[string][2]func(token string) *authv1.RefreshRequest{
			"body, body":                  {inBody, inBody},
			"body, cookie":                {inBody, fromCookie},
			"cookie, body":                {fromCookie, inBody},
			"body becomes cookie, cookie": {becomesCookie, fromCookie},
		} {
			b := setup(t)
			_, l := b.member(t, "ada@example.com")
			resp, err := b.Refresh(t.Context(), use[0](l.GetRefreshToken()))
			require.NoError(t, err, name)
			_, err = b.Refresh(t.Context(), use[1](l.GetRefreshToken()))
			requireReason(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN", err)
			_, err = b.verify(t, resp.GetAccessToken())
			require.ErrorIs(t, err, apierr.Unauthorized, name)
		}
	})
}

// TestCookieSuccessorIsSealed covers a copy of the database together with an old cookie.
func TestCookieSuccessorIsSealed(t *testing.T) {
	t.Parallel()
	env := setup(t)
	env.register(t, "ada@example.com")
	first := env.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
	second, err := env.refreshCookie(t, first)
	require.NoError(t, err)
	row, err := selectReplacedToken(t.Context(), env.db, hashRefreshToken(first),
		env.clock.now().Add(-time.Hour))
	require.NoError(t, err)
	text, err := env.successorKey(first).Open(row.SealedSuccessor, "")
	require.NoError(t, err)
	require.Equal(t, second.GetCookie().GetValue(), string(text))
	config := testConfig
	config.ServiceKey = "another"
	_, err = env.replica(t, config).successorKey(first).Open(row.SealedSuccessor, "")
	require.Error(t, err)
	_, err = env.successorKey(second.GetCookie().GetValue()).Open(row.SealedSuccessor, "")
	require.Error(t, err)
}

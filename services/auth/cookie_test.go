package auth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

const ownSite = "https://coffer.example"

// cookieLogin signs in as the web application does.
func (b *bundle) cookieLogin(t *testing.T, email string) *authv1.LoginResponse {
	t.Helper()
	resp, err := b.Login(t.Context(), &authv1.LoginRequest{
		Email: email, Password: goodPassword, Session: "cookie", Site: ownSite, Origin: ownSite,
		FetchSite: "same-origin",
	})
	require.NoError(t, err)
	return resp
}

// fromCookie returns the request with which the web application refreshes.
func fromCookie(value string) *authv1.RefreshRequest {
	return &authv1.RefreshRequest{
		Cookie: value, Session: "cookie", Client: "web", Site: ownSite, Origin: ownSite,
		FetchSite: "same-origin",
	}
}

// refreshCookie refreshes with a cookie.
func (b *bundle) refreshCookie(t *testing.T, value string) (*authv1.RefreshResponse, error) {
	t.Helper()
	return b.Refresh(t.Context(), fromCookie(value))
}

// requireCookieRejected requires that a cookie is invalid and nothing changes.
func (b *bundle) requireCookieRejected(t *testing.T, value string) {
	t.Helper()
	b.refuses(t, codes.Unauthenticated, "INVALID_REFRESH_TOKEN",
		pgtest.Call(t, b.refreshCookie, value))
}

func TestCookieSession(t *testing.T) {
	t.Parallel()
	env := setup(t)
	env.register(t, "ada@example.com")
	first := env.cookieLogin(t, "ada@example.com")
	require.Empty(t, first.GetRefreshToken())
	require.Len(t, first.GetCookie().GetValue(), 43)
	require.EqualValues(t, 720*3600, first.GetCookie().GetMaxAge())
	_, err := env.verify(t, first.GetAccessToken())
	require.NoError(t, err)

	env.clock.advance(90 * time.Minute)
	second, err := env.refreshCookie(t, first.GetCookie().GetValue())
	require.NoError(t, err)
	require.Empty(t, second.GetRefreshToken())
	require.NotEqual(t, first.GetCookie().GetValue(), second.GetCookie().GetValue())
	require.EqualValues(t, 720*3600, second.GetCookie().GetMaxAge())
	require.Equal(t, "Bearer", second.GetTokenType())
	require.EqualValues(t, 3600, second.GetExpiresIn())
	require.True(t, proto.Equal(first.GetUser(), second.GetUser()))
	ctx := env.as(t, second.GetAccessToken())
	list, err := env.ListSessions(ctx, &authv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetSessions(), 1)
	require.Equal(t, "2026-04-14T13:30:00.000Z", list.GetSessions()[0].GetExpiresAt())

	for _, secret := range []string{first.GetCookie().GetValue(), second.GetCookie().GetValue()} {
		require.NotContains(t, env.state(t), secret)
		require.NotContains(t, env.state(t), fmt.Sprintf("%x", secret))
	}

	out, err := env.Logout(ctx, &authv1.LogoutRequest{Cookie: second.GetCookie().GetValue()})
	require.NoError(t, err)
	require.Empty(t, out.GetCookie().GetValue())
	require.Negative(t, out.GetCookie().GetMaxAge())
	env.requireCookieRejected(t, second.GetCookie().GetValue())
}

func TestCookieModes(t *testing.T) {
	t.Parallel()
	t.Run("without the parameter there is no cookie", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		ctx, l := b.member(t, "ada@example.com")
		require.Nil(t, l.GetCookie())
		r, err := b.refresh(t.Context(), l.GetRefreshToken())
		require.NoError(t, err)
		require.Nil(t, r.GetCookie())
		out, err := b.Logout(ctx, &authv1.LogoutRequest{})
		require.NoError(t, err)
		require.Nil(t, out.GetCookie())
	})
	t.Run("a token in the body can become a cookie", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, l := b.member(t, "ada@example.com")
		r, err := b.Refresh(t.Context(),
			&authv1.RefreshRequest{RefreshToken: l.GetRefreshToken(), Session: "cookie"})
		require.NoError(t, err)
		require.Empty(t, r.GetRefreshToken())
		_, err = b.refreshCookie(t, r.GetCookie().GetValue())
		require.NoError(t, err)
	})
	t.Run("a cookie never becomes a token in the body", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		req := fromCookie(b.cookieLogin(t, "ada@example.com").GetCookie().GetValue())
		req.Session = ""
		r, err := b.Refresh(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, r.GetRefreshToken())
		require.NotEmpty(t, r.GetCookie().GetValue())
	})
	t.Run("a token in the body takes precedence", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, l := b.member(t, "ada@example.com")
		r, err := b.Refresh(t.Context(),
			&authv1.RefreshRequest{RefreshToken: l.GetRefreshToken(), Cookie: "x"})
		require.NoError(t, err)
		require.NotEmpty(t, r.GetRefreshToken())
		require.Nil(t, r.GetCookie())
	})
	t.Run("cookie is the only mode", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		_, loginResponse := env.member(t, "ada@example.com")
		for _, mode := range []string{"Cookie", "cookies", "body", " cookie", "\uFFFD"} {
			problem := env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
				pgtest.Call(t.Context(), env.Login, &authv1.LoginRequest{
					Email: "ada@example.com", Password: goodPassword, Session: mode,
				}))
			require.Equal(t, []string{"session"}, fieldNames(problem))
			problem = env.refuses(t, codes.InvalidArgument, "VALIDATION_ERROR",
				pgtest.Call(t.Context(), env.Refresh,
					&authv1.RefreshRequest{
						RefreshToken: loginResponse.GetRefreshToken(), Session: mode,
					}))
			require.Equal(t, []string{"session"}, fieldNames(problem))
		}
	})
	t.Run("a missing or unknown cookie is an invalid token", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.register(t, "ada@example.com")
		value := b.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
		for _, bad := range []string{"", "x", value[1:], value + "x", strings.ToUpper(value)} {
			b.requireCookieRejected(t, bad)
		}
		b.clock.advance(testConfig.RefreshTTL)
		b.requireCookieRejected(t, value)
	})
	t.Run("a repeated request gets the first cookie", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.register(t, "ada@example.com")
		req := fromCookie(env.cookieLogin(t, "ada@example.com").GetCookie().GetValue())
		req.IdempotencyKey = "k"
		first, err := env.Refresh(t.Context(), req)
		require.NoError(t, err)
		env.clock.advance(time.Hour)
		again, err := env.Refresh(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		require.Equal(t, first.GetCookie().GetValue(), again.GetCookie().GetValue())
	})
}

// TestCookieOfOtherSite sends a victim's cookie as pages of other sites can make the victim's
// browser do.
func TestCookieOfOtherSite(t *testing.T) {
	t.Parallel()
	env := setup(t)
	_, body := env.member(t, "ada@example.com")
	value := env.cookieLogin(t, "ada@example.com").GetCookie().GetValue()
	forbidden := func(name string, call func() error) {
		env.refuses(t, codes.PermissionDenied, "FORBIDDEN_ORIGIN", func() error {
			err := call()
			require.Error(t, err, name)
			return err
		})
	}
	type page struct{ client, origin, fetchSite string }
	for name, page := range map[string]page{
		"no statement of a browser":         {"web", "", ""},
		"another site":                      {"web", "https://evil.example", "cross-site"},
		"another site without fetch header": {"web", "https://evil.example", ""},
		"a subdomain":                       {"web", "https://evil.coffer.example", "same-site"},
		"a subdomain without fetch header":  {"web", "https://evil.coffer.example", ""},
		"a domain with this suffix":         {"web", "https://evilcoffer.example", ""},
		"a domain with this prefix":         {"web", "https://coffer.example.evil.example", ""},
		"another port":                      {"web", "https://coffer.example:8443", ""},
		"no HTTPS":                          {"web", "http://coffer.example", ""},
		"a sandboxed frame":                 {"web", "null", ""},
		"an address that the user typed":    {"web", "", "none"},
		"own origin but cross-site":         {"web", ownSite, "cross-site"},
		"several values":                    {"web", ownSite, "same-origin, cross-site"},
		"several origins":                   {"web", ownSite + ", https://evil.example", ""},
		"no client header":                  {"", ownSite, "same-origin"},
		"another client":                    {"curl", ownSite, "same-origin"},
		"another case":                      {"Web", ownSite, "same-origin"},
		"several clients":                   {"web, web", ownSite, "same-origin"},
	} {
		for _, mode := range []string{"", "cookie"} {
			forbidden(name,
				pgtest.Call(t.Context(), env.Refresh, &authv1.RefreshRequest{
					Cookie: value, Session: mode, Client: page.client, Site: ownSite,
					Origin: page.origin, FetchSite: page.fetchSite,
				}))
		}
		if page.client != "web" || page.origin == "" && page.fetchSite == "" {
			continue
		}
		// A site could otherwise sign the victim in to the attacker's account.
		forbidden(name,
			pgtest.Call(t.Context(), env.Login, &authv1.LoginRequest{
				Email: "ada@example.com", Password: goodPassword, Session: "cookie", Site: ownSite,
				Origin: page.origin, FetchSite: page.fetchSite,
			}))
		forbidden(name,
			pgtest.Call(t.Context(), env.Refresh, &authv1.RefreshRequest{
				RefreshToken: body.GetRefreshToken(), Session: "cookie", Client: "web",
				Site: ownSite, Origin: page.origin, FetchSite: page.fetchSite,
			}))
	}
	// Without a known site, an absent Origin must not match it.
	forbidden("no site",
		pgtest.Call(t.Context(), env.Refresh, &authv1.RefreshRequest{Cookie: value, Client: "web"}))
	_, err := env.refresh(t.Context(), body.GetRefreshToken())
	require.NoError(t, err)
	for _, page := range []page{
		{"web", ownSite, ""},
		{"web", "HTTPS://Coffer.example", ""},
		{"web", "https://behind-a-proxy.example", "same-origin"},
		{"web", "", "same-origin"},
	} {
		resp, err := env.Refresh(t.Context(), &authv1.RefreshRequest{
			Cookie: value, Client: page.client, Site: ownSite, Origin: page.origin,
			FetchSite: page.fetchSite,
		})
		require.NoError(t, err, page)
		value = resp.GetCookie().GetValue()
	}
}

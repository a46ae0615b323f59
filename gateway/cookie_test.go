package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	set := &restv1.Cookie{Value: "the-refresh-token", MaxAge: 60}
	answers := func(m proto.Message, method string) map[string]any {
		return map[string]any{method: m}
	}
	t.Run("is set and not in the body", func(t *testing.T) {
		t.Parallel()
		gate := newAPI(t, answers(&authv1.LoginResponse{
			AccessToken: "a", Token: "a", Cookie: set, User: &authv1.User{},
		}, "Login"))
		reply := gate.send(
			"POST", "/api/v1/auth/login?session=cookie", `{"email":"a@example.com","password":"b"}`,
			"Origin", "https://o.example", "Sec-Fetch-Site", "same-origin",
		)
		require.Equal(t, http.StatusOK, reply.StatusCode, reply.text)
		require.Equal(t, []string{"coffer=the-refresh-token; Path=/; Max-Age=60; HttpOnly; " +
			"SameSite=Strict"}, reply.Header.Values("Set-Cookie"))
		require.NotContains(t, reply.text, "the-refresh-token")
		require.NotContains(t, reply.json, "refreshToken")
		require.NotContains(t, reply.json, "cookie")
		require.NotContains(t, gate.logs.String(), "the-refresh-token")
		got := received[*authv1.LoginRequest](gate)
		require.Equal(t, []string{"cookie", gate.url, "https://o.example", "same-origin"},
			[]string{got.GetSession(), got.GetSite(), got.GetOrigin(), got.GetFetchSite()})
	})
	t.Run("has the secure name behind a proxy with HTTPS", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, answers(&authv1.RefreshResponse{Cookie: set}, "Refresh"))
		r := a.send("POST", "/api/v1/auth/refresh", "", "X-Forwarded-Proto", "https",
			"X-Coffer-Client", "web", "Cookie", "coffer=plain; __Host-coffer=secure; theme=dark")
		require.Equal(t, "__Host-coffer=the-refresh-token; Path=/; Max-Age=60; HttpOnly; Secure; "+
			"SameSite=Strict", r.Header.Get("Set-Cookie"))
		got := received[*authv1.RefreshRequest](a)
		require.Equal(t, "secure", got.GetCookie())
		require.Equal(t, "web", got.GetClient())
		require.Regexp(t, "^https://127.0.0.1:", got.GetSite())
	})
	t.Run("is deleted", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t,
			answers(&authv1.LogoutResponse{Cookie: &restv1.Cookie{MaxAge: -1}}, "Logout"))
		r := a.send("POST", "/api/v1/auth/logout", "", "Cookie", "coffer=plain")
		require.Equal(t, "coffer=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
			r.Header.Get("Set-Cookie"))
		require.Equal(t, "plain", received[*authv1.LogoutRequest](a).GetCookie())
	})
	t.Run("stays if the reply does not change it", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, answers(&authv1.RefreshResponse{RefreshToken: "in-the-body"}, "Refresh"))
		r := a.send("POST", "/api/v1/auth/refresh", `{"refreshToken":"x"}`)
		require.Empty(t, r.Header.Values("Set-Cookie"))
		require.Equal(t, "in-the-body", r.json["refreshToken"])
	})
	t.Run("stays in an error", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"Refresh": apierr.New(restv1.Reason_FORBIDDEN_ORIGIN)})
		r := a.send("POST", "/api/v1/auth/refresh", "", "Cookie", "coffer=plain")
		a.requireFailure(r, http.StatusForbidden, "FORBIDDEN_ORIGIN")
		require.Empty(t, r.Header.Values("Set-Cookie"))
	})
	t.Run("is no field of a body or query", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, answers(&authv1.RefreshResponse{}, "Refresh"))
		r := a.send("POST", "/api/v1/auth/refresh", `{"refreshToken":"x","cookie":"evil",
			"site":"evil","origin":"evil","fetchSite":"evil","client":"evil"}`)
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		require.NotContains(t, received[*authv1.RefreshRequest](a).String(), "evil")
		for _, name := range []string{"cookie", "site", "origin", "fetchSite", "client"} {
			a.requireFailure(a.send("POST", "/api/v1/auth/refresh?"+name+"=x",
				`{"refreshToken":"x"}`), http.StatusBadRequest, "VALIDATION_ERROR")
		}
	})
}

// TestSessionCookieCORS requires that no page of another origin may send the header which the
// cookie needs, even if the installation allows every origin.
func TestSessionCookieCORS(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil, func(c *Config) { c.AllowedOrigins = []string{"*"} })
	r := a.send(
		"OPTIONS", "/api/v1/auth/refresh", "", "Origin", "https://evil.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers",
		"x-coffer-client",
	)
	require.Empty(t, r.Header.Get("Access-Control-Allow-Headers"))
	require.Empty(t, r.Header.Get("Access-Control-Allow-Credentials"))
}

// TestOidcRedirect sends the steps of a sign-in with an identity provider.
func TestOidcRedirect(t *testing.T) {
	t.Parallel()
	set := &restv1.Cookie{Value: "sealed-flow", MaxAge: 60}
	const cookies = "coffer-oidc=sealed-flow; coffer=session"
	const flow = "coffer-oidc=sealed-flow; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
	t.Run("start", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"StartOidc": &authv1.StartOidcResponse{
			Location: "https://login.example/?state=s", Cookie: set,
		}})
		r := a.send("GET", "/api/v1/auth/oidc/home/start?returnTo=/budgets", "")
		require.Equal(t, http.StatusFound, r.StatusCode, r.text)
		require.Equal(t, "https://login.example/?state=s", r.Header.Get("Location"))
		require.Equal(t, []string{flow}, r.Header.Values("Set-Cookie"))
		require.Equal(t, "{}\n", r.text)
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
		require.Equal(t, "/budgets", received[*authv1.StartOidcRequest](a).GetReturnTo())
	})
	t.Run("callback", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"FinishOidc": &authv1.FinishOidcResponse{
			Location: "/#oidc=the-code", Cookie: set,
		}})
		r := a.send("GET", "/api/v1/auth/oidc/home/callback?state=s&code=provider-code&iss=x", "",
			"Cookie", cookies)
		require.Equal(t, http.StatusFound, r.StatusCode, r.text)
		require.Equal(t, "/#oidc=the-code", r.Header.Get("Location"))
		got := received[*authv1.FinishOidcRequest](a)
		require.Equal(t, []string{"home", "s", "provider-code", "sealed-flow"},
			[]string{got.GetProvider(), got.GetState(), got.GetCode(), got.GetCookie()})
		for _, secret := range []string{"the-code", "provider-code", "sealed-flow"} {
			require.NotContains(t, a.logs.String(), secret)
		}
	})
	t.Run("exchange", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"ExchangeOidc": &authv1.ExchangeOidcResponse{
			AccessToken: "a", Cookie: &restv1.Cookie{Value: "the-refresh-token", MaxAge: 60},
		}})
		r := a.send("POST", "/api/v1/auth/oidc/exchange?session=cookie", `{"code":"the-code"}`,
			"Cookie", cookies)
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		require.Equal(t, []string{"coffer=the-refresh-token; Path=/; Max-Age=60; HttpOnly; " +
			"SameSite=Strict"}, r.Header.Values("Set-Cookie"))
		require.NotContains(t, r.text, "the-refresh-token")
		require.Equal(t, "sealed-flow", received[*authv1.ExchangeOidcRequest](a).GetCookie())
	})
}

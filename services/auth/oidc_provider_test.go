package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	"github.com/coffer-budget/coffer/services/auth/oidctest"
)

func TestStartOidc(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	resp, err := p.oidc.StartOidc(t.Context(),
		&authv1.StartOidcRequest{Provider: "home", ReturnTo: "/budgets?month=3"})
	require.NoError(t, err)
	sent, err := url.Parse(resp.GetLocation())
	require.NoError(t, err)
	require.Equal(t, "S256", sent.Query().Get("code_challenge_method"))
	require.NotEmpty(t, sent.Query().Get("state"))
	require.NotEmpty(t, sent.Query().Get("nonce"))
	require.Equal(t, "openid email profile", sent.Query().Get("scope"))
	require.Equal(t, int32(600), resp.GetCookie().GetMaxAge())
	require.NotContains(t, resp.GetCookie().GetValue(), sent.Query().Get("state"))

	trip := &trip{url: resp.GetLocation(), cookie: resp.GetCookie().GetValue()}
	p.authorize(t, trip)
	back, err := p.oidc.FinishOidc(t.Context(), &authv1.FinishOidcRequest{
		Provider: "home", State: trip.state, Code: trip.code, Cookie: trip.cookie,
	})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(back.GetLocation(), "/budgets?month=3#oidc="))

	_, err = p.oidc.StartOidc(t.Context(), &authv1.StartOidcRequest{Provider: "other"})
	requireReason(t, codes.NotFound, "OIDC_PROVIDER_NOT_FOUND", err)
	_, err = p.oidc.FinishOidc(t.Context(), &authv1.FinishOidcRequest{Provider: "other"})
	requireReason(t, codes.NotFound, "OIDC_PROVIDER_NOT_FOUND", err)
	listed, err := p.oidc.ListOidcProviders(t.Context(), &authv1.ListOidcProvidersRequest{})
	require.NoError(t, err)
	require.Equal(t, "Home", listed.GetProviders()[0].GetLabel())
}

// TestOidcUnavailable requires a bounded time and size of the responses of a provider.
func TestOidcUnavailable(t *testing.T) {
	t.Parallel()
	answer := func(path string, status int, body string) func(p *oidctest.Provider) {
		return func(p *oidctest.Provider) {
			p.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return true
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
				return false
			}
		}
	}
	const discovery = "/.well-known/openid-configuration"
	large := `{"x":"` + strings.Repeat("x", 2<<20) + `"}`
	for name, change := range map[string]func(p *oidctest.Provider){
		"an error":         answer(discovery, 500, ""),
		"a large response": answer(discovery, 200, large),
		"no document":      answer(discovery, 200, "<html>"),
		"another issuer":   func(p *oidctest.Provider) { p.Issuer = "https://evil.example" },
	} {
		t.Run("start: "+name, func(t *testing.T) {
			t.Parallel()
			p := setupProvided(t, true)
			p.provider.Change(change)
			_, err := p.oidc.StartOidc(t.Context(), &authv1.StartOidcRequest{Provider: "home"})
			requireReason(t, codes.Unavailable, "OIDC_UNAVAILABLE", err)
		})
	}
	for name, change := range map[string]func(p *oidctest.Provider){
		"token: an error":         answer("/token", 503, ""),
		"token: a large response": answer("/token", 200, large),
		"keys: an error":          answer("/keys", 500, ""),
		"keys: a large response":  answer("/keys", 200, large),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setupProvided(t, true)
			p.provider.Change(change)
			p.refusesSignIn(t, codes.Unavailable, "OIDC_UNAVAILABLE")
			p.provider.Change(func(p *oidctest.Provider) { p.Before = nil })
			_, err := p.signIn(t)
			require.NoError(t, err, "the provider is available again")
		})
	}
	t.Run("no connection", func(t *testing.T) {
		t.Parallel()
		p := setupProvided(t, true)
		p.server.Close()
		_, err := p.oidc.StartOidc(t.Context(), &authv1.StartOidcRequest{Provider: "home"})
		requireReason(t, codes.Unavailable, "OIDC_UNAVAILABLE", err)
	})
}

// TestExchangeOidcUserInfo requires that an e-mail of the UserInfo endpoint is verified only if
// that response says so.
func TestExchangeOidcUserInfo(t *testing.T) {
	t.Parallel()
	p := setupProvided(t, true)
	answer := `{"sub":"1","email":"ada@example.com"}`
	p.provider.Change(func(p *oidctest.Provider) {
		p.Claims = func(claims map[string]any) { delete(claims, "email") }
		p.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/userinfo" {
				return true
			}
			_, _ = w.Write([]byte(answer))
			return false
		}
	})
	p.refusesSignIn(t, codes.AlreadyExists, "OIDC_ACCOUNT_EXISTS")
	answer = `{"sub":"2","email":"ada@example.com","email_verified":true}`
	p.refusesSignIn(t, codes.Unauthenticated, "INVALID_OIDC_CODE")
	answer = `{"sub":"1","email":"ada@example.com","email_verified":true}`
	in, err := p.signIn(t)
	require.NoError(t, err)
	require.Equal(t, "ada@example.com", in.GetUser().GetEmail())
	require.Equal(t, "Ada", in.GetUser().GetName())
}

package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/app"
)

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	config := func(name string, p Provider) Config {
		return Config{Providers: app.Named[Provider]{
			Names: []string{name}, Of: map[string]Provider{name: p},
		}}
	}
	const url = "https://coffer.example.com"
	good := Provider{Issuer: "https://login.example.com", ClientID: "coffer"}
	require.NoError(t, Config{}.Check(""))
	require.NoError(t, config("home", good).Check(url))
	require.ErrorContains(t, config("home", good).Check(""), "PUBLIC_URL is required")
	for _, name := range []string{"Home", "a/b", "1"} {
		require.ErrorContains(t, config(name, good).Check(url), "OIDC_PROVIDERS must be")
	}
	for _, issuer := range []string{
		"", "login.example.com", "http://login.example.com", "https://a:b@login.example.com",
		"https://login.example.com?x=y", "ftp://localhost",
	} {
		err := config("home", Provider{Issuer: issuer, ClientID: "coffer"}).Check(url)
		require.ErrorContains(t, err, "OIDC_HOME_ISSUER must be a URL", issuer)
	}
	for _, issuer := range []string{"http://localhost:8080", "http://127.0.0.1:8080/realms/x"} {
		require.NoError(t, config("home", Provider{Issuer: issuer, ClientID: "coffer"}).Check(url))
	}
	require.ErrorContains(t, config("home", Provider{Issuer: good.Issuer}).Check(url),
		"OIDC_HOME_CLIENT_ID is required")
	labeled := good
	labeled.Label = strings.Repeat("ä", maxLabel)
	require.NoError(t, config("home", labeled).Check(url))
	labeled.Label += "x"
	require.ErrorContains(t, config("home", labeled).Check(url),
		"OIDC_HOME_LABEL must have at most 100 characters")
	twice := Config{Providers: app.Named[Provider]{
		Names: []string{"a", "b"}, Of: map[string]Provider{"a": good, "b": good},
	}}
	require.ErrorContains(t, twice.Check(url), "OIDC_B_ISSUER must differ")
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/budgets", "/budgets/1?month=3&x=%2F//"} {
		require.Equal(t, path, localPath(path))
	}
	for _, path := range []string{
		"", "budgets", "https://evil.example", "//evil.example", `/\evil.example`, "/a#b", "/a\n",
		"/a b", "javascript:alert(1)", "/\t/evil.example", "/ä", "/%zz",
		"/a#", "/.//evil.example", "/a/..//evil.example",
		"/" + strings.Repeat("a", maxReturnTo), "/?" + strings.Repeat("&", maxReturnTo/2),
	} {
		require.Equal(t, "/", localPath(path), path)
	}
}

// TestServerCookie requires that browsers accept the cookie of the longest flow.
func TestServerCookie(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 31)
	require.Regexp(t, validName, name)
	s := New(Options{ServiceKey: "key", Now: time.Now})
	for _, path := range []string{strings.Repeat("a", maxReturnTo-3), strings.Repeat("&", 82)} {
		f := newFlow(name, "/"+path, time.Now())
		require.Equal(t, "/"+path, f.ReturnTo)
		f.UserID, f.SessionID = uuid.New(), uuid.New()
		cookie, err := s.cookie(f, flowTTL)
		require.NoError(t, err)
		require.Less(t, len(cookie.GetValue()), 2000)
	}
}

// TestLogged requires that a long response of a provider does not fill the log.
func TestLogged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(strings.Repeat("ä", maxLogged)))
	}))
	defer server.Close()
	_, err := newClient("home", Provider{Issuer: server.URL}, "", time.Now).discover(t.Context())
	require.Greater(t, len(err.Error()), maxLogged)
	text := logged(err)
	require.LessOrEqual(t, len(text), maxLogged)
	require.Contains(t, text, "400 Bad Request")
	require.True(t, utf8.ValidString(text))
	require.Equal(t, "x", logged(errors.New("x")))
}

// TestIdentityOfGoogle requires that an identity has the configured issuer: Google may omit the
// scheme, which would make it another identity.
func TestIdentityOfGoogle(t *testing.T) {
	t.Parallel()
	const issuer = "https://accounts.google.com"
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": strings.TrimPrefix(issuer, "https://"), "aud": "coffer", "sub": "1", "nonce": "n",
		"exp": time.Now().Add(time.Hour).Unix(), "email": "ada@example.com",
	}).Serialize()
	require.NoError(t, err)
	verified, err := oidc.NewVerifier(issuer,
		&oidc.StaticKeySet{PublicKeys: []crypto.PublicKey{key.Public()}},
		&oidc.Config{ClientID: "coffer", SupportedSigningAlgs: []string{oidc.ES256}},
	).Verify(t.Context(), token)
	require.NoError(t, err)
	c := newClient("google", Provider{Issuer: issuer, ClientID: "coffer"}, "", time.Now)
	found, err := c.identityOf(t.Context(), &description{}, nil, verified, flow{Nonce: "n"})
	require.NoError(t, err)
	require.Equal(t, issuer, found.Issuer)
}

// TestClientEndpoints requires that each endpoint of a provider with TLS has TLS too.
func TestClientEndpoints(t *testing.T) {
	t.Parallel()
	endpoints := []string{
		"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint",
	}
	discover := func(t *testing.T, plain string) error {
		t.Helper()
		document := map[string]string{}
		server := httptest.NewTLSServer(http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(document)
			}))
		defer server.Close()
		for _, endpoint := range endpoints {
			document[endpoint] = "https://login.example.com"
		}
		if plain != "" {
			document[plain] = "http://login.example.com"
		}
		document["issuer"] = server.URL
		c := newClient("home", Provider{Issuer: server.URL}, "", time.Now)
		c.http = server.Client()
		_, err := c.discover(t.Context())
		return err
	}
	require.NoError(t, discover(t, ""))
	for _, endpoint := range endpoints {
		require.ErrorContains(t, discover(t, endpoint), "invalid endpoint", endpoint)
	}
}

// TestClientTimeout requires that a provider that does not answer fails in a bounded time, and that
// no request follows soon after a failure.
func TestClientTimeout(t *testing.T) {
	t.Parallel()
	require.Less(t, stepTimeout, 10*time.Second, "the deadline of the gateway")
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests++
		<-r.Context().Done()
	}))
	defer server.Close()
	now := time.Now()
	c := newClient("home", Provider{Issuer: server.URL}, "", func() time.Time { return now })
	require.Equal(t, requestTimeout, c.http.Timeout)
	c.http.Timeout = 50 * time.Millisecond
	for range 3 {
		_, err := c.discover(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Equal(t, 1, requests)
	now = now.Add(failureKept)
	_, err := c.discover(t.Context())
	require.Error(t, err)
	require.Equal(t, 2, requests)
}

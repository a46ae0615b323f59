package cookie

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestSetChoosesAttributes(t *testing.T) {
	t.Parallel()
	const (
		secure = "__Host-coffer=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict"
		local  = "coffer=v; Path=/; Max-Age=60; HttpOnly; SameSite=Strict"
	)
	for _, tc := range []struct {
		host, forwarded string
		tls             bool
		want            string
	}{
		{"coffer.example", "https", false, secure},
		{"coffer.example", "", true, secure},
		{"coffer.example", "", false, secure},
		{"coffer.example:8080", "http", false, secure},
		{"192.168.1.2:8080", "", false, secure},
		{"localhost.example", "", false, secure},
		{"notlocalhost", "", false, secure},
		{"", "", false, secure},
		{"localhost:8443", "https", false, secure},
		{"localhost:8443", "", true, secure},
		{"localhost", "", false, local},
		{"localhost:8080", "", false, local},
		{"LOCALHOST:8080", "http", false, local},
		{"app.localhost:8080", "", false, local},
		{"127.0.0.1:8080", "", false, local},
		{"[::1]:8080", "", false, local},
		{"[::1]", "", false, local},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = tc.host
		r.Header.Set("X-Forwarded-Proto", tc.forwarded)
		if tc.tls {
			r.TLS = &tls.ConnectionState{}
		}
		h := http.Header{}
		Set(h, r, Session, &restv1.Cookie{Value: "v", MaxAge: 60})
		require.Equal(t, []string{tc.want}, h.Values("Set-Cookie"), tc)

		parsed, err := http.ParseSetCookie(tc.want)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: parsed.Name, Value: "sent"})
		require.Equal(t, "sent", Read(r, Session), tc)
		scheme := "http://"
		if tc.want == secure {
			scheme = "https://"
		}
		require.Equal(t, scheme+tc.host, Site(r), tc)
	}
}

func TestSetDeletes(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "https://coffer.example/", nil)
	h := http.Header{}
	Set(h, r, Session, &restv1.Cookie{MaxAge: -1})
	require.Equal(t, "__Host-coffer=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict",
		h.Get("Set-Cookie"))
}

// TestReadIgnoresOtherCookies covers the cookie without prefix, which other hosts of the domain can
// set.
func TestReadIgnoresOtherCookies(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host = "coffer.example"
	require.Empty(t, Read(r, Session))
	r.Header.Set("Cookie", `coffer=a; __host-coffer=b; x__Host-coffer=c; __Host-coffer`)
	require.Empty(t, Read(r, Session))
	r.Host = "localhost:8080"
	r.Header.Set("Cookie", `__Host-coffer=a`)
	require.Empty(t, Read(r, Session))
}

// TestSetFlow covers the cookie that a browser also sends when the page of an identity provider
// leads to this site.
func TestSetFlow(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "https://coffer.example/", nil)
	h := http.Header{}
	Set(h, r, Flow, &restv1.Cookie{Value: "v", MaxAge: 60})
	require.Equal(t, "__Host-coffer-oidc=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax",
		h.Get("Set-Cookie"))
	r.Header.Set("Cookie", "__Host-coffer=session; __Host-coffer-oidc=flow")
	require.Equal(t, "flow", Read(r, Flow))
	require.Equal(t, "session", Read(r, Session))
}

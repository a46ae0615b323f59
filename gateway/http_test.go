package gateway

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestHandleRoutingErrorIsJSON(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	for _, path := range []string{
		"/nothing", "/api/v1", "/api/v2/wallet", "/api/v1/wallets", "/API/v1/wallet",
		"/api/v1/wallet/", "//api/v1/wallet", "/api//v1/wallet", "/api/v1%2Fwallet", "/livez/",
		"/docsx", "/.well-known/",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "BREW"} {
			gate.requireFailure(gate.send(method, path, ""), http.StatusNotFound, "ROUTE_NOT_FOUND")
		}
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"PUT", "/api/v1/wallet", "GET, HEAD, OPTIONS, POST"},
		{"DELETE", "/api/v1/wallet", "GET, HEAD, OPTIONS, POST"},
		{"POST", "/api/v1/wallet/" + anID, "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"GET", "/api/v1/auth/login", "OPTIONS, POST"},
		{"HEAD", "/api/v1/auth/login", "OPTIONS, POST"},
		{"POST", "/api/v1/auth/password", "OPTIONS, PATCH"},
		{"PUT", "/api/v1/transaction/receipt", "DELETE, GET, HEAD, OPTIONS, PATCH, POST"},
		{"POST", "/livez", "GET, HEAD, OPTIONS"},
		{"POST", "/docs/", "GET, HEAD, OPTIONS"},
		{"POST", "/", "GET, HEAD, OPTIONS"},
		{"TRACE", "/.well-known/jwks.json", "GET, HEAD, OPTIONS"},
	} {
		r := gate.send(tc.method, tc.path, "")
		require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode, tc.method+" "+tc.path)
		require.Equal(t, tc.allow, r.Header.Get("Allow"), tc.path)
		if tc.method != "HEAD" {
			gate.requireFailure(r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
		}
	}
	r := gate.send("POST", "/api/v1/wallet/"+anID, "", "X-HTTP-Method-Override",
		"DELETE", "Content-Type", "application/x-www-form-urlencoded")
	gate.requireFailure(r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	require.Zero(t, gate.calls())
}

func TestHeadAndOptions(t *testing.T) {
	t.Parallel()
	gate := newAPI(t,
		map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet(), Etag: `"1"`}})
	r := gate.send("HEAD", "/api/v1/wallet/"+anID, "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, `"1"`, r.Header.Get("ETag"))
	require.Empty(t, r.text)
	require.Positive(t, r.ContentLength)
	r = gate.send("OPTIONS", "/api/v1/wallet", "", "Authorization", "")
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, "GET, HEAD, OPTIONS, POST", r.Header.Get("Allow"))
}

func TestAuthenticateTakesPrecedence(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	forged := newBackend(t, nil).newToken(t, time.Hour)
	claims := `{"iss":"coffer","aud":"coffer","sub":"` + anID + `","sid":"` + anID +
		`","exp":99999999999}`
	none := base64URL(`{"alg":"none","kid":"k1"}`) + "." + base64URL(claims) + "."
	for name, header := range map[string]string{
		"none": "", "no scheme": gate.token, "another scheme": "Basic " + gate.token,
		"an empty token": "Bearer ",
		"nonsense":       "Bearer x.y.z", "a forged one": "Bearer " + forged,
		"an unsigned one": "Bearer " + none, "binary": "Bearer \xff\xfe",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gate.send("POST", transactionPath, `{"amount":`,
				"Authorization", header, "Content-Type", "text/plain")
			gate.requireFailure(r, http.StatusUnauthorized, "UNAUTHORIZED")
			require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
		})
	}
	r := gate.send("GET", transactionPath, "", "Authorization",
		"Bearer "+gate.newToken(t, -time.Hour))
	gate.requireFailure(r, http.StatusUnauthorized, "TOKEN_EXPIRED")
	require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
	req, err := http.NewRequestWithContext(t.Context(), "GET", gate.url+transactionPath, nil)
	require.NoError(t, err)
	req.Header["Authorization"] = []string{"Bearer " + gate.token, "Bearer " + forged}
	gate.requireFailure(gate.do(req), http.StatusUnauthorized, "UNAUTHORIZED")
	require.Zero(t, gate.calls())
}

func TestOutgoingMetadata(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"GetWallet": &ledgerv1.GetWalletResponse{}, "Login": &authv1.LoginResponse{},
	})
	got := gate.send("GET", "/api/v1/wallet/"+anID, "",
		"Grpc-Metadata-Authorization", "Bearer evil", "Grpc-Metadata-Coffer-Service-Key", "evil",
		"Grpc-Metadata-X-Request-Id", "evil", "Grpc-Timeout", "1n", "X-Forwarded-For", "6.6.6.6",
		"X-Forwarded-Host", "evil", "Cookie", "evil",
		"Coffer-Service-Key", "evil", "TE", "trailers", "Authorization", "bearer "+gate.token)
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	require.Equal(t, []string{"bearer " + gate.token}, gate.metadata.Get("authorization"))
	require.Equal(t, []string{"127.0.0.1"}, gate.metadata.Get("x-forwarded-for"))
	require.NotContains(t, fmt.Sprint(gate.metadata), "evil")

	got = gate.send("POST", "/api/v1/auth/login", `{"email":"a","password":"b","userAgent":"evil"}`,
		"User-Agent", "curl\xff/8", "Authorization", "Bearer stale")
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	require.Empty(t, gate.metadata.Get("authorization"), "a public RPC takes no token")
	require.Equal(t, "curl\uFFFD/8", gate.requests[1].(*authv1.LoginRequest).GetUserAgent())
}

func TestObserveRequestID(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	require.Equal(t, "abc-123",
		a.send("GET", "/nothing", "", "X-Request-Id", "abc-123").json["requestId"])
	for _, bad := range []string{"", "has space", strings.Repeat("x", 129), "caf\xe9"} {
		r := a.send("GET", "/nothing", "", "X-Request-Id", bad)
		require.Len(t, r.json["requestId"], 36)
		a.requireFailure(r, http.StatusNotFound, "ROUTE_NOT_FOUND")
	}
}

func TestCORSAllowedOrigins(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil, func(c *Config) { c.AllowedOrigins = []string{"https://app.example"} })
	preflight := []string{
		"Origin", "https://app.example", "Access-Control-Request-Method", "PATCH",
		"Access-Control-Request-Headers", "authorization,if-match", "Authorization", "",
	}
	got := gate.send("OPTIONS", "/api/v1/wallet/"+anID, "", preflight...)
	require.Equal(t, http.StatusNoContent, got.StatusCode)
	require.Equal(t, "https://app.example", got.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "PATCH", got.Header.Get("Access-Control-Allow-Methods"))
	got = gate.send("GET", "/nothing", "", "Origin", "https://app.example")
	require.Contains(t, got.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id")
	got = gate.send("GET", "/nothing", "", "Origin", "https://evil.example")
	require.Empty(t, got.Header.Get("Access-Control-Allow-Origin"))

	closed := newAPI(t, nil)
	got = closed.send("OPTIONS", "/api/v1/wallet/"+anID, "", preflight...)
	require.Empty(t, got.Header.Get("Access-Control-Allow-Origin"))
}

func TestCompressionOfLargeResponses(t *testing.T) {
	t.Parallel()
	page := &ledgerv1.ListWalletsResponse{}
	for range 50 {
		page.Wallets = append(page.Wallets, aWallet())
	}
	gate := newAPI(t, map[string]any{
		"ListWallets": page, "CreateWallet": &ledgerv1.CreateWalletResponse{Wallet: aWallet()},
	})
	plain := gate.send("GET", "/api/v1/wallet", "")
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	packed := gate.send("GET", "/api/v1/wallet", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Contains(t, packed.Header.Get("Vary"), "Accept-Encoding")
	reader, err := gzip.NewReader(strings.NewReader(packed.text))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, plain.text, string(unpacked))
	small := gate.send("POST", "/api/v1/wallet", "{}", "Accept-Encoding", "gzip")
	require.Equal(t, http.StatusCreated, small.StatusCode)
	require.Empty(t, small.Header.Get("Content-Encoding"))
}

func TestSecureHeadersOnEveryResponse(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	for _, path := range []string{"/nothing", "/livez", "/api/v1/wallet"} {
		h := gate.send("GET", path, "", "Authorization", "").Header
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
		require.Equal(t, "no-store", h.Get("Cache-Control"))
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'")
		require.Empty(t, h.Get("Strict-Transport-Security"))
	}
	require.NotEmpty(t, gate.send("GET", "/livez", "",
		"X-Forwarded-Proto", "https").Header.Get("Strict-Transport-Security"))
}

func TestLogAccessContainsNoUserData(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"Login": &authv1.LoginResponse{}, "GetWallet": &ledgerv1.GetWalletResponse{},
	})
	gate.send("POST", "/api/v1/auth/login?secret=1",
		`{"email":"secret@example.com","password":"secret"}`)
	gate.send("GET", "/api/v1/wallet/secret?secret=2", "")
	gate.send("GET", "/secret", "")
	require.Eventually(t, func() bool {
		return strings.Count(gate.logs.String(), `"msg":"request"`) == 3
	}, time.Minute, time.Millisecond)
	logs := gate.logs.String()
	require.Contains(t, logs, `"route":"/api/v1/wallet/{id}"`)
	require.NotContains(t, logs, "secret")
	require.NotContains(t, logs, gate.token)
}

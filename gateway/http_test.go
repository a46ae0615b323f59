package gateway

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestHandleRoutingErrorIsJSON(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	for _, path := range []string{"/nothing", "/api/v1", "/api/v2/wallet", "/api/v1/wallets", "/API/v1/wallet", "/api/v1/wallet/", "//api/v1/wallet", "/api//v1/wallet", "/api/v1%2Fwallet", "/livez/", "/docsx", "/.well-known/"} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "BREW"} {
			a.requireFailure(a.send(method, path, ""), http.StatusNotFound, "ROUTE_NOT_FOUND")
		}
	}
	for _, c := range []struct{ method, path, allow string }{
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
		r := a.send(c.method, c.path, "")
		require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode, c.method+" "+c.path)
		require.Equal(t, c.allow, r.Header.Get("Allow"), c.path)
		if c.method != "HEAD" {
			a.requireFailure(r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
		}
	}
	r := a.send("POST", "/api/v1/wallet/"+anID, "", "X-HTTP-Method-Override", "DELETE", "Content-Type", "application/x-www-form-urlencoded")
	a.requireFailure(r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	require.Zero(t, a.calls())
}

func TestHeadAndOptions(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet(), Etag: `"1"`}})
	r := a.send("HEAD", "/api/v1/wallet/"+anID, "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, `"1"`, r.Header.Get("ETag"))
	require.Empty(t, r.text)
	require.Positive(t, r.ContentLength)
	r = a.send("OPTIONS", "/api/v1/wallet", "", "Authorization", "")
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, "GET, HEAD, OPTIONS, POST", r.Header.Get("Allow"))
}

func TestAuthenticateTakesPrecedence(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	forged := newBackend(t, nil).newToken(t, time.Hour)
	none := base64URL(`{"alg":"none","kid":"k1"}`) + "." + base64URL(`{"iss":"coffer","aud":"coffer","sub":"`+anID+`","sid":"`+anID+`","exp":99999999999}`) + "."
	for name, header := range map[string]string{
		"none": "", "no scheme": a.token, "another scheme": "Basic " + a.token, "an empty token": "Bearer ",
		"nonsense": "Bearer x.y.z", "a forged one": "Bearer " + forged, "an unsigned one": "Bearer " + none, "binary": "Bearer \xff\xfe",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := a.send("POST", transactionPath, `{"amount":`, "Authorization", header, "Content-Type", "text/plain")
			a.requireFailure(r, http.StatusUnauthorized, "UNAUTHORIZED")
			require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
		})
	}
	r := a.send("GET", transactionPath, "", "Authorization", "Bearer "+a.newToken(t, -time.Hour))
	a.requireFailure(r, http.StatusUnauthorized, "TOKEN_EXPIRED")
	require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
	req, err := http.NewRequestWithContext(t.Context(), "GET", a.url+transactionPath, nil)
	require.NoError(t, err)
	req.Header["Authorization"] = []string{"Bearer " + a.token, "Bearer " + forged}
	a.requireFailure(a.do(req), http.StatusUnauthorized, "UNAUTHORIZED")
	require.Zero(t, a.calls())
}

func TestOutgoingMetadata(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{}, "Login": &authv1.LoginResponse{}})
	r := a.send("GET", "/api/v1/wallet/"+anID, "", "Grpc-Metadata-Authorization", "Bearer evil", "Grpc-Metadata-Coffer-Service-Key", "evil",
		"Grpc-Metadata-X-Request-Id", "evil", "Grpc-Timeout", "1n", "X-Forwarded-For", "6.6.6.6", "X-Forwarded-Host", "evil", "Cookie", "evil",
		"Coffer-Service-Key", "evil", "TE", "trailers", "Authorization", "bearer "+a.token)
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	require.Equal(t, []string{"bearer " + a.token}, a.metadata.Get("authorization"))
	require.Equal(t, []string{"127.0.0.1"}, a.metadata.Get("x-forwarded-for"))
	require.NotContains(t, fmt.Sprint(a.metadata), "evil")

	r = a.send("POST", "/api/v1/auth/login", `{"email":"a","password":"b","userAgent":"evil"}`, "User-Agent", "curl\xff/8", "Authorization", "Bearer stale")
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	require.Empty(t, a.metadata.Get("authorization"), "a public RPC takes no token")
	require.Equal(t, "curl\uFFFD/8", a.requests[1].(*authv1.LoginRequest).GetUserAgent())
}

func TestObserveRequestID(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	require.Equal(t, "abc-123", a.send("GET", "/nothing", "", "X-Request-Id", "abc-123").json["requestId"])
	for _, bad := range []string{"", "has space", strings.Repeat("x", 129), "caf\xe9"} {
		r := a.send("GET", "/nothing", "", "X-Request-Id", bad)
		require.Len(t, r.json["requestId"], 36)
		a.requireFailure(r, http.StatusNotFound, "ROUTE_NOT_FOUND")
	}
}

func TestCORSAllowedOrigins(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil, func(c *Config) { c.AllowedOrigins = []string{"https://app.example"} })
	preflight := []string{"Origin", "https://app.example", "Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization,if-match", "Authorization", ""}
	r := a.send("OPTIONS", "/api/v1/wallet/"+anID, "", preflight...)
	require.Equal(t, http.StatusNoContent, r.StatusCode)
	require.Equal(t, "https://app.example", r.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "PATCH", r.Header.Get("Access-Control-Allow-Methods"))
	r = a.send("GET", "/nothing", "", "Origin", "https://app.example")
	require.Contains(t, r.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id")
	r = a.send("GET", "/nothing", "", "Origin", "https://evil.example")
	require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))

	closed := newAPI(t, nil)
	r = closed.send("OPTIONS", "/api/v1/wallet/"+anID, "", preflight...)
	require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"))
}

func TestCompressionOfLargeResponses(t *testing.T) {
	t.Parallel()
	page := &ledgerv1.ListWalletsResponse{}
	for range 50 {
		page.Wallets = append(page.Wallets, aWallet())
	}
	a := newAPI(t, map[string]any{"ListWallets": page, "CreateWallet": &ledgerv1.CreateWalletResponse{Wallet: aWallet()}})
	plain := a.send("GET", "/api/v1/wallet", "")
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	packed := a.send("GET", "/api/v1/wallet", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Contains(t, packed.Header.Get("Vary"), "Accept-Encoding")
	reader, err := gzip.NewReader(strings.NewReader(packed.text))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, plain.text, string(unpacked))
	small := a.send("POST", "/api/v1/wallet", "{}", "Accept-Encoding", "gzip")
	require.Equal(t, http.StatusCreated, small.StatusCode)
	require.Empty(t, small.Header.Get("Content-Encoding"))
}

func TestSecureHeadersOnEveryResponse(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	for _, path := range []string{"/nothing", "/livez", "/api/v1/wallet"} {
		h := a.send("GET", path, "", "Authorization", "").Header
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"))
		require.Equal(t, "no-store", h.Get("Cache-Control"))
		require.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'")
		require.Empty(t, h.Get("Strict-Transport-Security"))
	}
	require.NotEmpty(t, a.send("GET", "/livez", "", "X-Forwarded-Proto", "https").Header.Get("Strict-Transport-Security"))
}

func TestFailHidesInternalErrors(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": status.Error(codes.Internal, "password of db is x"), "GetCategory": status.Error(codes.InvalidArgument, "proto: secret")})
	r := a.send("GET", "/api/v1/wallet/"+anID, "")
	a.requireFailure(r, http.StatusInternalServerError, "INTERNAL")
	require.NotContains(t, r.text, "password")
	r = a.send("GET", "/api/v1/categories/"+anID, "")
	a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
	require.NotContains(t, r.text, "secret")
}

func TestFailSlowServiceIs504(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": status.Error(codes.DeadlineExceeded, "context deadline exceeded")})
	a.requireFailure(a.send("GET", "/api/v1/wallet/"+anID, ""), http.StatusGatewayTimeout, "DEADLINE_EXCEEDED")
}

func TestRecoverPanicIsInternal(t *testing.T) {
	t.Parallel()
	a := &api{T: t, backend: &backend{}, logs: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(a.logs, nil))
	failing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("in a rule") })
	server := httptest.NewServer(response.Observe(log, recoverPanics(log, failing)))
	t.Cleanup(server.Close)
	a.url = server.URL
	r := a.send("GET", "/", "")
	a.requireFailure(r, http.StatusInternalServerError, "INTERNAL")
	require.NotContains(t, r.text, "rule")
	require.Contains(t, a.logs.String(), "in a rule")
}

func TestFailRoundsRetryAfterUp(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"Login": apierr.New(restv1.Reason_RATE_LIMITED).WithMessage("Too many").After(1200 * time.Millisecond)})
	r := a.send("POST", "/api/v1/auth/login", `{}`)
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, "2", r.Header.Get("Retry-After"))
}

func TestLogAccessContainsNoUserData(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"Login": &authv1.LoginResponse{}, "GetWallet": &ledgerv1.GetWalletResponse{}})
	a.send("POST", "/api/v1/auth/login?secret=1", `{"email":"secret@example.com","password":"secret"}`)
	a.send("GET", "/api/v1/wallet/secret?secret=2", "")
	a.send("GET", "/secret", "")
	require.Eventually(t, func() bool { return strings.Count(a.logs.String(), `"msg":"request"`) == 3 }, time.Minute, time.Millisecond)
	logs := a.logs.String()
	require.Contains(t, logs, `"route":"/api/v1/wallet/{id}"`)
	require.NotContains(t, logs, "secret")
	require.NotContains(t, logs, a.token)
}

func TestFailUnavailableServiceIs503AtOnce(t *testing.T) {
	t.Parallel()
	conns, err := dial(Config{AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1", ServiceKey: "k"})
	require.NoError(t, err)
	defer conns.close()
	a := newAPI(t, nil)
	start := time.Now()
	down := a.withLedger(conns)
	for _, c := range []struct{ method, path, body string }{{"GET", "/api/v1/wallet", ""}, {"POST", "/api/v1/wallet", "{}"}} {
		r := down.send(c.method, c.path, c.body)
		a.requireFailure(r, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
		require.Equal(t, "1", r.Header.Get("Retry-After"))
	}
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestReadinessDependsOnRequiredServices(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("GET", "/readyz", "")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.JSONEq(t, `{"status":"ok","services":{"auth":"ok","ledger":"ok","budget":"ok"},"receipts":"unavailable","storage":"unknown"}`, r.text)

	conns, err := dial(Config{AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1", ServiceKey: "k"})
	require.NoError(t, err)
	defer conns.close()
	r = a.withLedger(conns).send("GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.JSONEq(t, `{"status":"unavailable","services":{"auth":"ok","ledger":"unavailable","budget":"ok"},"receipts":"unavailable","storage":"unknown"}`, r.text)
	require.Equal(t, http.StatusOK, a.send("GET", "/livez", "").StatusCode)
}

func TestDocsLoadNoExternalResources(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("GET", "/", "")
	require.Equal(t, http.StatusFound, r.StatusCode)
	require.Equal(t, "/docs/", r.Header.Get("Location"))
	require.Equal(t, "/docs/", a.send("GET", "/docs", "").Header.Get("Location"))
	index := a.send("GET", "/docs/", "")
	require.Equal(t, http.StatusOK, index.StatusCode)
	require.Contains(t, index.text, openAPIPath)
	require.NotRegexp(t, `(https?:)?//[a-z0-9]`, strings.ReplaceAll(index.text, "//www.w3.org", ""))
	require.Contains(t, index.Header.Get("Content-Security-Policy"), "default-src 'self'")
	for _, asset := range assets(index.text) {
		require.Equal(t, http.StatusOK, a.send("GET", asset, "").StatusCode, asset)
	}
	require.NotEmpty(t, assets(index.text))
	a.requireFailure(a.send("GET", "/docs/nothing.js", ""), http.StatusNotFound, "ROUTE_NOT_FOUND")
	require.Equal(t, "application/json", a.send("GET", openAPIPath, "").Header.Get("Content-Type"))
	require.NotEmpty(t, a.send("GET", "/version", "").json["version"])
}

// assets returns the paths below /docs/ that an HTML page refers to.
func assets(html string) []string {
	var found []string
	for _, attribute := range []string{`src="`, `href="`} {
		for _, after := range strings.Split(html, attribute)[1:] {
			path, _, _ := strings.Cut(after, `"`)
			if strings.HasPrefix(path, "/docs/") {
				found = append(found, path)
			}
		}
	}
	return found
}

func TestServeDrainsRequests(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	entered := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- serve(ctx, lis, &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(entered)
			<-ctx.Done()
			_, _ = w.Write([]byte("finished"))
		})})
	}()
	got := make(chan string, 1)
	go func() {
		req, _ := http.NewRequestWithContext(context.WithoutCancel(ctx), "GET", "http://"+lis.Addr().String(), nil)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			got <- err.Error()
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		got <- string(body)
	}()
	<-entered
	stop()
	require.Equal(t, "finished", <-got)
	require.NoError(t, <-done)
}

func TestRunServesAndStops(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1", ServiceKey: "k"}, lis)
	}()
	a := &api{T: t, backend: &backend{}, url: "http://" + lis.Addr().String()}
	require.Equal(t, http.StatusOK, a.send("GET", "/livez", "").StatusCode)
	a.token = newBackend(t, nil).newToken(t, time.Hour)
	a.requireFailure(a.send("GET", "/api/v1/wallet", ""), http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	stop()
	require.NoError(t, <-done)
}

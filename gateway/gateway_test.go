package gateway

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/caller"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// api is a client of a gateway with a fake backend.
type api struct {
	*testing.T
	*backend
	url   string
	logs  *syncBuffer
	token string
	// ahead is added to the time at which tokens are verified.
	ahead *atomic.Int64
}

// newAPI starts a gateway with a backend that returns answers by the name of the method, such as
// "GetWallet".
func newAPI(t *testing.T, answers map[string]any, configure ...func(*Config)) *api {
	t.Helper()
	a := &api{T: t, backend: newBackend(t, answers), logs: &syncBuffer{}, ahead: &atomic.Int64{}}
	a.token = a.newToken(t, time.Hour)
	var config Config
	for _, c := range configure {
		c(&config)
	}
	a.url = a.start(config,
		connections{auth: a.conn, ledger: a.conn, budget: a.conn, trust: a.conn})
	return a
}

// withLedger returns a client of another gateway, which differs in its connection to the ledger.
func (a *api) withLedger(conns connections) *api {
	a.Helper()
	other := *a
	other.url = a.start(Config{}, connections{auth: a.conn, ledger: conns.ledger, budget: a.conn})
	return &other
}

func (a *api) start(config Config, conns connections) string {
	a.Helper()
	s := a.server(config, conns)
	handler, err := s.handler(a.Context(), allRoutes(a))
	require.NoError(a, err)
	server := httptest.NewServer(handler)
	a.Cleanup(server.Close)
	return server.URL
}

// server returns the parts of a gateway that accepts the tokens of the backend.
func (a *api) server(config Config, conns connections) *server {
	a.Helper()
	log := slog.New(slog.NewJSONHandler(a.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	now := func() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) }
	verifier := newVerifier(a, a.key, a.newToken(a.T, time.Hour), now)
	return &server{config, conns, verifier, admission.UsualTransfers, log}
}

// newVerifier returns a verifier of the tokens that key signs. It has verified token.
func newVerifier(
	t testing.TB, key ed25519.PrivateKey, token string, now func() time.Time,
) *caller.Verifier {
	t.Helper()
	keys := map[string]ed25519.PublicKey{"k1": key.Public().(ed25519.PublicKey)}
	verifier, err := caller.NewVerifier(caller.Trust{
		Keys: func(context.Context) (map[string]ed25519.PublicKey, error) { return keys, nil },
		Revoked: func(context.Context, string) (caller.Revoked, error) {
			return caller.Revoked{}, nil
		},
	}, now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, err = verifier.Verify(t.Context(), token)
	require.NoError(t, err)
	return verifier
}

// allRoutes returns the routes of all services.
func allRoutes(t testing.TB) []*transcoding.Route {
	t.Helper()
	routes, err := transcoding.Routes()
	require.NoError(t, err)
	return routes
}

// reply is a response with its body, also as JSON if it is an object.
type reply struct {
	*http.Response
	text string
	json map[string]any
}

func (r reply) code() string { code, _ := r.json["code"].(string); return code }

// details returns the messages of the error's details by field.
func (r reply) details() map[string]string {
	out := map[string]string{}
	list, _ := r.json["details"].([]any)
	for _, d := range list {
		entry := d.(map[string]any)
		out[entry["field"].(string)] = entry["message"].(string)
	}
	return out
}

// send sends a request with the token, and with a JSON body unless body is empty. headers are
// pairs; an empty value removes a header.
func (a *api) send(method, path, body string, headers ...string) reply {
	a.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(a.Context(), method, a.url+path, content)
	require.NoError(a, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	return a.do(req)
}

func (a *api) do(req *http.Request) reply {
	a.Helper()
	client := &http.Client{
		Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	resp, err := client.Do(req)
	require.NoError(a, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(a, err)
	r := reply{Response: resp, text: string(body)}
	_ = json.Unmarshal(body, &r.json)
	return r
}

// requireFailure checks status, code and the common fields of an error response.
func (a *api) requireFailure(r reply, status int, code string) {
	a.Helper()
	require.Equal(a, status, r.StatusCode, r.text)
	require.Equal(a, code, r.code(), r.text)
	require.NotEmpty(a, r.json["message"])
	require.Equal(a, r.json["message"], r.json["error"])
	require.Equal(a, r.Header.Get("X-Request-Id"), r.json["requestId"])
	require.Equal(a, "application/json", r.Header.Get("Content-Type"))
}

type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

const anID = "0198f1a2-7b3c-7def-8a01-23456789abcd"

func aWallet() *ledgerv1.Wallet {
	return &ledgerv1.Wallet{
		Id: anID, Name: "Cash <\"&\u2028>", Currency: "USD", Balance: "999999999999.99",
		InitialBalance: "0.00",
		Balances:       []*ledgerv1.Balance{{Currency: "USD", Amount: "12.30"}},
		CreatedAt:      "2026-01-02T03:04:05.000Z",
	}
}

func base64URL(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

package gateway

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestFailHidesInternalErrors(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"GetWallet":   status.Error(codes.Internal, "password of db is x"),
		"GetCategory": status.Error(codes.InvalidArgument, "proto: secret"),
	})
	r := gate.send("GET", "/api/v1/wallet/"+anID, "")
	gate.requireFailure(r, http.StatusInternalServerError, "INTERNAL")
	require.NotContains(t, r.text, "password")
	r = gate.send("GET", "/api/v1/categories/"+anID, "")
	gate.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
	require.NotContains(t, r.text, "secret")
}

func TestFailSlowServiceIs504(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"GetWallet": status.Error(codes.DeadlineExceeded, "context deadline exceeded"),
	})
	a.requireFailure(a.send("GET", "/api/v1/wallet/"+anID, ""),
		http.StatusGatewayTimeout, "DEADLINE_EXCEEDED")
}

func TestRecoverPanicIsInternal(t *testing.T) {
	t.Parallel()
	gate := &api{T: t, backend: &backend{}, logs: &syncBuffer{}}
	log := slog.New(slog.NewJSONHandler(gate.logs, nil))
	failing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("in a rule") })
	server := httptest.NewServer(response.Observe(log, recoverPanics(log, failing)))
	t.Cleanup(server.Close)
	gate.url = server.URL
	r := gate.send("GET", "/", "")
	gate.requireFailure(r, http.StatusInternalServerError, "INTERNAL")
	require.NotContains(t, r.text, "rule")
	require.Contains(t, gate.logs.String(), "in a rule")
}

func TestFailRoundsRetryAfterUp(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"Login": apierr.New(restv1.Reason_RATE_LIMITED).
			WithMessage("Too many").After(1200 * time.Millisecond),
	})
	r := a.send("POST", "/api/v1/auth/login", `{}`)
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, "2", r.Header.Get("Retry-After"))
}

func TestFailUnavailableServiceIs503AtOnce(t *testing.T) {
	t.Parallel()
	conns, err := dial(Config{
		AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1",
		ServiceKey: "k",
	})
	require.NoError(t, err)
	defer conns.close()
	gate := newAPI(t, nil)
	start := time.Now()
	down := gate.withLedger(conns)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/v1/wallet", ""}, {"POST", "/api/v1/wallet", "{}"},
	} {
		r := down.send(c.method, c.path, c.body)
		gate.requireFailure(r, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
		require.Equal(t, "1", r.Header.Get("Retry-After"))
	}
	require.Less(t, time.Since(start), 10*time.Second)
}

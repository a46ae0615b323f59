package gateway

import (
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestShedIsolatesHangingService fills the ledger with requests that do not end.
func TestShedIsolatesHangingService(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	gate := newAPI(t, map[string]any{
		"GetWallet": hanging, "ListBudgets": &budgetv1.ListBudgetsResponse{},
		"GetMe":            &authv1.GetMeResponse{},
		"ListTransactions": &ledgerv1.ListTransactionsResponse{},
	}, func(c *Config) { c.AllowedOrigins = []string{"https://app.example"} })
	var waiting sync.WaitGroup
	defer waiting.Wait()
	release := sync.OnceFunc(func() { close(hanging) })
	defer release()
	most := runtime.GOMAXPROCS(0) * 256
	for range most {
		waiting.Go(func() { gate.send("GET", "/api/v1/wallet/"+anID, "") })
	}
	require.Eventually(t, func() bool { return gate.calls() == most }, time.Minute,
		time.Millisecond)

	begin := time.Now()
	for _, path := range []string{
		"/api/v1/wallet/" + anID, "/api/v1/transaction", "/api/v1/dashboard/summary",
	} {
		r := gate.send("GET", path, "", "Origin", "https://app.example", "X-Request-Id",
			"look-for-me")
		gate.requireFailure(r, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
		require.Equal(t, "1", r.Header.Get("Retry-After"))
		require.Equal(t, "look-for-me", r.Header.Get("X-Request-Id"))
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "https://app.example", r.Header.Get("Access-Control-Allow-Origin"),
			"browsers must be able to read it")
	}
	require.Less(t, time.Since(begin), 10*time.Second)
	require.Equal(t, most, gate.calls(), "rejected requests do not reach the ledger")
	require.Equal(t, http.StatusOK, gate.send("GET", "/api/v1/budgets", "").StatusCode)
	require.Equal(t, http.StatusOK, gate.send("GET", "/api/v1/auth/me", "").StatusCode)
	require.Equal(t, http.StatusOK, gate.send("GET", "/livez", "").StatusCode)

	release()
	waiting.Wait()
	require.Equal(t, http.StatusOK, gate.send("GET", "/api/v1/transaction", "").StatusCode)
}

func TestLoadShedderPathsAreUnique(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	shedder, err := admission.NewLoadShedder()
	require.NoError(t, err)
	services, err := (&server{}).services(t.Context(), routes, shedder)
	require.NoError(t, err)
	require.Len(t, services, 3)
	for _, r := range routes {
		if !r.IsEvents() {
			require.Same(t, services[r.Service()].Limiter, shedder.Limiter(r.Template), r.Template)
		}
	}
}

package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestRateLimitByUserOrAddress(t *testing.T) {
	t.Parallel()
	answers := map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet()}}
	gate := newAPI(t, answers, func(c *Config) { c.RateLimit, c.TrustProxyHops = 0.2, 1 })
	path := "/api/v1/wallet/" + aWallet().GetId()
	got := gate.send(http.MethodGet, path, "", "X-Forwarded-For", "203.0.113.1")
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	require.Equal(t, "1", got.Header.Get("RateLimit-Limit"))
	require.Equal(t, "0", got.Header.Get("RateLimit-Remaining"))
	got = gate.send(http.MethodGet, path, "", "X-Forwarded-For", "203.0.113.2")
	gate.requireFailure(got, http.StatusTooManyRequests, "RATE_LIMITED")
	require.NotEmpty(t, got.Header.Get("Retry-After"))

	stranger := func(address string) reply {
		headers := []string{"Authorization", "Bearer guess", "X-Forwarded-For", address}
		return gate.send(http.MethodGet, path, "", headers...)
	}
	gate.requireFailure(stranger("2001:db8::1"), http.StatusUnauthorized, "UNAUTHORIZED")
	gate.requireFailure(stranger("2001:db8::2"), http.StatusTooManyRequests, "RATE_LIMITED")
	gate.requireFailure(stranger("2001:db8:0:1::1"), http.StatusUnauthorized, "UNAUTHORIZED")
	calls := gate.calls()
	gate.requireFailure(stranger("2001:db8::1"), http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, calls, gate.calls())
}

func TestRateLimitBatchWeight(t *testing.T) {
	t.Parallel()
	answers := map[string]any{"CreateTransactions": &ledgerv1.CreateTransactionsResponse{}}
	a := newAPI(t, answers, func(c *Config) { c.RateLimit = 12 })
	r := a.send(http.MethodPost, "/api/v1/transaction/batch", `{"transactions":[]}`)
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	require.Equal(t, "60", r.Header.Get("RateLimit-Limit"))
	require.Equal(t, "10", r.Header.Get("RateLimit-Remaining"))
	r = a.send(http.MethodPost, "/api/v1/transaction/batch", `{"transactions":[]}`)
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
}

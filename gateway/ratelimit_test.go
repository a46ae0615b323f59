package gateway

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestRateLimitBurstAndRate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	limits, err := newRateLimit(2, func() time.Time { return now })
	require.NoError(t, err)
	for left := 9; left >= 0; left-- {
		h := http.Header{}
		require.NoError(t, limits.take("ada", 1, h))
		require.Equal(t, "10", h.Get("RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(left), h.Get("RateLimit-Remaining"))
		require.Equal(t, strconv.Itoa((10-left+1)/2), h.Get("RateLimit-Reset"))
	}
	h := http.Header{}
	e := apierr.From(limits.take("ada", 1, h))
	require.Equal(t, "RATE_LIMITED", e.Reason)
	require.Equal(t, time.Second/2, e.RetryAfter)
	require.Equal(t, "0", h.Get("RateLimit-Remaining"))
	require.NoError(t, limits.take("bob", 1, http.Header{}), "each user has a bucket")

	now = now.Add(time.Second / 2)
	require.NoError(t, limits.take("ada", 1, http.Header{}))
	require.Error(t, limits.take("ada", 1, http.Header{}), "a refused request costs nothing, and half a second brings one")
}

func TestRateLimitWeight(t *testing.T) {
	t.Parallel()
	limits, err := newRateLimit(2, func() time.Time { return time.Unix(1, 0) })
	require.NoError(t, err)
	h := http.Header{}
	require.NoError(t, limits.take("ada", 7, h))
	require.Equal(t, "3", h.Get("RateLimit-Remaining"))
	e := apierr.From(limits.take("ada", 7, h))
	require.Equal(t, "RATE_LIMITED", e.Reason)
	require.Equal(t, 2*time.Second, e.RetryAfter)
	require.Equal(t, "3", h.Get("RateLimit-Remaining"))
	require.NoError(t, limits.take("ada", 3, h))
	require.NoError(t, limits.take("bob", 50, h), "a weight above the burst takes the whole burst")
}

func TestRateLimitSharesBucket(t *testing.T) {
	t.Parallel()
	limits, err := newRateLimit(2, func() time.Time { return time.Unix(1, 0) })
	require.NoError(t, err)
	var allowed atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if limits.take("ada", 1, http.Header{}) == nil {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int32(10), allowed.Load())
}

func TestRateLimitByUserOrAddress(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet()}}, func(c *Config) { c.RateLimit, c.TrustProxyHops = 0.2, 1 })
	path := "/api/v1/wallet/" + aWallet().GetId()
	r := a.send(http.MethodGet, path, "", "Authorization", "Bearer "+a.token, "X-Forwarded-For", "203.0.113.1")
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	require.Equal(t, "1", r.Header.Get("RateLimit-Limit"))
	require.Equal(t, "0", r.Header.Get("RateLimit-Remaining"))
	r = a.send(http.MethodGet, path, "", "Authorization", "Bearer "+a.token, "X-Forwarded-For", "203.0.113.2")
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
	require.NotEmpty(t, r.Header.Get("Retry-After"))

	stranger := func(address string) reply {
		return a.send(http.MethodGet, path, "", "Authorization", "Bearer guess", "X-Forwarded-For", address)
	}
	a.requireFailure(stranger("2001:db8::1"), http.StatusUnauthorized, "UNAUTHORIZED")
	a.requireFailure(stranger("2001:db8::2"), http.StatusTooManyRequests, "RATE_LIMITED")
	a.requireFailure(stranger("2001:db8:0:1::1"), http.StatusUnauthorized, "UNAUTHORIZED")
	calls := a.calls()
	a.requireFailure(stranger("2001:db8::1"), http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, calls, a.calls())
}

func TestRateLimitBatchWeight(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"CreateTransactions": &ledgerv1.CreateTransactionsResponse{}}, func(c *Config) { c.RateLimit = 12 })
	r := a.send(http.MethodPost, "/api/v1/transaction/batch", `{"transactions":[]}`, "Authorization", "Bearer "+a.token)
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	require.Equal(t, "60", r.Header.Get("RateLimit-Limit"))
	require.Equal(t, "10", r.Header.Get("RateLimit-Remaining"))
	r = a.send(http.MethodPost, "/api/v1/transaction/batch", `{"transactions":[]}`, "Authorization", "Bearer "+a.token)
	a.requireFailure(r, http.StatusTooManyRequests, "RATE_LIMITED")
}

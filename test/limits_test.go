package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRateLimit uses a separate stack, because the shared one has no rate limit.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", map[string]string{"RATE_LIMIT": "1"})
	me := newUserAt(t, own.URL, "Ada")
	first := me.get("/api/v1/wallet").ok("WALLETS_FETCHED")
	require.Equal(t, "5", first.header.Get("RateLimit-Limit"))
	require.Equal(t, "4", first.header.Get("RateLimit-Remaining"))
	var last response
	for range 10 {
		last = me.get("/api/v1/wallet")
	}
	last.fails(429, "RATE_LIMITED")
	require.Equal(t, "1", last.header.Get("Retry-After"))
	require.Equal(t, "0", last.header.Get("RateLimit-Remaining"))
}

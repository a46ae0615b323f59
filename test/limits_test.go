package test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoeverAsksTooOftenIsToldWhenToComeBack needs a stack of its own: the others' rate is not limited.
func TestWhoeverAsksTooOftenIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", map[string]string{"RATE_LIMIT": "1"})
	p := newPersonAt(t, own.URL, "Ada")
	first := p.get("/api/v1/wallet").ok("WALLETS_FETCHED")
	require.Equal(t, "5", first.header.Get("RateLimit-Limit"))
	require.Equal(t, "4", first.header.Get("RateLimit-Remaining"))
	var last answer
	for range 10 {
		last = p.get("/api/v1/wallet")
	}
	last.fails(http.StatusTooManyRequests, "RATE_LIMITED")
	require.Equal(t, "1", last.header.Get("Retry-After"))
	require.Equal(t, "0", last.header.Get("RateLimit-Remaining"))
}

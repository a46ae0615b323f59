package test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/deploy/local"
)

// TestWhoeverAsksTooOftenIsToldWhenToComeBack needs a stack of its own: the others' rate is not limited.
func TestWhoeverAsksTooOftenIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	if stack == nil {
		t.Skip("the limits of BASE_URL are not known")
	}
	own, err := local.StartEphemeral(t.Context(), "", map[string]string{"RATE_LIMIT": "1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	p := &person{t: t, base: own.URL, email: "ada@example.com", password: "a long enough secret"}
	p.post("/api/v1/auth/register", object{"name": "Ada", "email": p.email, "password": p.password}).created("USER_REGISTERED")
	p.signIn()
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

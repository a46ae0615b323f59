package gateway

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/personaltoken"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestPersonalToken requires that the services see the exchanged token only.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	answers := map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet()}}
	a := newAPI(t, answers)
	access := a.token
	a.mu.Lock()
	answers["ExchangeAccessToken"] = &authv1.ExchangeAccessTokenResponse{AccessToken: access}
	a.mu.Unlock()
	a.token = personaltoken.New()
	for range 3 {
		require.Equal(t, http.StatusOK, a.send("GET", "/api/v1/wallet/"+anID, "").StatusCode)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	require.Len(t, a.requests, 4, "one exchange and three reads")
	exchange := a.requests[0].(*authv1.ExchangeAccessTokenRequest)
	require.Equal(t, a.token, exchange.GetToken())
	require.Equal(t, "127.0.0.1", exchange.GetAddress())
	require.Equal(t, []string{"Bearer " + access}, a.metadata.Get("authorization"))
	require.NotContains(t, a.logs.String(), a.token)
}

// TestPersonalTokenRejected requires that the verifier has the last word: an exchanged token may
// have expired, or its session may have ended.
func TestPersonalTokenRejected(t *testing.T) {
	t.Parallel()
	answers := map[string]any{}
	a := newAPI(t, answers)
	expired := a.newToken(t, -time.Hour)
	for name, tt := range map[string]struct {
		answer any
		status int
		code   string
	}{
		"expired": {
			&authv1.ExchangeAccessTokenResponse{AccessToken: expired},
			http.StatusUnauthorized, "TOKEN_EXPIRED",
		},
		"unknown":     {apierr.Unauthorized, http.StatusUnauthorized, "UNAUTHORIZED"},
		"unavailable": {apierr.Unavailable, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"},
	} {
		a.mu.Lock()
		answers["ExchangeAccessToken"] = tt.answer
		a.mu.Unlock()
		a.token = personaltoken.New()
		got := a.send("GET", "/api/v1/wallet/"+anID, "")
		require.Equal(t, tt.status, got.StatusCode, name)
		require.Equal(t, tt.code, got.code(), name)
	}
}

// TestPersonalTokenGuesses requires that an address without requests left causes no lookups.
func TestPersonalTokenGuesses(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"ExchangeAccessToken": apierr.Unauthorized},
		func(c *Config) { c.RateLimit = 0.001 })
	statuses := map[int]int{}
	for range 20 {
		a.token = personaltoken.New()
		statuses[a.send("GET", "/api/v1/wallet/"+anID, "").StatusCode]++
	}
	require.Equal(t, map[int]int{
		http.StatusUnauthorized: 1, http.StatusTooManyRequests: 19,
	}, statuses)
	require.Equal(t, 1, a.calls())
}

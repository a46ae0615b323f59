package test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhilePostgresIsAwayEveryOperationSaysSoWithinASecond has its own Postgres to stop. Nothing else is restarted.
func TestWhilePostgresIsAwayEveryOperationSaysSoWithinASecond(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", map[string]string{"RATE_LIMIT": "0"})
	s := &siege{stack: own}
	s.attacker = newPersonAt(t, own.URL, "Ada")
	s.own = map[string]string{}
	for _, kind := range kinds {
		s.own[kind] = s.attacker.id
	}
	wallet := s.attacker.wallet("EUR", "100")
	require.NoError(t, own.Halt("postgres"))

	var all sync.WaitGroup
	for _, o := range operations() {
		// The keys are remembered, a stream is one of NATS, and a body of another shape has a test of its own.
		if o.OperationID == "getKeySet" || o.OperationID == "streamEvents" || o.OperationID == "createTransactionsFromReceipt" {
			continue
		}
		all.Go(func() {
			p := &person{t: t, base: own.URL, token: s.attacker.token}
			var took time.Duration
			// A busy machine may delay some requests for longer, but not all.
			for range 10 {
				begin := time.Now()
				a := s.call(p, o, s.path(t, o), s.body(t, o))
				took = time.Since(begin)
				if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
					t.Errorf("%s: %d, Retry-After %q: %s", o.OperationID, a.status, a.header.Get("Retry-After"), a.raw)
				}
				if took <= time.Second {
					return
				}
			}
			t.Errorf("%s: took %s", o.OperationID, took)
		})
	}
	all.Wait()
	require.Eventually(t, func() bool { return s.attacker.get("/readyz").status == http.StatusServiceUnavailable }, 10*time.Second, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, s.attacker.get("/livez").status)

	require.NoError(t, own.Resume(t.Context(), "postgres"))
	require.Eventually(t, func() bool { return s.attacker.get("/api/v1/wallet/"+wallet).status == http.StatusOK }, 10*time.Second, 20*time.Millisecond)
	s.attacker.spend(wallet, s.attacker.category("Food"), "1")
	require.Equal(t, "99.00", s.attacker.balance(wallet))
}

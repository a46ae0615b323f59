package test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOperationsWithoutPostgres stops the PostgreSQL of a separate stack. Every operation must
// return 503 with Retry-After within a second. When PostgreSQL is back, the services recover
// without a restart.
func TestOperationsWithoutPostgres(t *testing.T) {
	t.Parallel()
	own := ownStack(t, "", map[string]string{"RATE_LIMIT": "0"})
	s := &attackRun{stack: own}
	s.attacker = newUserAt(t, own.URL, "Ada")
	s.attackerIDs = map[string]string{}
	for _, kind := range kinds {
		s.attackerIDs[kind] = s.attacker.id
	}
	wallet := s.attacker.wallet("EUR", "100")
	require.NoError(t, own.Halt("postgres"))

	var all sync.WaitGroup
	for _, o := range operations() {
		// Keys are cached, currencies are constant, streams need NATS only, and a separate test
		// covers the multipart body.
		switch o.OperationID {
		case "getKeySet", "listCurrencies", "streamEvents", "createTransactionsFromReceipt":
			continue
		}
		all.Go(func() {
			u := &user{t: t, base: own.URL, token: s.attacker.token}
			var took time.Duration
			// A busy machine may delay some requests for longer, but not all.
			for range 10 {
				begin := time.Now()
				path := s.path(t, o)
				if o.OperationID == "exportTransactions" {
					path += "?format=json"
				}
				a := s.call(u, o, path, s.body(t, o))
				took = time.Since(begin)
				if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
					t.Errorf("%s: %d, Retry-After %q: %s",
						o.OperationID, a.status, a.header.Get("Retry-After"), a.raw)
				}
				if took <= time.Second {
					return
				}
			}
			t.Errorf("%s: took %s", o.OperationID, took)
		})
	}
	all.Wait()
	require.Eventually(t, func() bool {
		return s.attacker.get("/readyz").status == http.StatusServiceUnavailable
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, s.attacker.get("/livez").status)

	require.NoError(t, own.Resume(t.Context(), "postgres"))
	require.Eventually(t, func() bool {
		return s.attacker.get("/api/v1/wallet/"+wallet).status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	s.attacker.spend(wallet, s.attacker.category("Food"), "1")
	require.Equal(t, "99.00", s.attacker.balance(wallet))
}

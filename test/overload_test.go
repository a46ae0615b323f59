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
	attack := &attackRun{stack: own}
	attack.attacker = newUserAt(t, own.URL, "Ada")
	attack.attackerIDs = map[string]string{}
	for _, kind := range kinds {
		attack.attackerIDs[kind] = attack.attacker.id
	}
	wallet := attack.attacker.wallet("EUR", "100")
	require.NoError(t, own.Halt("postgres"))

	var all sync.WaitGroup
	for _, operation := range operations() {
		// Keys are cached, currencies are constant, streams need NATS only, a malformed token needs
		// no query, and a separate test covers the multipart body.
		// A flow with an identity provider needs its cookie.
		switch operation.OperationID {
		case "listOidcProviders", "startOidc", "finishOidc", "exchangeOidc",
			"getKeySet", "listCurrencies", "streamEvents", "exchangePersonalToken",
			"createTransactionsFromReceipt":
			continue
		}
		all.Go(func() {
			me := &user{t: t, base: own.URL, token: attack.attacker.token}
			var took time.Duration
			// A busy machine may delay some requests for longer, but not all.
			for range 10 {
				begin := time.Now()
				path := attack.path(t, operation)
				if operation.OperationID == "exportTransactions" {
					path += "?format=json"
				}
				a := attack.call(me, operation, path, attack.body(t, operation))
				took = time.Since(begin)
				if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
					t.Errorf("%s: %d, Retry-After %q: %s",
						operation.OperationID, a.status, a.header.Get("Retry-After"), a.raw)
				}
				if took <= time.Second {
					return
				}
			}
			t.Errorf("%s: took %s", operation.OperationID, took)
		})
	}
	all.Wait()
	require.Eventually(t, func() bool {
		return attack.attacker.get("/readyz").status == http.StatusServiceUnavailable
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, http.StatusOK, attack.attacker.get("/livez").status)

	require.NoError(t, own.Resume(t.Context(), "postgres"))
	require.Eventually(t, func() bool {
		return attack.attacker.get("/api/v1/wallet/"+wallet).status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	attack.attacker.spend(wallet, attack.attacker.category("Food"), "1")
	require.Equal(t, "99.00", attack.attacker.balance(wallet))
}

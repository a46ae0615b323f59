package test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListTransactionsDuringWrites reads all pages in each order while other transactions are
// created and deleted. Each of the 250 permanent transactions is listed once.
func TestListTransactionsDuringWrites(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	var lock sync.Mutex
	want := map[string]bool{}
	var filling sync.WaitGroup
	for range 5 {
		filling.Go(func() {
			for range 50 {
				id := me.spend(wallet, category, "1")
				lock.Lock()
				want[id] = true
				lock.Unlock()
			}
		})
	}
	filling.Wait()
	require.Len(t, want, 250)

	done := make(chan struct{})
	var writing sync.WaitGroup
	for range 2 {
		writing.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					me.del("/api/v1/transaction/" + me.spend(wallet, category, "1")).
						ok("TRANSACTION_DELETED")
				}
			}
		})
	}
	stop := sync.OnceFunc(func() { close(done); writing.Wait() })
	defer stop()
	for _, sort := range []string{"-date", "date", "-amount", "amount"} {
		listed := map[string]int{}
		for cursor, more := "", true; more; {
			a := me.get("/api/v1/transaction?limit=60&sort=" + sort + "&cursor=" + cursor).
				ok("TRANSACTIONS_FETCHED")
			for _, tr := range a.list("transactions") {
				listed[tr.(object)["id"].(string)]++
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
		for id := range want {
			require.Equal(t, 1, listed[id], "sort=%s: %s", sort, id)
		}
	}
	stop()
	require.Equal(t, "-250.00", me.balance(wallet))
}

// TestIfMatchConcurrently sends simultaneous updates based on one version. One succeeds, and the
// others fail because they would overwrite it.
func TestIfMatchConcurrently(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	spent := me.spend(wallet, category, "1")
	budget := me.budgetNamed("Contested", wallet, category)
	for path, change := range map[string]object{
		"/api/v1/wallet/" + wallet:       {"name": "New"},
		"/api/v1/categories/" + category: {"name": "New"},
		"/api/v1/transaction/" + spent:   {"amount": json.Number("2")},
		"/api/v1/budgets/" + budget:      {"limit": json.Number("2")},
	} {
		tag := me.get(path).header.Get("ETag")
		statuses := make([]int, 6)
		var changing sync.WaitGroup
		for i := range statuses {
			changing.Go(func() { statuses[i] = me.patch(path, change, "If-Match", tag).status })
		}
		changing.Wait()
		count := map[int]int{}
		for _, s := range statuses {
			count[s]++
		}
		want := map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 5}
		require.Equal(t, want, count, path)
	}
	require.Equal(t, "-2.00", me.balance(wallet))
}

// TestUniqueNamesConcurrently creates resources with the same name simultaneously. One succeeds,
// and the others get 409.
func TestUniqueNamesConcurrently(t *testing.T) {
	t.Parallel()
	me, anonymous := newUser(t), &user{t: t}
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	for path, body := range map[string]object{
		"/api/v1/categories": {"name": "Same"},
		"/api/v1/budgets":    aBudget("Same", wallet, category),
		"/api/v1/auth/register": {
			"name": "Ada", "email": "same-" + me.email, "password": me.password,
		},
	} {
		responses := make([]response, 6)
		var taking sync.WaitGroup
		for i := range responses {
			taking.Go(func() {
				who := me
				if path == "/api/v1/auth/register" {
					who = anonymous
				}
				responses[i] = who.post(path, body)
			})
		}
		taking.Wait()
		created := 0
		for _, a := range responses {
			if a.status == http.StatusCreated {
				created++
				continue
			}
			require.Equal(t, http.StatusConflict, a.status, "%s: %s", path, a.raw)
		}
		require.Equal(t, 1, created, path)
	}
}

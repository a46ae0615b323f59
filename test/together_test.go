package test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPagingThrough250TransactionsLosesAndDoublesNoneWhileOthersWrite reads in each order with writers at work.
func TestPagingThrough250TransactionsLosesAndDoublesNoneWhileOthersWrite(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	var lock sync.Mutex
	want := map[string]bool{}
	var filling sync.WaitGroup
	for range 5 {
		filling.Go(func() {
			for range 50 {
				id := p.spend(wallet, category, "1")
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
					p.del("/api/v1/transaction/" + p.spend(wallet, category, "1")).ok("TRANSACTION_DELETED")
				}
			}
		})
	}
	stop := sync.OnceFunc(func() { close(done); writing.Wait() })
	defer stop()
	for _, sort := range []string{"-date", "date", "-amount", "amount"} {
		met := map[string]int{}
		for cursor, more := "", true; more; {
			a := p.get("/api/v1/transaction?limit=60&sort=" + sort + "&cursor=" + cursor).ok("TRANSACTIONS_FETCHED")
			for _, tr := range a.list("transactions") {
				met[tr.(object)["id"].(string)]++
			}
			cursor, more = a.text("pagination.nextCursor"), a.at("pagination.hasMore") == true
		}
		for id := range want {
			require.Equal(t, 1, met[id], "sort=%s: %s", sort, id)
		}
	}
	stop()
	require.Equal(t, "-250.00", p.balance(wallet))
}

// TestOfManyChangesToOneVersionOneWins: the others have not seen what they would overwrite.
func TestOfManyChangesToOneVersionOneWins(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	for path, change := range map[string]object{
		"/api/v1/wallet/" + wallet:                                        {"name": "New"},
		"/api/v1/categories/" + category:                                  {"name": "New"},
		"/api/v1/transaction/" + p.spend(wallet, category, "1"):           {"amount": json.Number("2")},
		"/api/v1/budgets/" + p.budgetNamed("Contested", wallet, category): {"limit": json.Number("2")},
	} {
		tag := p.get(path).header.Get("ETag")
		statuses := make([]int, 6)
		var changing sync.WaitGroup
		for i := range statuses {
			changing.Go(func() { statuses[i] = p.patch(path, change, "If-Match", tag).status })
		}
		changing.Wait()
		count := map[int]int{}
		for _, s := range statuses {
			count[s]++
		}
		require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 5}, count, path)
	}
	require.Equal(t, "-2.00", p.balance(wallet))
}

// TestOfManyWhoTakeOneNameOneGetsIt: uniqueness holds under a race, without a 500.
func TestOfManyWhoTakeOneNameOneGetsIt(t *testing.T) {
	t.Parallel()
	p, nobody := newPerson(t), &person{t: t}
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	for path, body := range map[string]object{
		"/api/v1/categories":    {"name": "Same"},
		"/api/v1/budgets":       aBudget("Same", wallet, category),
		"/api/v1/auth/register": {"name": "Ada", "email": "same-" + p.email, "password": p.password},
	} {
		answers := make([]answer, 6)
		var taking sync.WaitGroup
		for i := range answers {
			taking.Go(func() {
				who := p
				if path == "/api/v1/auth/register" {
					who = nobody
				}
				answers[i] = who.post(path, body)
			})
		}
		taking.Wait()
		created := 0
		for _, a := range answers {
			if a.status == http.StatusCreated {
				created++
				continue
			}
			require.Equal(t, http.StatusConflict, a.status, "%s: %s", path, a.raw)
		}
		require.Equal(t, 1, created, path)
	}
}

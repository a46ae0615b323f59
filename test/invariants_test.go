package test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSumsAfterRandomHistory creates, updates and deletes transactions in a random order.
// Afterwards it compares balances, dashboard and budget progress with the sums of the listed
// transactions.
func TestSumsAfterRandomHistory(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	categories := []string{me.category("A"), me.category("B")}
	rapid.Check(t, func(r *rapid.T) {
		opening := map[string]string{}
		var wallets, made []string
		for _, balance := range []string{"100.00", "-3.50"} {
			id := me.wallet("EUR", balance)
			wallets, opening[id] = append(wallets, id), balance
		}
		// The budget's window is from February 16 to March 15.
		budgeted := wallets[rapid.IntRange(0, 1).Draw(r, "budgeted")]
		plan := aBudget("Plan "+uuid.NewString(), budgeted, categories[0])
		plan["startDate"], plan["limit"] = "2026-01-16", 10
		budget := me.post("/api/v1/budgets", plan).created("BUDGET_CREATED").text("budget.id")
		for range rapid.IntRange(1, 10).Draw(r, "writes") {
			body := expense(rapid.SampledFrom(wallets).Draw(r, "wallet"),
				rapid.SampledFrom(categories).Draw(r, "category"),
				fmt.Sprintf("%d.%02d",
					rapid.IntRange(1, 40).Draw(r, "euros"), rapid.IntRange(0, 99).Draw(r, "cents")))
			body["type"] = rapid.SampledFrom([]string{"expense", "income"}).Draw(r, "type")
			body["date"] = fmt.Sprintf("2026-%02d-%02d", rapid.IntRange(2, 3).Draw(r, "month"),
				rapid.IntRange(14, 17).Draw(r, "day"))
			switch what := rapid.IntRange(0, 3).Draw(r, "what"); {
			case what < 2 || len(made) == 0:
				made = append(made, me.record(body))
			case what == 2:
				delete(body, rapid.SampledFrom([]string{
					"amount", "walletId", "categoryId", "type", "date",
				}).Draw(r, "unchanged field"))
				me.patch("/api/v1/transaction/"+rapid.SampledFrom(made).Draw(r, "changed"), body).
					ok("TRANSACTION_UPDATED")
			default:
				i := rapid.IntRange(0, len(made)-1).Draw(r, "deleted")
				me.del("/api/v1/transaction/" + made[i]).ok("TRANSACTION_DELETED")
				made = append(made[:i], made[i+1:]...)
			}
		}
		march := me.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
			ok("DASHBOARD_SUMMARY_FETCHED")
		spent := new(big.Rat)
		for _, wallet := range wallets {
			balance, moved := rat(opening[wallet]), new(big.Rat)
			for _, tr := range me.get("/api/v1/transaction?limit=200&walletId=" + wallet).
				ok("TRANSACTIONS_FETCHED").list("transactions") {
				amount := rat(tr.(object)["amount"].(json.Number).String())
				balance.Add(balance, amount)
				date := tr.(object)["date"].(string)
				if date >= "2026-03-01" {
					moved.Add(moved, amount)
				}
				if wallet == budgeted && tr.(object)["categoryId"] == categories[0] &&
					date >= "2026-02-16" && date < "2026-03-16" {
					spent.Sub(spent, amount)
				}
			}
			require.Equal(r, balance.FloatString(2), me.balance(wallet))
			for _, w := range march.list("summary.byWallet") {
				if w.(object)["walletId"] == wallet {
					require.Equal(r, moved.FloatString(2), w.(object)["net"].(json.Number).String())
				}
			}
		}
		progress := me.get("/api/v1/budgets/" + budget + "?at=2026-03-01").ok("BUDGET_FETCHED")
		require.Equal(r, "2026-02-16 2026-03-15", progress.text("budget.progress.windowStart")+" "+
			progress.text("budget.progress.windowEnd"))
		require.Equal(r, spent.FloatString(2), progress.text("budget.progress.spent"))
	})
}

func rat(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}

func TestCreateTransactionConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("repeats with one key have one effect", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		wallet, category, key := me.wallet("EUR", "0"), me.category("Food"), uuid.NewString()
		responses := make([]response, 12)
		var retrying sync.WaitGroup
		for i := range responses {
			retrying.Go(func() {
				responses[i] = me.post("/api/v1/transaction", expense(wallet, category, "5"),
					"Idempotency-Key", key)
			})
		}
		retrying.Wait()
		for _, a := range responses {
			require.Equal(t, http.StatusCreated, a.status, "%s", a.raw)
			require.JSONEq(t, string(responses[0].raw), string(a.raw))
		}
		require.Equal(t, "-5.00", me.balance(wallet))
	})
	t.Run("every expense changes the balance", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		wallet, category := me.wallet("EUR", "0"), me.category("Food")
		var spending sync.WaitGroup
		for range 8 {
			spending.Go(func() {
				for range 10 {
					me.spend(wallet, category, "0.01")
				}
			})
		}
		spending.Wait()
		require.Equal(t, "-0.80", me.balance(wallet))
	})
}

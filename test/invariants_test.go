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

// TestBalancesDashboardAndBudgetsFollowRandomHistories does what people do in any order and adds up afterwards.
func TestBalancesDashboardAndBudgetsFollowRandomHistories(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	categories := []string{p.category("A"), p.category("B")}
	rapid.Check(t, func(r *rapid.T) {
		opening := map[string]string{}
		var wallets, made []string
		for _, balance := range []string{"100.00", "-3.50"} {
			id := p.wallet("EUR", balance)
			wallets, opening[id] = append(wallets, id), balance
		}
		// A window of the budget is the second half of February and the first of March.
		budgeted := wallets[rapid.IntRange(0, 1).Draw(r, "budgeted")]
		plan := aBudget("Plan "+uuid.NewString(), budgeted, categories[0])
		plan["startDate"], plan["limit"] = "2026-01-16", 10
		budget := p.post("/api/v1/budgets", plan).created("BUDGET_CREATED").text("budget.id")
		for range rapid.IntRange(1, 10).Draw(r, "writes") {
			body := expense(rapid.SampledFrom(wallets).Draw(r, "wallet"), rapid.SampledFrom(categories).Draw(r, "category"),
				fmt.Sprintf("%d.%02d", rapid.IntRange(1, 40).Draw(r, "euros"), rapid.IntRange(0, 99).Draw(r, "cents")))
			body["type"] = rapid.SampledFrom([]string{"expense", "income"}).Draw(r, "type")
			body["date"] = fmt.Sprintf("2026-%02d-%02d", rapid.IntRange(2, 3).Draw(r, "month"), rapid.IntRange(14, 17).Draw(r, "day"))
			switch what := rapid.IntRange(0, 3).Draw(r, "what"); {
			case what < 2 || len(made) == 0:
				made = append(made, p.post("/api/v1/transaction", body).created("TRANSACTION_CREATED").text("transaction.id"))
			case what == 2:
				delete(body, rapid.SampledFrom([]string{"amount", "walletId", "categoryId", "type", "date"}).Draw(r, "field left alone"))
				p.patch("/api/v1/transaction/"+rapid.SampledFrom(made).Draw(r, "changed"), body).ok("TRANSACTION_UPDATED")
			default:
				i := rapid.IntRange(0, len(made)-1).Draw(r, "deleted")
				p.del("/api/v1/transaction/" + made[i]).ok("TRANSACTION_DELETED")
				made = append(made[:i], made[i+1:]...)
			}
		}
		march := p.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").ok("DASHBOARD_SUMMARY_FETCHED")
		spent := new(big.Rat)
		for _, wallet := range wallets {
			balance, moved := rat(opening[wallet]), new(big.Rat)
			for _, tr := range p.get("/api/v1/transaction?limit=200&walletId=" + wallet).ok("TRANSACTIONS_FETCHED").list("transactions") {
				amount := rat(tr.(object)["amount"].(json.Number).String())
				balance.Add(balance, amount)
				date := tr.(object)["date"].(string)
				if date >= "2026-03-01" {
					moved.Add(moved, amount)
				}
				if wallet == budgeted && tr.(object)["categoryId"] == categories[0] && date >= "2026-02-16" && date < "2026-03-16" {
					spent.Sub(spent, amount)
				}
			}
			require.Equal(r, balance.FloatString(2), p.balance(wallet))
			for _, w := range march.list("summary.byWallet") {
				if w.(object)["walletId"] == wallet {
					require.Equal(r, moved.FloatString(2), w.(object)["net"].(json.Number).String())
				}
			}
		}
		progress := p.get("/api/v1/budgets/" + budget + "?at=2026-03-01").ok("BUDGET_FETCHED")
		require.Equal(r, "2026-02-16 2026-03-15", progress.text("budget.progress.windowStart")+" "+progress.text("budget.progress.windowEnd"))
		require.Equal(r, spent.FloatString(2), progress.text("budget.progress.spent"))
	})
}

func rat(s string) *big.Rat {
	r, _ := new(big.Rat).SetString(s)
	return r
}

func TestRetriesInParallelHaveOneEffect(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category, key := p.wallet("EUR", "0"), p.category("Food"), uuid.NewString()
	answers := make([]answer, 12)
	var retrying sync.WaitGroup
	for i := range answers {
		retrying.Go(func() {
			answers[i] = p.post("/api/v1/transaction", expense(wallet, category, "5"), "Idempotency-Key", key)
		})
	}
	retrying.Wait()
	for _, a := range answers {
		require.Equal(t, http.StatusCreated, a.status, "%s", a.raw)
		require.JSONEq(t, string(answers[0].raw), string(a.raw))
	}
	require.Equal(t, "-5.00", p.balance(wallet))
}

func TestSimultaneousExpensesAllCount(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "0"), p.category("Food")
	var spending sync.WaitGroup
	for range 8 {
		spending.Go(func() {
			for range 10 {
				p.spend(wallet, category, "0.01")
			}
		})
	}
	spending.Wait()
	require.Equal(t, "-0.80", p.balance(wallet))
}

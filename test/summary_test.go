package test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// movement is what the model of TestTheDashboardEqualsARecomputation knows of a transaction; cents are signed.
type movement struct {
	wallet, category, date string
	cents                  int64
}

// flow is what movements add up to.
type flow struct{ Income, Expense, Net string }

func flowOf(movements map[string]movement, counts func(movement) bool) flow {
	var income, expense int64
	for _, m := range movements {
		if counts(m) {
			income, expense = income+max(m.cents, 0), expense+max(-m.cents, 0)
		}
	}
	return flow{euros(income), euros(expense), euros(income - expense)}
}

func euros(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

func TestTheDashboardAddsUp(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	empty := p.get("/api/v1/dashboard/summary").ok("DASHBOARD_SUMMARY_FETCHED")
	require.Empty(t, empty.list("summary.totals"))
	wallet, food, pay := p.wallet("EUR", "50"), p.category("Food"), p.category("Pay")
	p.post("/api/v1/transaction", object{"amount": 1000, "date": "2026-03-01", "currency": "EUR", "walletId": wallet, "categoryId": pay})
	p.spend(wallet, food, "12.50")
	p.spend(wallet, food, "7.50")
	p.post("/api/v1/transaction", object{"amount": 9, "date": "2026-02-28", "currency": "EUR", "walletId": wallet, "categoryId": food, "type": "expense"})
	a := p.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").ok("DASHBOARD_SUMMARY_FETCHED")
	for path, want := range map[string]string{
		"from": "2026-03-01", "to": "2026-03-31", "totals.0.currency": "EUR", "totals.0.income": "1000.00", "totals.0.expense": "20.00",
		"totals.0.net": "980.00", "totals.0.balance": "1021.00", "totals.0.transactionCount": "3", "byCategory.0.name": "Food",
		"byCategory.0.expense": "20.00", "byCategory.0.percentage": "100", "byWallet.0.walletId": wallet, "byWallet.0.net": "980.00",
		"previous.0.expense": "9.00", "previous.0.balance": "41.00", "trend.11.month": "2026-03", "trend.10.expense": "9.00", "largestExpenses.0.amount": "-12.50",
	} {
		require.Equal(t, want, a.text("summary."+path), path)
	}
	require.Len(t, a.list("summary.trend"), 12)
	for _, amount := range []string{"9", "7"} {
		slip := expense(wallet, food, amount)
		slip["currency"] = "JPY"
		id := p.post("/api/v1/transaction", slip).created("TRANSACTION_CREATED").text("transaction.id")
		p.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	}
	again := p.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").ok("DASHBOARD_SUMMARY_FETCHED")
	require.Equal(t, a.body["summary"], again.body["summary"], "a currency that nothing is left of")
	require.Len(t, a.list("summary.recentTransactions"), 3)
	require.Empty(t, p.get("/api/v1/dashboard/summary?currency=JPY").list("summary.byWallet"))
	for query, want := range map[string][2]string{
		"to=2024-02-15":   {"2024-02-01", "2024-02-15"},
		"from=2199-12-15": {"2199-12-15", "2199-12-31"},
	} {
		a := p.get("/api/v1/dashboard/summary?" + query).ok("DASHBOARD_SUMMARY_FETCHED")
		require.Equal(t, want, [2]string{a.text("summary.from"), a.text("summary.to")}, "half a window is completed to a month")
	}
	p.get("/api/v1/dashboard/summary?from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
	p.get("/api/v1/dashboard/summary?currency=x").fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
	p.get("/api/v1/dashboard/summary?from=2026-03-02&to=2026-03-01").fails(400, "VALIDATION_ERROR").blames("from")
}

// TestTheDashboardEqualsARecomputation keeps a model beside the service, through random creates, changes and deletes,
// and compares every sum of the dashboard with the model's.
func TestTheDashboardEqualsARecomputation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		// Nobody else's transactions may be in the sums, so each history has a person of its own.
		p := newPersonOf(t, r)
		wallets, categories := []string{p.wallet("EUR", "10.00"), p.wallet("EUR", "-2.50")}, []string{p.category("A"), p.category("B")}
		known := map[string]movement{}
		for range rapid.IntRange(1, 8).Draw(r, "writes") {
			p.live(r, known, wallets, categories)
		}
		a := p.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").ok("DASHBOARD_SUMMARY_FETCHED")
		march := func(m movement) bool { return m.date >= "2026-03-01" }
		count := 0
		for _, m := range known {
			if march(m) {
				count++
			}
		}
		// A row may be missing only when there is nothing in it.
		require.Equal(r, flowOf(known, march), sumOrZero(a.list("summary.totals"), "currency", "EUR"), "%s", a.raw)
		if totals := a.list("summary.totals"); len(totals) > 0 {
			require.Equal(r, fmt.Sprint(count), a.text("summary.totals.0.transactionCount"))
			require.Equal(r, euros(750+cents(known, func(movement) bool { return true })), a.text("summary.totals.0.balance"))
		}
		before := func(m movement) bool { return m.date < "2026-03-01" }
		require.Equal(r, flowOf(known, before), sumOrZero(a.list("summary.previous"), "currency", "EUR"), "%s", a.raw)
		require.Equal(r, flowOf(known, march), sumOrZero(a.list("summary.trend"), "month", "2026-03"), "%s", a.raw)
		for _, id := range wallets {
			want := flowOf(known, func(m movement) bool { return march(m) && m.wallet == id })
			require.Equal(r, want, sumOrZero(a.list("summary.byWallet"), "walletId", id), "%s", a.raw)
		}
		for _, id := range categories {
			want := flowOf(known, func(m movement) bool { return march(m) && m.category == id })
			got := sumOrZero(a.list("summary.byCategory"), "categoryId", id)
			require.Equal(r, [2]string{want.Income, want.Expense}, [2]string{got.Income, got.Expense}, "%s", a.raw)
		}
		for i, id := range wallets {
			opening := []int64{1000, -250}[i]
			require.Equal(r, euros(opening+cents(known, func(m movement) bool { return m.wallet == id })), p.balance(id))
		}
	})
}

func newPersonOf(t *testing.T, r *rapid.T) *person {
	t.Helper()
	p := newPerson(t)
	p.t = r
	return p
}

func cents(movements map[string]movement, counts func(movement) bool) int64 {
	var sum int64
	for _, m := range movements {
		if counts(m) {
			sum += m.cents
		}
	}
	return sum
}

func sumOrZero(rows []any, key, value string) flow {
	for _, row := range rows {
		if row.(object)[key] == value {
			sums := row.(object)
			return flow{fmt.Sprint(sums["income"]), fmt.Sprint(sums["expense"]), fmt.Sprint(sums["net"])}
		}
	}
	return flow{"0.00", "0.00", "0.00"}
}

// live does one write, and does the same to what is known.
func (p *person) live(r *rapid.T, known map[string]movement, wallets, categories []string) {
	m := movement{
		wallet: rapid.SampledFrom(wallets).Draw(r, "wallet"), category: rapid.SampledFrom(categories).Draw(r, "category"),
		date: rapid.SampledFrom([]string{"2026-02-28", "2026-03-01", "2026-03-31"}).Draw(r, "date"), cents: rapid.Int64Range(-5000, 5000).Draw(r, "cents"),
	}
	if m.cents == 0 {
		m.cents = 1
	}
	kind := "income"
	if m.cents < 0 {
		kind = "expense"
	}
	body := object{
		"amount": json.Number(euros(max(m.cents, -m.cents))), "date": m.date, "currency": "EUR", "walletId": m.wallet, "categoryId": m.category, "type": kind,
	}
	what := rapid.IntRange(0, 3).Draw(r, "what")
	if what < 2 || len(known) == 0 {
		known[p.post("/api/v1/transaction", body).created("TRANSACTION_CREATED").text("transaction.id")] = m
		return
	}
	id := rapid.SampledFrom(p.get("/api/v1/transaction?sort=date").list("transactions")).Draw(r, "which").(object)["id"].(string)
	if what == 2 {
		p.patch("/api/v1/transaction/"+id, body).ok("TRANSACTION_UPDATED")
		known[id] = m
		return
	}
	p.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	delete(known, id)
}

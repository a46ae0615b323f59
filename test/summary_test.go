package test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelTransaction is a transaction in the model of TestGetSummaryEqualsModel. cents are negative
// for expenses.
type modelTransaction struct {
	wallet, category, date string
	cents                  int64
}

// flow holds the sums of transactions.
type flow struct{ Income, Expense, Net string }

func flowOf(transactions map[string]modelTransaction, counts func(modelTransaction) bool) flow {
	var income, expense int64
	for _, m := range transactions {
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

func TestGetSummaryDaily(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const march = "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31"
	require.Empty(t, u.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	wallet, category := u.wallet("EUR", "50"), u.category("Food")
	u.spend(wallet, category, "12.50")
	u.spend(wallet, category, "7.50")
	yen := expense(wallet, category, "700")
	yen["currency"], yen["type"], yen["date"] = "JPY", "income", "2026-03-01"
	u.record(yen)
	require.NotContains(t, u.get(march).ok("DASHBOARD_SUMMARY_FETCHED").at("summary"), "daily")
	want := []any{
		object{
			"date": "2026-03-01", "currency": "JPY", "income": json.Number("700"),
			"expense": json.Number("0"),
		},
		object{
			"date": "2026-03-14", "currency": "EUR", "income": json.Number("0.00"),
			"expense": json.Number("20.00"),
		},
	}
	require.Equal(t, want, u.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	require.Equal(t, want[1:], u.get(march+"&include=daily&currency=eur").
		ok("DASHBOARD_SUMMARY_FETCHED").list("summary.daily"))
	require.Empty(t, newUser(t).get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	const year = "/api/v1/dashboard/summary?from=2025-01-01&to="
	u.get(year + "2026-02-04&include=daily").ok("DASHBOARD_SUMMARY_FETCHED")
	u.get(year + "2026-02-05&include=daily").invalid("to")
	u.get(march + "&include=daily&include=weekly").invalid("include")
}

func TestGetSummaryByTag(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const march = "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31"
	require.Empty(t, u.get(march+"&include=tags").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.byTag"))
	wallet, category := u.wallet("EUR", "50"), u.category("Food")
	u.record(with(expense(wallet, category, "9.00"), object{"tags": []any{"Trip", "Work"}}))
	u.record(with(expense(wallet, category, "1.00"), object{"tags": []any{"trip"}}))
	require.Equal(t, []any{
		object{
			"name": "Trip", "currency": "EUR", "income": json.Number("0.00"),
			"expense": json.Number("10.00"), "transactionCount": json.Number("2"),
		},
		object{
			"name": "Work", "currency": "EUR", "income": json.Number("0.00"),
			"expense": json.Number("9.00"), "transactionCount": json.Number("1"),
		},
	}, u.get(march+"&include=daily&include=tags").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.byTag"))
	require.NotContains(t, u.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		at("summary"), "byTag")
}

func TestGetSummary(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	empty := u.get("/api/v1/dashboard/summary").ok("DASHBOARD_SUMMARY_FETCHED")
	require.Empty(t, empty.list("summary.totals"))
	wallet, food, pay := u.wallet("EUR", "50"), u.category("Food"), u.category("Pay")
	u.post("/api/v1/transaction", object{
		"amount": 1000, "date": "2026-03-01", "currency": "EUR", "walletId": wallet,
		"categoryId": pay,
	})
	u.spend(wallet, food, "12.50")
	u.spend(wallet, food, "7.50")
	u.post("/api/v1/transaction", object{
		"amount": 9, "date": "2026-02-28", "currency": "EUR", "walletId": wallet,
		"categoryId": food, "type": "expense",
	})
	a := u.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
		ok("DASHBOARD_SUMMARY_FETCHED")
	for path, want := range map[string]string{
		"from": "2026-03-01", "to": "2026-03-31", "totals.0.currency": "EUR",
		"totals.0.income": "1000.00", "totals.0.expense": "20.00",
		"totals.0.net": "980.00", "totals.0.balance": "1021.00", "totals.0.transactionCount": "3",
		"byCategory.0.name":    "Food",
		"byCategory.0.expense": "20.00", "byCategory.0.percentage": "100",
		"byWallet.0.walletId": wallet, "byWallet.0.net": "980.00",
		"previous.0.expense": "9.00", "previous.0.balance": "41.00", "trend.11.month": "2026-03",
		"trend.10.expense": "9.00", "largestExpenses.0.amount": "-12.50",
	} {
		require.Equal(t, want, a.text("summary."+path), path)
	}
	require.Len(t, a.list("summary.trend"), 12)
	for _, amount := range []string{"9", "7"} {
		slip := expense(wallet, food, amount)
		slip["currency"] = "JPY"
		id := u.record(slip)
		u.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	}
	again := u.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
		ok("DASHBOARD_SUMMARY_FETCHED")
	require.Equal(t, a.body["summary"], again.body["summary"],
		"a currency without remaining transactions is omitted")
	require.Len(t, a.list("summary.recentTransactions"), 3)
	require.Empty(t, u.get("/api/v1/dashboard/summary?currency=JPY").list("summary.byWallet"))
	for query, want := range map[string][2]string{
		"to=2024-02-15":   {"2024-02-01", "2024-02-15"},
		"from=2199-12-15": {"2199-12-15", "2199-12-31"},
	} {
		a := u.get("/api/v1/dashboard/summary?" + query).ok("DASHBOARD_SUMMARY_FETCHED")
		require.Equal(t, want, [2]string{a.text("summary.from"), a.text("summary.to")},
			"a missing end of the range is that of the month")
	}
	u.get("/api/v1/dashboard/summary?from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
	u.get("/api/v1/dashboard/summary?currency=x").fails(400, "UNSUPPORTED_CURRENCY").
		blames("currency")
	u.get("/api/v1/dashboard/summary?from=2026-03-02&to=2026-03-01").invalid("from")
}

// TestGetSummaryEqualsModel applies random creates, updates and deletes to the service and to a
// model, and compares every sum of the dashboard with the model.
func TestGetSummaryEqualsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		// Each history has a separate user, so that the sums contain only its transactions.
		u := newUserOf(t, r)
		wallets := []string{u.wallet("EUR", "10.00"), u.wallet("EUR", "-2.50")}
		categories := []string{u.category("A"), u.category("B")}
		model := map[string]modelTransaction{}
		for range rapid.IntRange(1, 8).Draw(r, "writes") {
			u.writeRandom(r, model, wallets, categories)
		}
		a := u.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
			ok("DASHBOARD_SUMMARY_FETCHED")
		march := func(m modelTransaction) bool { return m.date >= "2026-03-01" }
		count := 0
		for _, m := range model {
			if march(m) {
				count++
			}
		}
		// A row may only be omitted if its sums are zero.
		require.Equal(r, flowOf(model, march),
			sumOrZero(a.list("summary.totals"), "currency", "EUR"), "%s", a.raw)
		if totals := a.list("summary.totals"); len(totals) > 0 {
			require.Equal(r, fmt.Sprint(count), a.text("summary.totals.0.transactionCount"))
			require.Equal(r, euros(750+cents(model, func(modelTransaction) bool { return true })),
				a.text("summary.totals.0.balance"))
		}
		before := func(m modelTransaction) bool { return m.date < "2026-03-01" }
		require.Equal(r, flowOf(model, before),
			sumOrZero(a.list("summary.previous"), "currency", "EUR"), "%s", a.raw)
		require.Equal(r, flowOf(model, march),
			sumOrZero(a.list("summary.trend"), "month", "2026-03"), "%s", a.raw)
		for _, id := range wallets {
			want := flowOf(model,
				func(m modelTransaction) bool { return march(m) && m.wallet == id })
			require.Equal(r, want, sumOrZero(a.list("summary.byWallet"), "walletId", id),
				"%s", a.raw)
		}
		for _, id := range categories {
			want := flowOf(model,
				func(m modelTransaction) bool { return march(m) && m.category == id })
			got := sumOrZero(a.list("summary.byCategory"), "categoryId", id)
			require.Equal(r, [2]string{want.Income, want.Expense},
				[2]string{got.Income, got.Expense}, "%s", a.raw)
		}
		for i, id := range wallets {
			opening := []int64{1000, -250}[i]
			require.Equal(r, euros(opening+cents(model, func(m modelTransaction) bool {
				return m.wallet == id
			})), u.balance(id))
		}
	})
}

func newUserOf(t *testing.T, r *rapid.T) *user {
	t.Helper()
	u := newUser(t)
	u.t = r
	return u
}

func cents(transactions map[string]modelTransaction, counts func(modelTransaction) bool) int64 {
	var sum int64
	for _, m := range transactions {
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
			return flow{
				fmt.Sprint(sums["income"]), fmt.Sprint(sums["expense"]), fmt.Sprint(sums["net"]),
			}
		}
	}
	return flow{"0.00", "0.00", "0.00"}
}

// writeRandom sends one random write and applies it to the model.
func (u *user) writeRandom(
	r *rapid.T, model map[string]modelTransaction, wallets, categories []string,
) {
	m := modelTransaction{
		wallet: rapid.SampledFrom(wallets).
			Draw(r, "wallet"), category: rapid.SampledFrom(categories).Draw(r, "category"),
		date: rapid.SampledFrom([]string{"2026-02-28", "2026-03-01", "2026-03-31"}).
			Draw(r, "date"), cents: rapid.Int64Range(-5000, 5000).Draw(r, "cents"),
	}
	if m.cents == 0 {
		m.cents = 1
	}
	kind := "income"
	if m.cents < 0 {
		kind = "expense"
	}
	body := object{
		"amount": json.Number(euros(max(m.cents, -m.cents))), "date": m.date, "currency": "EUR",
		"walletId": m.wallet, "categoryId": m.category, "type": kind,
	}
	what := rapid.IntRange(0, 3).Draw(r, "what")
	if what < 2 || len(model) == 0 {
		model[u.record(body)] = m
		return
	}
	id := rapid.SampledFrom(u.get("/api/v1/transaction?sort=date").list("transactions")).
		Draw(r, "which").(object)["id"].(string)
	if what == 2 {
		u.patch("/api/v1/transaction/"+id, body).ok("TRANSACTION_UPDATED")
		model[id] = m
		return
	}
	u.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	delete(model, id)
}

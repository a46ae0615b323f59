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
	me := newUser(t)
	const march = "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31"
	require.Empty(t, me.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	wallet, category := me.wallet("EUR", "50"), me.category("Food")
	me.spend(wallet, category, "12.50")
	me.spend(wallet, category, "7.50")
	yen := expense(wallet, category, "700")
	yen["currency"], yen["type"], yen["date"] = "JPY", "income", "2026-03-01"
	me.record(yen)
	require.NotContains(t, me.get(march).ok("DASHBOARD_SUMMARY_FETCHED").at("summary"), "daily")
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
	require.Equal(t, want, me.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	require.Equal(t, want[1:], me.get(march+"&include=daily&currency=eur").
		ok("DASHBOARD_SUMMARY_FETCHED").list("summary.daily"))
	require.Empty(t, newUser(t).get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.daily"))
	const year = "/api/v1/dashboard/summary?from=2025-01-01&to="
	me.get(year + "2026-02-04&include=daily").ok("DASHBOARD_SUMMARY_FETCHED")
	me.get(year + "2026-02-05&include=daily").invalid("to")
	me.get(march + "&include=daily&include=weekly").invalid("include")
}

func TestGetSummaryByTag(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	const march = "/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31"
	require.Empty(t, me.get(march+"&include=tags").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.byTag"))
	wallet, category := me.wallet("EUR", "50"), me.category("Food")
	me.record(with(expense(wallet, category, "9.00"), object{"tags": []any{"Trip", "Work"}}))
	me.record(with(expense(wallet, category, "1.00"), object{"tags": []any{"trip"}}))
	require.Equal(t, []any{
		object{
			"name": "Trip", "currency": "EUR", "income": json.Number("0.00"),
			"expense": json.Number("10.00"), "transactionCount": json.Number("2"),
		},
		object{
			"name": "Work", "currency": "EUR", "income": json.Number("0.00"),
			"expense": json.Number("9.00"), "transactionCount": json.Number("1"),
		},
	}, me.get(march+"&include=daily&include=tags").ok("DASHBOARD_SUMMARY_FETCHED").
		list("summary.byTag"))
	require.NotContains(t, me.get(march+"&include=daily").ok("DASHBOARD_SUMMARY_FETCHED").
		at("summary"), "byTag")
}

func TestGetSummary(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	empty := me.get("/api/v1/dashboard/summary").ok("DASHBOARD_SUMMARY_FETCHED")
	require.Empty(t, empty.list("summary.totals"))
	wallet, food, pay := me.wallet("EUR", "50"), me.category("Food"), me.category("Pay")
	me.post("/api/v1/transaction", object{
		"amount": 1000, "date": "2026-03-01", "currency": "EUR", "walletId": wallet,
		"categoryId": pay,
	})
	me.spend(wallet, food, "12.50")
	me.spend(wallet, food, "7.50")
	me.post("/api/v1/transaction", object{
		"amount": 9, "date": "2026-02-28", "currency": "EUR", "walletId": wallet,
		"categoryId": food, "type": "expense",
	})
	reply := me.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
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
		require.Equal(t, want, reply.text("summary."+path), path)
	}
	require.Len(t, reply.list("summary.trend"), 12)
	for _, amount := range []string{"9", "7"} {
		slip := expense(wallet, food, amount)
		slip["currency"] = "JPY"
		id := me.record(slip)
		me.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	}
	again := me.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
		ok("DASHBOARD_SUMMARY_FETCHED")
	require.Equal(t, reply.body["summary"], again.body["summary"],
		"a currency without remaining transactions is omitted")
	require.Len(t, reply.list("summary.recentTransactions"), 3)
	require.Empty(t, me.get("/api/v1/dashboard/summary?currency=JPY").list("summary.byWallet"))
	for query, want := range map[string][2]string{
		"to=2024-02-15":   {"2024-02-01", "2024-02-15"},
		"from=2199-12-15": {"2199-12-15", "2199-12-31"},
	} {
		a := me.get("/api/v1/dashboard/summary?" + query).ok("DASHBOARD_SUMMARY_FETCHED")
		require.Equal(t, want, [2]string{a.text("summary.from"), a.text("summary.to")},
			"a missing end of the range is that of the month")
	}
	me.get("/api/v1/dashboard/summary?from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
	me.get("/api/v1/dashboard/summary?currency=x").fails(400, "UNSUPPORTED_CURRENCY").
		blames("currency")
	me.get("/api/v1/dashboard/summary?from=2026-03-02&to=2026-03-01").invalid("from")
}

// TestGetSummaryEqualsModel applies random creates, updates and deletes to the service and to a
// model, and compares every sum of the dashboard with the model.
func TestGetSummaryEqualsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		// Each history has a separate user, so that the sums contain only its transactions.
		me := newUserOf(t, r)
		wallets := []string{me.wallet("EUR", "10.00"), me.wallet("EUR", "-2.50")}
		categories := []string{me.category("A"), me.category("B")}
		model := map[string]modelTransaction{}
		for range rapid.IntRange(1, 8).Draw(r, "writes") {
			me.writeRandom(r, model, wallets, categories)
		}
		reply := me.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
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
			sumOrZero(reply.list("summary.totals"), "currency", "EUR"), "%s", reply.raw)
		if totals := reply.list("summary.totals"); len(totals) > 0 {
			require.Equal(r, fmt.Sprint(count), reply.text("summary.totals.0.transactionCount"))
			require.Equal(r, euros(750+cents(model, func(modelTransaction) bool { return true })),
				reply.text("summary.totals.0.balance"))
		}
		before := func(m modelTransaction) bool { return m.date < "2026-03-01" }
		require.Equal(r, flowOf(model, before),
			sumOrZero(reply.list("summary.previous"), "currency", "EUR"), "%s", reply.raw)
		require.Equal(r, flowOf(model, march),
			sumOrZero(reply.list("summary.trend"), "month", "2026-03"), "%s", reply.raw)
		for _, id := range wallets {
			want := flowOf(model,
				func(m modelTransaction) bool { return march(m) && m.wallet == id })
			require.Equal(r, want, sumOrZero(reply.list("summary.byWallet"), "walletId", id),
				"%s", reply.raw)
		}
		for _, id := range categories {
			want := flowOf(model,
				func(m modelTransaction) bool { return march(m) && m.category == id })
			got := sumOrZero(reply.list("summary.byCategory"), "categoryId", id)
			require.Equal(r, [2]string{want.Income, want.Expense},
				[2]string{got.Income, got.Expense}, "%s", reply.raw)
		}
		for i, id := range wallets {
			opening := []int64{1000, -250}[i]
			require.Equal(r, euros(opening+cents(model, func(m modelTransaction) bool {
				return m.wallet == id
			})), me.balance(id))
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
	transaction := modelTransaction{
		wallet: rapid.SampledFrom(wallets).
			Draw(r, "wallet"), category: rapid.SampledFrom(categories).Draw(r, "category"),
		date: rapid.SampledFrom([]string{"2026-02-28", "2026-03-01", "2026-03-31"}).
			Draw(r, "date"), cents: rapid.Int64Range(-5000, 5000).Draw(r, "cents"),
	}
	if transaction.cents == 0 {
		transaction.cents = 1
	}
	kind := "income"
	if transaction.cents < 0 {
		kind = "expense"
	}
	body := object{
		"amount": json.Number(euros(max(transaction.cents, -transaction.cents))),
		"date":   transaction.date, "currency": "EUR",
		"walletId": transaction.wallet, "categoryId": transaction.category, "type": kind,
	}
	what := rapid.IntRange(0, 3).Draw(r, "what")
	if what < 2 || len(model) == 0 {
		model[u.record(body)] = transaction
		return
	}
	id := rapid.SampledFrom(u.get("/api/v1/transaction?sort=date").list("transactions")).
		Draw(r, "which").(object)["id"].(string)
	if what == 2 {
		u.patch("/api/v1/transaction/"+id, body).ok("TRANSACTION_UPDATED")
		model[id] = transaction
		return
	}
	u.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	delete(model, id)
}

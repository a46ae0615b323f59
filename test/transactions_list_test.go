package test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListTransactionsFilters(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	bank, pay := me.wallet("EUR", "0"), me.category("Pay")
	me.post("/api/v1/transaction", object{
		"amount": 2000, "date": "2026-02-28", "currency": "EUR", "walletId": bank,
		"categoryId": pay, "description": "Salary",
	})
	lunch := expense(wallet, category, "12.5")
	lunch["description"] = "Lunch 100%"
	me.post("/api/v1/transaction", lunch)
	me.post("/api/v1/transaction", object{
		"amount": 500, "date": "2026-03-15", "currency": "JPY", "walletId": wallet,
		"categoryId": category, "type": "expense", "description": "Sushi",
	})
	for query, want := range map[string][]string{
		"":                 {"Sushi", "Lunch 100%", "Salary"},
		"sort=date":        {"Salary", "Lunch 100%", "Sushi"},
		"sort=-amount":     {"Salary", "Lunch 100%", "Sushi"},
		"sort=amount":      {"Sushi", "Lunch 100%", "Salary"},
		"walletId=" + bank: {"Salary"},
		"walletId=" + bank + "&walletId=" + wallet: {"Sushi", "Lunch 100%", "Salary"},
		"categoryId=" + category:                   {"Sushi", "Lunch 100%"},
		"type=income":                              {"Salary"},
		"type=expense&currency=EUR":                {"Lunch 100%"},
		"from=2026-03-01&to=2026-03-14":            {"Lunch 100%"},
		"minAmount=-12.5&maxAmount=12":             {"Lunch 100%"},
		"q=LUNCH":                                  {"Lunch 100%"},
		"q=" + url.QueryEscape("%"):                {"Lunch 100%"},
		"q=nothing":                                {},
		"q=" + url.QueryEscape(" lunch "):          {"Lunch 100%"},
		"limit=1":                                  {"Sushi"},
	} {
		got := []string{}
		for _, tr := range me.get("/api/v1/transaction?" + query).ok("TRANSACTIONS_FETCHED").
			list("transactions") {
			got = append(got, tr.(object)["description"].(string))
		}
		require.Equal(t, want, got, query)
	}
	for query, want := range map[string]struct {
		status int
		code   string
	}{
		"sort=id":                       {400, "VALIDATION_ERROR"},
		"minAmount=x":                   {400, "VALIDATION_ERROR"},
		"minAmount=2&maxAmount=1":       {400, "VALIDATION_ERROR"},
		"from=2026-03-02&to=2026-03-01": {400, "VALIDATION_ERROR"},
		"from=x":                        {400, "INVALID_TRANSACTION_DATE"},
		"currency=XYZ":                  {400, "UNSUPPORTED_CURRENCY"},
		"type=gift":                     {400, "INVALID_TRANSACTION_TYPE"},
		"walletId=x":                    {400, "WALLET_NOT_FOUND"},
		"categoryId=x":                  {400, "INVALID_CATEGORY_EXIST_PARAMS"},
		"walletId=" + stranger.wallet("EUR", "0"): {404, "WALLET_NOT_FOUND"},
		"categoryId=" + stranger.category("A"):    {404, "INVALID_CATEGORY_EXIST_PARAMS"},
	} {
		me.get("/api/v1/transaction?"+query).fails(want.status, want.code)
	}
}

// TestListTransactionsPages reads all pages while other transactions are created. Each transaction
// is listed once.
func TestListTransactionsPages(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	want := map[string]bool{}
	for range 25 {
		want[me.spend(wallet, category, "1")] = true
	}
	listed := map[string]bool{}
	for cursor := ""; ; {
		reply := me.get("/api/v1/transaction?limit=4&cursor=" + cursor).ok("TRANSACTIONS_FETCHED")
		for _, tr := range reply.list("transactions") {
			id := tr.(object)["id"].(string)
			require.False(t, listed[id], "listed twice")
			listed[id] = true
		}
		if cursor = reply.text("pagination.nextCursor"); reply.at("pagination.hasMore") == false {
			break
		}
		me.spend(wallet, category, "1")
	}
	for id := range want {
		require.True(t, listed[id], "not listed")
	}
}

// TestTransactionTotals compares the totals of a filtered list with its pages, and checks that they
// are optional.
func TestTransactionTotals(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	me.spend(wallet, category, "3.50")
	me.spend(wallet, category, "0.25")
	yen := expense(wallet, category, "700")
	yen["currency"], yen["type"] = "JPY", "income"
	me.record(yen)

	plain := me.get("/api/v1/transaction?limit=1").ok("TRANSACTIONS_FETCHED")
	require.NotContains(t, plain.body, "totals")
	require.NotContains(t, plain.body, "etags")
	require.Equal(t, []any{`"1"`}, me.get("/api/v1/transaction?limit=1&include=etags").
		ok("TRANSACTIONS_FETCHED").list("etags"))
	require.NotContains(t, plain.body, "capped")
	first := me.get("/api/v1/transaction?limit=1&include=totals").ok("TRANSACTIONS_FETCHED")
	want := []any{
		object{
			"currency": "EUR", "count": json.Number("2"), "income": json.Number("0.00"),
			"expense": json.Number("3.75"),
		},
		object{
			"currency": "JPY", "count": json.Number("1"), "income": json.Number("700"),
			"expense": json.Number("0"),
		},
	}
	require.Equal(t, want, first.list("totals"))
	require.Equal(t, false, first.at("capped"))
	// The cursor is valid with and without the totals, which do not depend on the page.
	next := "/api/v1/transaction?limit=1&cursor=" + first.text("pagination.nextCursor")
	require.Equal(t, want, me.get(next+"&include=totals").ok("TRANSACTIONS_FETCHED").list("totals"))
	require.NotContains(t, me.get(next).ok("TRANSACTIONS_FETCHED").body, "totals")
	require.Equal(t, want[:1], me.get("/api/v1/transaction?type=expense&q=&walletId="+wallet+
		"&include=totals").ok("TRANSACTIONS_FETCHED").list("totals"))
	require.Empty(t, me.get("/api/v1/transaction?currency=USD&include=totals").
		ok("TRANSACTIONS_FETCHED").list("totals"))
	require.Empty(t, stranger.get("/api/v1/transaction?include=totals").ok("TRANSACTIONS_FETCHED").
		list("totals"))
	stranger.get("/api/v1/transaction?include=totals&walletId="+wallet).
		fails(404, "WALLET_NOT_FOUND")
	for _, query := range []string{
		"include=", "include=sums", "include=totals,totals", "include=totals&include=daily",
	} {
		me.get("/api/v1/transaction?" + query).invalid("include")
	}
}

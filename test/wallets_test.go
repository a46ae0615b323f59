package test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestWalletsAndCategories(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	w := me.post("/api/v1/wallet", object{"name": " Cash ", "currency": "jpy", "balance": -5}).
		created("WALLET_CREATED")
	id := w.text("wallet.id")
	got := w.texts("wallet.name", "wallet.currency", "wallet.balance", "wallet.initialBalance",
		"wallet.archived")
	require.Equal(t, []string{"Cash", "JPY", "-5", "-5", "false"}, got)
	require.Equal(t, id, me.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	require.Equal(t, "true", me.patch("/api/v1/wallet/"+id, object{"archived": true}).
		ok("WALLET_UPDATED").text("wallet.archived"))
	me.patch("/api/v1/wallet/"+id, object{"name": ""}).invalid("name")
	me.post("/api/v1/wallet", object{}).invalid("name", "currency")
	me.post("/api/v1/wallet", object{"name": "A", "currency": "QQQ"}).
		fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
	me.post("/api/v1/wallet", object{
		"name": "A", "currency": "EUR", "balance": json.Number("0.001"),
	}).invalid("balance")

	currency := me.post("/api/v1/categories", object{"name": "Food"}).created("CATEGORY_CREATED").
		text("category.id")
	me.post("/api/v1/categories", object{"name": "FOOD"}).fails(409, "CATEGORY_ALREADY_EXISTS")
	me.post("/api/v1/categories", object{"name": strings.Repeat("é", 101)}).invalid("name")
	require.Equal(t, "Meals", me.patch("/api/v1/categories/"+currency, object{"name": "Meals"}).
		ok("CATEGORY_UPDATED").text("category.name"))
	me.category("Fun")
	me.patch("/api/v1/categories/"+currency, object{"name": "fun"}).fails(409,
		"CATEGORY_ALREADY_EXISTS")
	require.Equal(t, "Meals", me.get("/api/v1/categories/"+currency).ok("CATEGORY_FETCHED").
		text("category.name"))
	require.Len(t, me.get("/api/v1/categories").ok("CATEGORIES_FETCHED").list("categories"), 2)

	euros := me.wallet("EUR", "0")
	tr := me.spend(euros, currency, "3")
	me.del("/api/v1/wallet/"+euros).fails(409, "WALLET_IN_USE")
	me.del("/api/v1/categories/"+currency).fails(409, "CATEGORY_IN_USE")
	me.del("/api/v1/categories/"+currency+"?reassignTo="+currency).fails(400, "VALIDATION_ERROR")
	target := me.category("Target")
	me.del("/api/v1/categories/" + currency + "?reassignTo=" + target).ok("CATEGORY_DELETED")
	require.Equal(t, target, me.get("/api/v1/transaction/"+tr).text("transaction.categoryId"))
	me.del("/api/v1/transaction/" + tr).ok("TRANSACTION_DELETED")
	require.Equal(t, euros, me.del("/api/v1/wallet/"+euros).ok("WALLET_DELETED").text("id"))

	for _, x := range []struct{ path, theirs, code, change string }{
		{"/api/v1/wallet/", stranger.wallet("EUR", "0"), "WALLET_NOT_FOUND", "name"},
		{"/api/v1/categories/", stranger.category("A"), "INVALID_CATEGORY_EXIST_PARAMS", "name"},
	} {
		for id, status := range map[string]int{"x": 400, uuid.NewString(): 404, x.theirs: 404} {
			me.get(x.path+id).fails(status, x.code)
			me.patch(x.path+id, object{x.change: "Mine"}).fails(status, x.code)
			me.del(x.path+id).fails(status, x.code)
		}
	}
}

// TestWalletOpeningDate corrects an opening balance and its day, and compares past balances of the
// dashboard.
func TestWalletOpeningDate(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	created := me.post("/api/v1/wallet",
		object{"name": "Cash", "currency": "EUR", "balance": 1000}).
		created("WALLET_CREATED")
	id := created.text("wallet.id")
	require.Equal(t, time.Now().UTC().Format(time.DateOnly), created.text("wallet.openingDate"))
	me.record(with(expense(id, me.category("Food"), "3"), object{"date": "2020-01-10"}))
	past := func() [2]string {
		r := me.get("/api/v1/dashboard/summary?from=2020-01-01&to=2020-01-31").
			ok("DASHBOARD_SUMMARY_FETCHED")
		return [2]string{r.text("summary.previous.0.balance"), r.text("summary.totals.0.balance")}
	}
	require.Equal(t, [2]string{"0.00", "-3.00"}, past())

	changed := me.patch("/api/v1/wallet/"+id, object{
		"initialBalance": json.Number("50.5"), "openingDate": "2020-01-31",
	}).ok("WALLET_UPDATED")
	require.Equal(t, []string{"50.50", "47.50", "2020-01-31"},
		changed.texts("wallet.initialBalance", "wallet.balance", "wallet.openingDate"))
	require.Equal(t, [2]string{"0.00", "47.50"}, past())
	always := me.patch("/api/v1/wallet/"+id, object{"openingDate": nil}).ok("WALLET_UPDATED")
	require.NotContains(t, always.at("wallet"), "openingDate")
	require.Equal(t, [2]string{"50.50", "47.50"}, past())

	for field, bad := range map[string][]any{
		"openingDate":    {"2026-02-30", "20260201", "2026-02-01T00:00:00Z", "1899-12-31", 7},
		"initialBalance": {"much", json.Number("0.001"), json.Number("1e12")},
	} {
		for _, value := range bad {
			me.patch("/api/v1/wallet/"+id, object{field: value}).invalid(field)
		}
	}
	me.post("/api/v1/wallet", object{"name": "A", "currency": "EUR", "openingDate": "tomorrow"}).
		invalid("openingDate")
}

// TestWalletAndCategoryAppearance sets, reads and removes the fields that clients show. They change
// no balance.
func TestWalletAndCategoryAppearance(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	plain := me.wallet("EUR", "0")
	response := me.post("/api/v1/wallet", object{
		"name": "Cash", "currency": "EUR", "balance": 5, "color": "#2F6F4F", "icon": "💶",
		"position": 2,
	}).created("WALLET_CREATED")
	id := response.text("wallet.id")
	require.Equal(t, []string{"#2F6F4F", "💶", "2"},
		response.texts("wallet.color", "wallet.icon", "wallet.position"))
	require.NotContains(t, me.get("/api/v1/wallet/"+plain).at("wallet"), "color")
	require.NotContains(t, me.get("/api/v1/wallet/"+plain).at("wallet"), "position")
	require.Equal(t, id, me.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	me.patch("/api/v1/wallet/"+plain, object{"position": 0}).ok("WALLET_UPDATED")
	require.Equal(t, plain, me.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	changed := me.patch("/api/v1/wallet/"+id, object{"icon": "🏦"}).ok("WALLET_UPDATED")
	require.Equal(t, []string{"#2F6F4F", "🏦", "2", "5.00"},
		changed.texts("wallet.color", "wallet.icon", "wallet.position", "wallet.balance"))
	cleared := me.patch("/api/v1/wallet/"+id, object{"color": nil, "icon": "", "position": nil}).
		ok("WALLET_UPDATED").at("wallet")
	for _, field := range []string{"color", "icon", "position"} {
		require.NotContains(t, cleared, field)
	}
	for field, bad := range map[string][]any{
		"color": {"2F6F4F", "#2F6F4", "red", 7}, "icon": {"A", "👨‍👩‍👧", "🍎🍎", 7},
		"position": {-1, 1_000_001, json.Number("1.5"), "1", json.Number("1e99")},
	} {
		for _, value := range bad {
			me.patch("/api/v1/wallet/"+id, object{field: value}).invalid(field)
			me.post("/api/v1/wallet", object{"name": "A", "currency": "EUR", field: value}).
				invalid(field)
		}
	}
	me.patch("/api/v1/wallet/"+id, object{"color": "#000000"}, "If-Match", `"1"`).
		fails(412, "VERSION_MISMATCH")

	c := me.post("/api/v1/categories", object{
		"name": "Pay", "color": "#000000", "icon": "🧾", "kind": "income",
	}).created("CATEGORY_CREATED")
	category := "/api/v1/categories/" + c.text("category.id")
	require.Equal(t, []string{"#000000", "🧾", "income"},
		c.texts("category.color", "category.icon", "category.kind"))
	require.Equal(t, "both", me.patch(category, object{"kind": "both"}).ok("CATEGORY_UPDATED").
		text("category.kind"))
	require.Equal(t, "Pay", me.get(category).ok("CATEGORY_FETCHED").text("category.name"))
	cleared = me.patch(category, object{"color": nil, "icon": nil, "kind": nil}).
		ok("CATEGORY_UPDATED").at("category")
	for _, field := range []string{"color", "icon", "kind"} {
		require.NotContains(t, cleared, field)
	}
	for field, value := range map[string]any{"color": "blue", "icon": "🍎🍎", "kind": "transfer"} {
		me.patch(category, object{field: value}).invalid(field)
		me.post("/api/v1/categories", object{"name": "A", field: value}).invalid(field)
	}
	// A kind restricts no transaction.
	me.patch(category, object{"kind": "income"}).ok("CATEGORY_UPDATED")
	me.spend(id, c.text("category.id"), "1")
}

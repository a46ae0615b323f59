package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestTransactionLifecycle creates, reads, updates and deletes a transaction, and compares each
// response with the specification.
func TestTransactionLifecycle(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "100"), u.category("Food")

	created := u.post("/api/v1/transaction", object{
		"amount": json.Number("12.50"), "date": "2026-03-14T10:00:00Z", "currency": "eur",
		"walletId": wallet, "categoryId": category,
		"type": "expense", "description": "Lunch", "id": "mine", "ownerId": "me",
	}).created("TRANSACTION_CREATED")
	id := created.text("transaction.id")
	for field, want := range map[string]string{
		"amount": "-12.50", "description": "Lunch", "date": "2026-03-14T10:00:00.000Z",
		"currency": "EUR", "walletId": wallet, "categoryId": category,
	} {
		require.Equal(t, want, created.text("transaction."+field))
	}
	require.Equal(t, "87.50", u.balance(wallet))
	require.Equal(t, "-12.50", u.get("/api/v1/transaction/"+strings.ToUpper(id)).
		ok("TRANSACTION_FETCHED").text("transaction.amount"))
	require.Equal(t, id, u.get("/api/v1/transaction").ok("TRANSACTIONS_FETCHED").
		text("transactions.0.id"))

	updated := u.patch("/api/v1/transaction/"+id, object{"amount": 20, "description": nil}).
		ok("TRANSACTION_UPDATED")
	require.Equal(t, "-20.00", updated.text("transaction.amount"))
	require.Equal(t, "80.00", u.balance(wallet))
	u.patch("/api/v1/transaction/"+id, object{"type": "income"}).ok("TRANSACTION_UPDATED")
	require.Equal(t, "120.00", u.balance(wallet))

	require.Equal(t, id, u.del("/api/v1/transaction/"+id).ok("TRANSACTION_DELETED").text("id"))
	require.Equal(t, "100.00", u.balance(wallet))
	u.get("/api/v1/transaction/"+id).fails(404, "TRANSACTION_NOT_FOUND")
}

// TestCreateTransactions creates the maximum of 500 transactions in one request, and repeats the
// request with the same key.
func TestCreateTransactions(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	var items []object
	for i := range 500 {
		items = append(items, expense(wallet, category, strconv.Itoa(i+1)))
	}
	key := uuid.NewString()
	a := u.post("/api/v1/transaction/batch", batch(items...), "Idempotency-Key", key).
		created("TRANSACTIONS_CREATED")
	require.Len(t, a.list("transactions"), 500)
	require.Equal(t, "-7.00", a.text("transactions.6.amount"))
	require.Equal(t, "-125250.00", u.balance(wallet))
	again := u.post("/api/v1/transaction/batch", batch(items...), "Idempotency-Key", key).
		created("TRANSACTIONS_CREATED")
	require.JSONEq(t, string(a.raw), string(again.raw))
	require.Equal(t, "-125250.00", u.balance(wallet))

	u.post("/api/v1/transaction/batch", batch()).invalid("transactions")
	u.post("/api/v1/transaction/batch", batch(append(items, items[0])...)).invalid("transactions")
	u.post("/api/v1/transaction/batch", object{"transactions": []any{1}}).invalid("transactions[0]")
}

func batch(items ...object) object { return object{"transactions": items} }

// TestCreateTransactionWithoutType requires that the default type is income.
func TestCreateTransactionWithoutType(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	body := expense(u.wallet("EUR", "0"), u.category("Food"), "1.05")
	delete(body, "type")
	a := u.post("/api/v1/transaction", body).created("TRANSACTION_CREATED")
	require.Equal(t, "1.05", a.text("transaction.amount"))
	require.Equal(t, "income", a.text("transaction.type"))
}

// TestTransactionInvalidFields sends each invalid field in a create, in a bulk create and in an
// update. No data may change.
func TestTransactionInvalidFields(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	theirWallet, theirCategory := stranger.wallet("EUR", "0"), stranger.category("Food")
	id := u.spend(wallet, category, "5")
	before := string(u.get("/api/v1/transaction").raw) + u.balance(wallet)
	for name, c := range map[string]struct {
		field  string
		value  any
		status int
		code   string
	}{
		"an amount of zero":   {"amount", 0, 400, "VALIDATION_ERROR"},
		"a negative amount":   {"amount", -1, 400, "VALIDATION_ERROR"},
		"an amount in quotes": {"amount", "1", 400, "VALIDATION_ERROR"},
		"too many decimals":   {"amount", json.Number("0.005"), 400, "VALIDATION_ERROR"},
		"an amount over the limit": {
			"amount", json.Number("1000000000000"), 400, "VALIDATION_ERROR",
		},
		"a huge exponent":       {"amount", json.Number("1e400"), 400, "VALIDATION_ERROR"},
		"an invalid date":       {"date", "14.03.2026", 400, "INVALID_TRANSACTION_DATE"},
		"the 30th of February":  {"date", "2026-02-30", 400, "INVALID_TRANSACTION_DATE"},
		"a date out of range":   {"date", "2201-01-01", 400, "INVALID_TRANSACTION_DATE"},
		"an unknown currency":   {"currency", "ABC", 400, "UNSUPPORTED_CURRENCY"},
		"an unknown type":       {"type", "gift", 400, "INVALID_TRANSACTION_TYPE"},
		"a malformed wallet":    {"walletId", "12", 400, "WALLET_NOT_FOUND"},
		"an unknown wallet":     {"walletId", uuid.NewString(), 404, "WALLET_NOT_FOUND"},
		"another user's wallet": {"walletId", theirWallet, 404, "WALLET_NOT_FOUND"},
		"a malformed category":  {"categoryId", "12", 400, "INVALID_CATEGORY_EXIST_PARAMS"},
		"an unknown category": {
			"categoryId", uuid.NewString(), 404, "INVALID_CATEGORY_EXIST_PARAMS",
		},
		"another user's category": {
			"categoryId", theirCategory, 404, "INVALID_CATEGORY_EXIST_PARAMS",
		},
		"a description with NUL": {"description", "a\x00b", 400, "VALIDATION_ERROR"},
		"a long description": {
			"description", strings.Repeat("x", 1001), 400, "VALIDATION_ERROR",
		},
		"a number as description": {"description", 7, 400, "VALIDATION_ERROR"},
		"SQL as category": {
			"categoryId", "'; DROP TABLE transactions; --", 400, "INVALID_CATEGORY_EXIST_PARAMS",
		},
	} {
		t.Run(name, func(*testing.T) {
			body := expense(wallet, category, "1")
			body[c.field] = c.value
			u.post("/api/v1/transaction", body).fails(c.status, c.code).blames(c.field)
			u.post("/api/v1/transaction/batch", batch(expense(wallet, category, "1"), body)).
				fails(c.status, c.code).blames("transactions[1]." + c.field)
			u.patch("/api/v1/transaction/"+id, object{c.field: c.value}).fails(c.status, c.code).
				blames(c.field)
		})
	}
	for _, field := range []string{"amount", "date", "currency", "walletId", "categoryId"} {
		body := expense(wallet, category, "1")
		delete(body, field)
		u.post("/api/v1/transaction", body).invalid(field)
	}
	a := u.post("/api/v1/transaction", object{
		"amount": 1, "date": "x", "currency": "EUR", "walletId": wallet, "categoryId": category,
	})
	require.Equal(t, "Invalid transaction date", a.text("message"))
	u.post("/api/v1/transaction", `{"amount":1,"amount":2}`).fails(400, "VALIDATION_ERROR")
	require.Equal(t, before, string(u.get("/api/v1/transaction").raw)+u.balance(wallet))
}

// TestTransactionIDs uses malformed ids, unknown ids and an id of another user.
func TestTransactionIDs(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	theirs := stranger.spend(stranger.wallet("EUR", "0"), stranger.category("Food"), "5")
	for id, want := range map[string]struct {
		status int
		code   string
	}{
		"1":                                    {400, "INVALID_TRANSACTION_ID"},
		"%20":                                  {400, "INVALID_TRANSACTION_ID"},
		"null":                                 {400, "INVALID_TRANSACTION_ID"},
		uuid.NewString():                       {404, "TRANSACTION_NOT_FOUND"},
		"00000000-0000-0000-0000-000000000000": {404, "TRANSACTION_NOT_FOUND"},
		theirs:                                 {403, "TRANSACTION_OWNER_MISMATCH"},
	} {
		path := "/api/v1/transaction/" + id
		u.get(path).fails(want.status, want.code)
		u.patch(path, object{"amount": 1}).fails(want.status, want.code)
		u.del(path).fails(want.status, want.code)
	}
	require.Equal(t, "-5.00", stranger.get("/api/v1/transaction/"+theirs).
		text("transaction.amount"))
}

func TestListTransactionsFilters(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	bank, pay := u.wallet("EUR", "0"), u.category("Pay")
	u.post("/api/v1/transaction", object{
		"amount": 2000, "date": "2026-02-28", "currency": "EUR", "walletId": bank,
		"categoryId": pay, "description": "Salary",
	})
	lunch := expense(wallet, category, "12.5")
	lunch["description"] = "Lunch 100%"
	u.post("/api/v1/transaction", lunch)
	u.post("/api/v1/transaction", object{
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
		for _, tr := range u.get("/api/v1/transaction?" + query).ok("TRANSACTIONS_FETCHED").
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
		u.get("/api/v1/transaction?"+query).fails(want.status, want.code)
	}
}

// TestListTransactionsPages reads all pages while other transactions are created. Each transaction
// is listed once.
func TestListTransactionsPages(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	want := map[string]bool{}
	for range 25 {
		want[u.spend(wallet, category, "1")] = true
	}
	listed := map[string]bool{}
	for cursor := ""; ; {
		a := u.get("/api/v1/transaction?limit=4&cursor=" + cursor).ok("TRANSACTIONS_FETCHED")
		for _, tr := range a.list("transactions") {
			id := tr.(object)["id"].(string)
			require.False(t, listed[id], "listed twice")
			listed[id] = true
		}
		if cursor = a.text("pagination.nextCursor"); a.at("pagination.hasMore") == false {
			break
		}
		u.spend(wallet, category, "1")
	}
	for id := range want {
		require.True(t, listed[id], "not listed")
	}
}

// TestTransactionTotals compares the totals of a filtered list with its pages, and checks that they
// are optional.
func TestTransactionTotals(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	u.spend(wallet, category, "3.50")
	u.spend(wallet, category, "0.25")
	yen := expense(wallet, category, "700")
	yen["currency"], yen["type"] = "JPY", "income"
	u.record(yen)

	plain := u.get("/api/v1/transaction?limit=1").ok("TRANSACTIONS_FETCHED")
	require.NotContains(t, plain.body, "totals")
	require.NotContains(t, plain.body, "capped")
	first := u.get("/api/v1/transaction?limit=1&include=totals").ok("TRANSACTIONS_FETCHED")
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
	require.Equal(t, want, u.get(next+"&include=totals").ok("TRANSACTIONS_FETCHED").list("totals"))
	require.NotContains(t, u.get(next).ok("TRANSACTIONS_FETCHED").body, "totals")
	require.Equal(t, want[:1], u.get("/api/v1/transaction?type=expense&q=&walletId="+wallet+
		"&include=totals").ok("TRANSACTIONS_FETCHED").list("totals"))
	require.Empty(t, u.get("/api/v1/transaction?currency=USD&include=totals").
		ok("TRANSACTIONS_FETCHED").list("totals"))
	require.Empty(t, stranger.get("/api/v1/transaction?include=totals").ok("TRANSACTIONS_FETCHED").
		list("totals"))
	stranger.get("/api/v1/transaction?include=totals&walletId="+wallet).
		fails(404, "WALLET_NOT_FOUND")
	for _, query := range []string{
		"include=", "include=sums", "include=totals,totals", "include=totals&include=daily",
	} {
		u.get("/api/v1/transaction?" + query).invalid("include")
	}
}

func TestWalletsAndCategories(t *testing.T) {
	t.Parallel()
	u, stranger := newUser(t), newUser(t)
	w := u.post("/api/v1/wallet", object{"name": " Cash ", "currency": "jpy", "balance": -5}).
		created("WALLET_CREATED")
	id := w.text("wallet.id")
	require.Equal(t, []string{"Cash", "JPY", "-5", "-5", "false"}, w.texts("wallet.name",
		"wallet.currency", "wallet.balance", "wallet.initialBalance", "wallet.archived"))
	require.Equal(t, id, u.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	require.Equal(t, "true", u.patch("/api/v1/wallet/"+id, object{"archived": true}).
		ok("WALLET_UPDATED").text("wallet.archived"))
	u.patch("/api/v1/wallet/"+id, object{"name": ""}).invalid("name")
	u.post("/api/v1/wallet", object{}).invalid("name", "currency")
	u.post("/api/v1/wallet", object{"name": "A", "currency": "QQQ"}).
		fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
	u.post("/api/v1/wallet", object{
		"name": "A", "currency": "EUR", "balance": json.Number("0.001"),
	}).invalid("balance")

	c := u.post("/api/v1/categories", object{"name": "Food"}).created("CATEGORY_CREATED").
		text("category.id")
	u.post("/api/v1/categories", object{"name": "FOOD"}).fails(409, "CATEGORY_ALREADY_EXISTS")
	u.post("/api/v1/categories", object{"name": strings.Repeat("é", 101)}).invalid("name")
	require.Equal(t, "Meals", u.patch("/api/v1/categories/"+c, object{"name": "Meals"}).
		ok("CATEGORY_UPDATED").text("category.name"))
	u.category("Fun")
	u.patch("/api/v1/categories/"+c, object{"name": "fun"}).fails(409, "CATEGORY_ALREADY_EXISTS")
	require.Equal(t, "Meals", u.get("/api/v1/categories/"+c).ok("CATEGORY_FETCHED").
		text("category.name"))
	require.Len(t, u.get("/api/v1/categories").ok("CATEGORIES_FETCHED").list("categories"), 2)

	euros := u.wallet("EUR", "0")
	tr := u.spend(euros, c, "3")
	u.del("/api/v1/wallet/"+euros).fails(409, "WALLET_IN_USE")
	u.del("/api/v1/categories/"+c).fails(409, "CATEGORY_IN_USE")
	u.del("/api/v1/categories/"+c+"?reassignTo="+c).fails(400, "VALIDATION_ERROR")
	target := u.category("Target")
	u.del("/api/v1/categories/" + c + "?reassignTo=" + target).ok("CATEGORY_DELETED")
	require.Equal(t, target, u.get("/api/v1/transaction/"+tr).text("transaction.categoryId"))
	u.del("/api/v1/transaction/" + tr).ok("TRANSACTION_DELETED")
	require.Equal(t, euros, u.del("/api/v1/wallet/"+euros).ok("WALLET_DELETED").text("id"))

	for _, x := range []struct{ path, theirs, code, change string }{
		{"/api/v1/wallet/", stranger.wallet("EUR", "0"), "WALLET_NOT_FOUND", "name"},
		{"/api/v1/categories/", stranger.category("A"), "INVALID_CATEGORY_EXIST_PARAMS", "name"},
	} {
		for id, status := range map[string]int{"x": 400, uuid.NewString(): 404, x.theirs: 404} {
			u.get(x.path+id).fails(status, x.code)
			u.patch(x.path+id, object{x.change: "Mine"}).fails(status, x.code)
			u.del(x.path+id).fails(status, x.code)
		}
	}
}

// TestWalletOpeningDate corrects an opening balance and its day, and compares past balances of the
// dashboard.
func TestWalletOpeningDate(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	created := u.post("/api/v1/wallet", object{"name": "Cash", "currency": "EUR", "balance": 1000}).
		created("WALLET_CREATED")
	id := created.text("wallet.id")
	require.Equal(t, time.Now().UTC().Format(time.DateOnly), created.text("wallet.openingDate"))
	u.record(with(expense(id, u.category("Food"), "3"), object{"date": "2020-01-10"}))
	past := func() [2]string {
		r := u.get("/api/v1/dashboard/summary?from=2020-01-01&to=2020-01-31").
			ok("DASHBOARD_SUMMARY_FETCHED")
		return [2]string{r.text("summary.previous.0.balance"), r.text("summary.totals.0.balance")}
	}
	require.Equal(t, [2]string{"0.00", "-3.00"}, past())

	changed := u.patch("/api/v1/wallet/"+id, object{
		"initialBalance": json.Number("50.5"), "openingDate": "2020-01-31",
	}).ok("WALLET_UPDATED")
	require.Equal(t, []string{"50.50", "47.50", "2020-01-31"},
		changed.texts("wallet.initialBalance", "wallet.balance", "wallet.openingDate"))
	require.Equal(t, [2]string{"0.00", "47.50"}, past())
	always := u.patch("/api/v1/wallet/"+id, object{"openingDate": nil}).ok("WALLET_UPDATED")
	require.NotContains(t, always.at("wallet"), "openingDate")
	require.Equal(t, [2]string{"50.50", "47.50"}, past())

	for field, bad := range map[string][]any{
		"openingDate":    {"2026-02-30", "20260201", "2026-02-01T00:00:00Z", "1899-12-31", 7},
		"initialBalance": {"much", json.Number("0.001"), json.Number("1e12")},
	} {
		for _, value := range bad {
			u.patch("/api/v1/wallet/"+id, object{field: value}).invalid(field)
		}
	}
	u.post("/api/v1/wallet", object{"name": "A", "currency": "EUR", "openingDate": "tomorrow"}).
		invalid("openingDate")
}

// TestWalletAndCategoryAppearance sets, reads and removes the fields that clients show. They change
// no balance.
func TestWalletAndCategoryAppearance(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	plain := u.wallet("EUR", "0")
	w := u.post("/api/v1/wallet", object{
		"name": "Cash", "currency": "EUR", "balance": 5, "color": "#2F6F4F", "icon": "💶",
		"position": 2,
	}).created("WALLET_CREATED")
	id := w.text("wallet.id")
	require.Equal(t, []string{"#2F6F4F", "💶", "2"},
		w.texts("wallet.color", "wallet.icon", "wallet.position"))
	require.NotContains(t, u.get("/api/v1/wallet/"+plain).at("wallet"), "color")
	require.NotContains(t, u.get("/api/v1/wallet/"+plain).at("wallet"), "position")
	require.Equal(t, id, u.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	u.patch("/api/v1/wallet/"+plain, object{"position": 0}).ok("WALLET_UPDATED")
	require.Equal(t, plain, u.get("/api/v1/wallet").ok("WALLETS_FETCHED").text("wallets.0.id"))
	changed := u.patch("/api/v1/wallet/"+id, object{"icon": "🏦"}).ok("WALLET_UPDATED")
	require.Equal(t, []string{"#2F6F4F", "🏦", "2", "5.00"},
		changed.texts("wallet.color", "wallet.icon", "wallet.position", "wallet.balance"))
	cleared := u.patch("/api/v1/wallet/"+id, object{"color": nil, "icon": "", "position": nil}).
		ok("WALLET_UPDATED").at("wallet")
	for _, field := range []string{"color", "icon", "position"} {
		require.NotContains(t, cleared, field)
	}
	for field, bad := range map[string][]any{
		"color": {"2F6F4F", "#2F6F4", "red", 7}, "icon": {"A", "👨‍👩‍👧", "🍎🍎", 7},
		"position": {-1, 1_000_001, json.Number("1.5"), "1", json.Number("1e99")},
	} {
		for _, value := range bad {
			u.patch("/api/v1/wallet/"+id, object{field: value}).invalid(field)
			u.post("/api/v1/wallet", object{"name": "A", "currency": "EUR", field: value}).
				invalid(field)
		}
	}
	u.patch("/api/v1/wallet/"+id, object{"color": "#000000"}, "If-Match", `"1"`).
		fails(412, "VERSION_MISMATCH")

	c := u.post("/api/v1/categories", object{
		"name": "Pay", "color": "#000000", "icon": "🧾", "kind": "income",
	}).created("CATEGORY_CREATED")
	category := "/api/v1/categories/" + c.text("category.id")
	require.Equal(t, []string{"#000000", "🧾", "income"},
		c.texts("category.color", "category.icon", "category.kind"))
	require.Equal(t, "both", u.patch(category, object{"kind": "both"}).ok("CATEGORY_UPDATED").
		text("category.kind"))
	require.Equal(t, "Pay", u.get(category).ok("CATEGORY_FETCHED").text("category.name"))
	cleared = u.patch(category, object{"color": nil, "icon": nil, "kind": nil}).
		ok("CATEGORY_UPDATED").at("category")
	for _, field := range []string{"color", "icon", "kind"} {
		require.NotContains(t, cleared, field)
	}
	for field, value := range map[string]any{"color": "blue", "icon": "🍎🍎", "kind": "transfer"} {
		u.patch(category, object{field: value}).invalid(field)
		u.post("/api/v1/categories", object{"name": "A", field: value}).invalid(field)
	}
	// A kind restricts no transaction.
	u.patch(category, object{"kind": "income"}).ok("CATEGORY_UPDATED")
	u.spend(id, c.text("category.id"), "1")
}

// TestTypicalMonth combines wallets, income, expenses, a shared budget, a receipt and the dashboard
// over one month.
func TestTypicalMonth(t *testing.T) {
	t.Parallel()
	ada, bob := newUser(t), newUser(t)
	bank, cash := ada.wallet("EUR", "500"), ada.wallet("EUR", "20")
	food, pay := ada.category("Food"), ada.category("Pay")
	ada.record(object{
		"amount": json.Number("2100.00"), "date": "2026-03-01", "currency": "EUR", "walletId": bank,
		"categoryId": pay, "type": "income",
	})
	budget := ada.post("/api/v1/budgets", object{
		"name": "Eating", "currency": "EUR", "limit": 50, "period": "monthly",
		"startDate": "2026-03-01", "walletId": cash, "categoryIds": []string{food},
	}).created("BUDGET_CREATED").text("budget.id")
	ada.post("/api/v1/budgets/"+budget+"/share", object{
		"email": bob.email, "role": "viewer", "sharePercent": 40,
	}).is(http.StatusCreated, "BUDGET_SHARED")
	bob.patch("/api/v1/budgets/"+budget+"/members/"+bob.id, object{"status": "accepted"})

	var last string
	for i := range 6 {
		last = ada.record(object{
			"amount": json.Number("7.15"), "date": fmt.Sprintf("2026-03-%02d", 2+i),
			"currency": "EUR", "walletId": cash, "categoryId": food, "type": "expense",
		})
	}
	require.Equal(t, "-22.90", ada.balance(cash))
	seen := bob.get("/api/v1/budgets/" + budget + "?at=2026-03-31").ok("BUDGET_FETCHED")
	require.Equal(t, []string{"42.90", "7.10", "near"},
		seen.texts("budget.progress.spent", "budget.progress.remaining", "budget.progress.state"))
	ada.patch("/api/v1/transaction/"+last,
		object{"amount": json.Number("17.15"), "walletId": bank}).ok("TRANSACTION_UPDATED")
	require.Equal(t, "-15.75", ada.balance(cash))
	require.Equal(t, "2582.85", ada.balance(bank))
	require.Equal(t, "35.75", bob.get("/api/v1/budgets/"+budget+"?at=2026-03-31").
		text("budget.progress.spent"))

	receipt := "CORNER SHOP\n2026-03-20\nMilk 1.50\nBread 2.50\nTOTAL EUR 4.00\nCash " +
		"5.00\nChange 1.00\n"
	read := ada.upload("", []byte(receipt), "walletId", cash, "categoryId", food).
		created("RECEIPT_TRANSACTIONS_CREATED")
	require.Equal(t, "4.00", read.text("receipt.total"))
	require.Equal(t, "-19.75", ada.balance(cash))
	summary := ada.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31")
	require.Equal(t, []string{"2100.00", "56.90", "2563.10"}, summary.texts(
		"summary.totals.0.income", "summary.totals.0.expense", "summary.totals.0.balance",
	))
	bob.get("/api/v1/transaction/"+last).fails(403, "TRANSACTION_OWNER_MISMATCH")
	ada.del("/api/v1/budgets/" + budget).ok("BUDGET_DELETED")
	bob.get("/api/v1/budgets/"+budget).fails(404, "BUDGET_NOT_FOUND")
}

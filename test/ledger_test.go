package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestTransactionLifecycle creates, reads, updates and deletes a transaction, and compares each
// response with the specification.
func TestTransactionLifecycle(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")

	created := me.post("/api/v1/transaction", object{
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
	require.Equal(t, "87.50", me.balance(wallet))
	require.Equal(t, "-12.50", me.get("/api/v1/transaction/"+strings.ToUpper(id)).
		ok("TRANSACTION_FETCHED").text("transaction.amount"))
	require.Equal(t, id, me.get("/api/v1/transaction").ok("TRANSACTIONS_FETCHED").
		text("transactions.0.id"))

	updated := me.patch("/api/v1/transaction/"+id, object{"amount": 20, "description": nil}).
		ok("TRANSACTION_UPDATED")
	require.Equal(t, "-20.00", updated.text("transaction.amount"))
	require.Equal(t, "80.00", me.balance(wallet))
	me.patch("/api/v1/transaction/"+id, object{"type": "income"}).ok("TRANSACTION_UPDATED")
	require.Equal(t, "120.00", me.balance(wallet))

	require.Equal(t, id, me.del("/api/v1/transaction/"+id).ok("TRANSACTION_DELETED").text("id"))
	require.Equal(t, "100.00", me.balance(wallet))
	me.get("/api/v1/transaction/"+id).fails(404, "TRANSACTION_NOT_FOUND")
}

// TestCreateTransactions creates the maximum of 500 transactions in one request, and repeats the
// request with the same key.
func TestCreateTransactions(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	var items []object
	for i := range 500 {
		items = append(items, expense(wallet, category, strconv.Itoa(i+1)))
	}
	key := uuid.NewString()
	reply := me.post("/api/v1/transaction/batch", batch(items...), "Idempotency-Key", key).
		created("TRANSACTIONS_CREATED")
	require.Len(t, reply.list("transactions"), 500)
	require.Equal(t, "-7.00", reply.text("transactions.6.amount"))
	require.Equal(t, "-125250.00", me.balance(wallet))
	again := me.post("/api/v1/transaction/batch", batch(items...), "Idempotency-Key", key).
		created("TRANSACTIONS_CREATED")
	require.JSONEq(t, string(reply.raw), string(again.raw))
	require.Equal(t, "-125250.00", me.balance(wallet))

	me.post("/api/v1/transaction/batch", batch()).invalid("transactions")
	me.post("/api/v1/transaction/batch", batch(append(items, items[0])...)).invalid("transactions")
	me.post("/api/v1/transaction/batch",
		object{"transactions": []any{1}}).invalid("transactions[0]")
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
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	theirWallet, theirCategory := stranger.wallet("EUR", "0"), stranger.category("Food")
	id := me.spend(wallet, category, "5")
	before := string(me.get("/api/v1/transaction").raw) + me.balance(wallet)
	for name, tc := range map[string]struct {
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
			body[tc.field] = tc.value
			me.post("/api/v1/transaction", body).fails(tc.status, tc.code).blames(tc.field)
			me.post("/api/v1/transaction/batch", batch(expense(wallet, category, "1"), body)).
				fails(tc.status, tc.code).blames("transactions[1]." + tc.field)
			me.patch("/api/v1/transaction/batch", changesOf(object{"id": id, tc.field: tc.value})).
				fails(tc.status, tc.code).blames("items[0]." + tc.field)
			me.patch("/api/v1/transaction/"+id, object{tc.field: tc.value}).fails(tc.status,
				tc.code).
				blames(tc.field)
		})
	}
	for _, field := range []string{"amount", "date", "currency", "walletId", "categoryId"} {
		body := expense(wallet, category, "1")
		delete(body, field)
		me.post("/api/v1/transaction", body).invalid(field)
	}
	a := me.post("/api/v1/transaction", object{
		"amount": 1, "date": "x", "currency": "EUR", "walletId": wallet, "categoryId": category,
	})
	require.Equal(t, "Invalid transaction date", a.text("message"))
	me.post("/api/v1/transaction", `{"amount":1,"amount":2}`).fails(400, "VALIDATION_ERROR")
	require.Equal(t, before, string(me.get("/api/v1/transaction").raw)+me.balance(wallet))
}

// changesOf returns the body that changes several transactions.
func changesOf(changes ...object) object { return object{"items": changes} }

// TestTransactionIDs uses malformed ids, unknown ids and an id of another user.
func TestTransactionIDs(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
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
		me.get(path).fails(want.status, want.code)
		me.patch(path, object{"amount": 1}).fails(want.status, want.code)
		me.del(path).fails(want.status, want.code)
		me.patch("/api/v1/transaction/batch", changesOf(object{"id": id, "amount": 1})).
			fails(want.status, want.code).blames("items[0]")
		me.post("/api/v1/transaction/batch/delete", object{"ids": []any{id}}).
			fails(want.status, want.code)
	}
	require.Equal(t, "-5.00", stranger.get("/api/v1/transaction/"+theirs).
		text("transaction.amount"))
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

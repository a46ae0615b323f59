package test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// moves returns the body of a transfer.
func moves(from, to, amount string) object {
	return object{
		"fromWalletId": from, "toWalletId": to, "amount": json.Number(amount), "date": "2026-03-14",
		"description": "card",
	}
}

// TestTransferLifecycle creates, reads, changes, unlinks, matches and deletes a transfer. The
// totals and the progress of a budget stay the same.
func TestTransferLifecycle(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	cash, bank, food := me.wallet("EUR", "100"), me.wallet("EUR", "0"), me.category("Food")
	me.record(expense(cash, food, "10"))
	budget := me.budget(cash, food)
	unchanged := func() {
		t.Helper()
		summary := me.get("/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31").
			ok("DASHBOARD_SUMMARY_FETCHED")
		require.Equal(t, "10.00", summary.text("summary.totals.0.expense"))
		require.Equal(t, "0.00", summary.text("summary.totals.0.income"))
		require.Equal(t, "1", summary.text("summary.totals.0.transactionCount"))
		require.Equal(t, "90.00", summary.text("summary.totals.0.balance"))
		require.Len(t, summary.list("summary.recentTransactions"), 1)
		require.Equal(t, "10.00", me.get("/api/v1/budgets/"+budget+"?at=2026-03-20").
			ok("BUDGET_FETCHED").text("budget.progress.spent"))
	}
	unchanged()

	key := uuid.NewString()
	created := me.post("/api/v1/transfers", moves(cash, bank, "40"), "Idempotency-Key", key).
		created("TRANSFER_CREATED")
	id := created.text("transfer.id")
	out := created.text("transfer.outTransactionId")
	in := created.text("transfer.inTransactionId")
	require.Equal(t, "1", created.text("transfer.rate"))
	require.Equal(t, `"1"`, created.header.Get("ETag"))
	again := me.post("/api/v1/transfers", moves(cash, bank, "40"), "Idempotency-Key", key).
		created("TRANSFER_CREATED")
	require.JSONEq(t, string(created.raw), string(again.raw))
	require.Equal(t, "50.00", me.balance(cash))
	require.Equal(t, "40.00", me.balance(bank))
	unchanged()

	path := "/api/v1/transfers/" + id
	copied := me.get("/api/v1/changes").ok("CHANGES_FETCHED")
	require.Equal(t, []any{me.get(path).ok("TRANSFER_FETCHED").at("transfer")},
		copied.list("changes.transfers"))
	require.Empty(t, copied.list("changes.recurrences"))
	me.patch(path, object{"amount": 30}, "If-Match", `"1"`).ok("TRANSFER_UPDATED")
	me.patch(path, object{"amount": 20}, "If-Match", `"1"`).fails(412, "VERSION_MISMATCH")
	require.Equal(t, "30.00", me.get(path).ok("TRANSFER_FETCHED").text("transfer.toAmount"))
	require.Equal(t, id, me.get("/api/v1/transfers?walletId="+bank).ok("TRANSFERS_FETCHED").
		text("transfers.0.id"))
	require.Len(t, me.get("/api/v1/transaction?type=transfer").ok("TRANSACTIONS_FETCHED").
		list("transactions"), 2)
	require.Len(t, me.get("/api/v1/transaction?type=expense").ok("TRANSACTIONS_FETCHED").
		list("transactions"), 1)
	require.Empty(t, me.get("/api/v1/transaction?type=income").ok("TRANSACTIONS_FETCHED").
		list("transactions"))
	me.patch("/api/v1/transaction/"+in, object{"description": "rent", "date": "2026-03-15"}).
		ok("TRANSACTION_UPDATED")
	require.Equal(t, "rent", me.get("/api/v1/transaction/"+out).ok("TRANSACTION_FETCHED").
		text("transaction.description"))
	refused := me.patch("/api/v1/transaction/"+in, object{"amount": 5}).
		fails(409, "TRANSACTION_IS_TRANSFER")
	refused.blames("amount")
	require.Contains(t, refused.text("message"), id)
	me.patch("/api/v1/transaction/batch", changesOf(object{"id": in, "amount": 5})).
		fails(409, "TRANSACTION_IS_TRANSFER").blames("items[0].amount")
	me.patch("/api/v1/transaction/batch", changesOf(object{"id": in, "payee": "x", "etag": `"1"`})).
		fails(412, "VERSION_MISMATCH").blames("items[0]")
	me.del("/api/v1/wallet/"+bank).fails(409, "WALLET_IN_USE")
	unchanged()

	// Another category than the budget's, so that the two transactions do not count.
	require.Equal(t, []any{"Card"}, me.patch(path, object{"tags": []any{"Card", "CARD"}}).
		ok("TRANSFER_UPDATED").at("transfer.tags"))
	require.Equal(t, []any{"Card"}, me.get("/api/v1/transaction/"+in).ok("TRANSACTION_FETCHED").
		at("transaction.tags"))
	me.patch(path, object{"tags": []any{"a/b"}}).invalid("tags[0]")
	require.NotContains(t, me.patch(path, object{"tags": []any{}}).ok("TRANSFER_UPDATED").
		at("transfer"), "tags")
	pair := me.post(path+"/unlink", object{"categoryId": me.category("Unsorted")}).
		ok("TRANSFER_UNLINKED")
	require.Equal(t, "expense", pair.text("transactions.0.type"))
	require.Equal(t, "income", pair.text("transactions.1.type"))
	me.get(path).fails(404, "TRANSFER_NOT_FOUND")
	window := "/api/v1/transfers/suggestions?from=2026-03-01&to=2026-03-31"
	suggested := me.get(window).ok("TRANSFER_SUGGESTIONS_FETCHED")
	require.Equal(t, out, suggested.text("suggestions.0.outTransaction.id"))
	require.Equal(t, in, suggested.text("suggestions.0.inTransaction.id"))
	matched := me.post("/api/v1/transfers/match",
		object{"outTransactionId": out, "inTransactionId": in}).created("TRANSFER_CREATED")
	require.Empty(t, me.get(window).ok("TRANSFER_SUGGESTIONS_FETCHED").list("suggestions"))
	unchanged()

	me.del("/api/v1/transaction/" + in).ok("TRANSACTION_DELETED")
	me.get("/api/v1/transaction/"+out).fails(404, "TRANSACTION_NOT_FOUND")
	me.get("/api/v1/transfers/"+matched.text("transfer.id")).fails(404, "TRANSFER_NOT_FOUND")
	require.Equal(t, "90.00", me.balance(cash))
	unchanged()
}

// TestTransferErrors causes each error of the operations of transfers.
func TestTransferErrors(t *testing.T) {
	t.Parallel()
	me, other := newUser(t), newUser(t)
	cash, bank, food := me.wallet("EUR", "0"), me.wallet("EUR", "0"), me.category("Food")
	theirs := other.post("/api/v1/transaction",
		expense(other.wallet("EUR", "0"), other.category("Food"), "1")).text("transaction.id")
	mine := me.record(expense(cash, food, "1"))
	key := uuid.NewString()
	id := me.post("/api/v1/transfers", moves(cash, bank, "1"), "Idempotency-Key", key).
		created("TRANSFER_CREATED").text("transfer.id")
	path, unknown := "/api/v1/transfers/"+id, uuid.NewString()

	for code, change := range map[string]object{
		"TRANSFER_AMOUNT_MISMATCH": {"toAmount": 2}, "TRANSFER_SAME_WALLET": {"toWalletId": cash},
		"INVALID_TRANSACTION_DATE": {"date": "soon"},
		"UNSUPPORTED_CURRENCY":     {"toCurrency": "XXX"}, "WALLET_NOT_FOUND": {"toWalletId": "x"},
		"VALIDATION_ERROR": {"toCurrency": "USD"},
	} {
		me.post("/api/v1/transfers", with(moves(cash, bank, "1"), change)).fails(400, code)
		me.patch(path, change).fails(400, code)
	}
	me.post("/api/v1/transfers", moves(cash, unknown, "1")).fails(404, "WALLET_NOT_FOUND").
		blames("toWalletId")
	me.post("/api/v1/transfers", moves(cash, bank, "2"), "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.patch(path, object{"fromWalletId": unknown}).fails(404, "WALLET_NOT_FOUND").
		blames("fromWalletId")
	me.patch(path, object{}).fails(400, "EMPTY_UPDATE")
	me.get("/api/v1/transfers?walletId=x").fails(400, "WALLET_NOT_FOUND")
	me.get("/api/v1/transfers?walletId="+unknown).fails(404, "WALLET_NOT_FOUND")
	for _, list := range []string{"/api/v1/transfers", "/api/v1/transfers/suggestions"} {
		me.get(list+"?from=x").fails(400, "INVALID_TRANSACTION_DATE")
	}
	me.get("/api/v1/transfers?cursor=x").fails(400, "INVALID_CURSOR")
	for _, c := range []struct {
		id, code string
		status   int
	}{{"x", "INVALID_TRANSFER_ID", 400}, {unknown, "TRANSFER_NOT_FOUND", 404}} {
		missing := "/api/v1/transfers/" + c.id
		me.get(missing).fails(c.status, c.code)
		me.patch(missing, object{"amount": 1}).fails(c.status, c.code)
		me.del(missing).fails(c.status, c.code)
		me.post(missing+"/unlink", object{"categoryId": food}).fails(c.status, c.code)
	}
	for _, request := range []func() response{
		func() response { return other.get(path) },
		func() response { return other.patch(path, object{"amount": 2}) },
		func() response { return other.del(path) },
		func() response {
			return other.post(path+"/unlink", object{"categoryId": other.category("Mine")})
		},
	} {
		request().fails(404, "TRANSFER_NOT_FOUND")
	}
	me.del(path, "If-Match", `"9"`).fails(412, "VERSION_MISMATCH")

	match := func(out, in string, headers ...string) response {
		return me.post("/api/v1/transfers/match",
			object{"outTransactionId": out, "inTransactionId": in}, headers...)
	}
	match(mine, mine).fails(400, "TRANSFER_LEGS_UNFIT").blames("inTransactionId")
	match("x", mine).fails(400, "INVALID_TRANSACTION_ID").blames("outTransactionId")
	match(mine, unknown).fails(404, "TRANSACTION_NOT_FOUND").blames("inTransactionId")
	match(mine, theirs).fails(403, "TRANSACTION_OWNER_MISMATCH").blames("inTransactionId")
	match(mine, mine, "Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.post(path+"/unlink", object{"categoryId": unknown}).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS").blames("categoryId")
	me.post(path+"/unlink", object{"categoryId": "x"}).fails(400, "INVALID_CATEGORY_EXIST_PARAMS").
		blames("categoryId")
	me.post(path+"/unlink", object{"categoryId": food}, "Idempotency-Key", key).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.del(path).ok("TRANSFER_DELETED")
}

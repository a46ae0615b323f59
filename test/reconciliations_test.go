package test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestAdjustments(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	path := "/api/v1/wallet/" + wallet + "/adjustments"
	body := object{"date": "2026-03-31", "balance": 150.5, "description": "House"}
	created := me.post(path, body).created("ADJUSTMENT_CREATED")
	id := created.text("transaction.id")
	require.Equal(t, "/api/v1/transaction/"+id, created.header.Get("Location"))
	require.Equal(t, []string{"adjustment", "false"},
		created.texts("transaction.type", "transaction.cleared"))
	require.Nil(t, me.post(path, body).ok("ADJUSTMENT_UNNECESSARY").at("transaction"))
	me.post("/api/v1/wallet/x/adjustments", body).fails(400, "WALLET_NOT_FOUND")
	theirs := "/api/v1/wallet/" + stranger.wallet("EUR", "0") + "/adjustments"
	me.post(theirs, body).fails(404, "WALLET_NOT_FOUND")
	me.post(path, object{"balance": 1}).fails(400, "INVALID_TRANSACTION_DATE").blames("date")
	me.post(path, object{"date": "2026-03-31"}).invalid("balance")
	me.post(path, object{"date": "2026-03-31", "balance": 1, "currency": "QQQ"}).
		fails(400, "UNSUPPORTED_CURRENCY").blames("currency")

	// An adjustment counts in balances and lists only.
	require.Equal(t, "150.50", me.get("/api/v1/wallet/"+wallet).text("wallet.balance"))
	list := me.get("/api/v1/transaction?include=totals&type=adjustment").ok("TRANSACTIONS_FETCHED")
	require.Equal(t, []string{id, "1", "0.00", "0.00"}, list.texts("transactions.0.id",
		"totals.0.count", "totals.0.income", "totals.0.expense"))
	require.Empty(t, me.get("/api/v1/transaction?type=income").list("transactions"))
	me.get("/api/v1/reports/series?from=2026-03-01&to=2026-03-31&type=adjustment").invalid("type")
	me.patch("/api/v1/transaction/"+id, object{"categoryId": category}).
		fails(409, "TRANSACTION_IS_ADJUSTMENT").blames("categoryId")
	me.patch("/api/v1/transaction/batch",
		object{"items": []any{object{"id": id, "type": "income"}}}).
		fails(409, "TRANSACTION_IS_ADJUSTMENT").blames("items[0].type")
	spent := me.spend(wallet, category, "3")
	me.post("/api/v1/transfers/match", object{
		"outTransactionId": spent, "inTransactionId": id,
	}).fails(400, "TRANSFER_LEGS_UNFIT").blames("inTransactionId")
	me.patch("/api/v1/transaction/"+spent, object{"cleared": true}).ok("TRANSACTION_UPDATED")
	require.Equal(t, spent,
		me.get("/api/v1/transaction?cleared=true").list("transactions")[0].(object)["id"])
	require.Equal(t, id,
		me.get("/api/v1/transaction?cleared=false").list("transactions")[0].(object)["id"])

	key := []string{"Idempotency-Key", uuid.NewString()}
	me.call("POST", path, object{"date": "2026-04-01", "balance": 1}, key...).
		created("ADJUSTMENT_CREATED")
	me.call("POST", path, object{"date": "2026-04-01", "balance": 2}, key...).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")
	me.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
}

func TestReconciliations(t *testing.T) {
	t.Parallel()
	me, stranger := newUser(t), newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	path := "/api/v1/wallet/" + wallet
	spent := me.spend(wallet, category, "3")
	me.patch("/api/v1/transaction/"+spent, object{"cleared": true}).ok("TRANSACTION_UPDATED")
	transfer := me.post("/api/v1/transfers", object{
		"fromWalletId": wallet, "toWalletId": me.wallet("EUR", "0"), "amount": 5,
		"date": "2026-03-20",
	}).created("TRANSFER_CREATED")
	leg := transfer.text("transfer.outTransactionId")
	me.patch("/api/v1/transaction/"+leg, object{"cleared": true}).ok("TRANSACTION_UPDATED")
	compared := me.get(path + "?include=cleared&to=2026-03-31").ok("WALLET_FETCHED")
	require.Equal(t, []string{"92.00", "0", "0.00"}, compared.texts("cleared.0.balance",
		"cleared.0.uncleared.count", "cleared.0.uncleared.amount"))
	me.get(path + "?include=x").invalid("include")
	me.get(path+"?to=x").fails(400, "INVALID_TRANSACTION_DATE").blames("to")

	statement := object{"date": "2026-03-31", "balance": 90}
	differs := me.post(path+"/reconciliations", statement).fails(409, "BALANCE_DIFFERS")
	require.Equal(t, []string{"expected", "90.00", "-2.00"},
		differs.texts("details.0.field", "details.0.message", "details.2.message"))
	first := me.post(path+"/reconciliations", object{"date": "2026-03-31", "balance": 92}).
		created("WALLET_RECONCILED").text("reconciliation.id")
	second := me.post(path+"/reconciliations?adjust=true", statement).
		created("WALLET_RECONCILED").text("reconciliation.id")
	require.Len(t, me.get(path+"/reconciliations").ok("RECONCILIATIONS_FETCHED").
		list("reconciliations"), 2)
	me.get(path+"/reconciliations?cursor=x").fails(400, "INVALID_CURSOR")
	for _, theirs := range []string{"/api/v1/wallet/x", path} {
		status := map[bool]int{true: 400, false: 404}[theirs != path]
		stranger.get(theirs+"/reconciliations").fails(status, "WALLET_NOT_FOUND")
		stranger.post(theirs+"/reconciliations", statement).fails(status, "WALLET_NOT_FOUND")
	}
	me.post(path+"/reconciliations", object{"balance": 1}).
		fails(400, "INVALID_TRANSACTION_DATE").blames("date")
	me.post(path+"/reconciliations", object{"date": "2026-03-31"}).invalid("balance")
	me.post(path+"/reconciliations", with(statement, object{"currency": "QQQ"})).
		fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
	key := []string{"Idempotency-Key", uuid.NewString()}
	me.call("POST", path+"/reconciliations", statement, key...).created("WALLET_RECONCILED")
	me.call("POST", path+"/reconciliations", object{"date": "2026-03-30", "balance": 1}, key...).
		fails(409, "IDEMPOTENCY_KEY_CONFLICT")

	const locked = "TRANSACTION_RECONCILED"
	id := transfer.text("transfer.id")
	me.patch("/api/v1/transaction/"+spent, object{"amount": 4}).fails(409, locked)
	me.patch("/api/v1/transaction/batch", object{"items": []any{
		object{"id": spent, "amount": 4},
	}}).fails(409, locked)
	me.del("/api/v1/transaction/"+spent).fails(409, locked)
	me.post("/api/v1/transaction/batch/delete", object{"ids": []any{spent}}).fails(409, locked)
	me.patch("/api/v1/transfers/"+id, object{"amount": 4}).fails(409, locked)
	me.del("/api/v1/transfers/"+id).fails(409, locked)
	me.patch("/api/v1/transaction/"+spent+"?unlock=true", object{"amount": 4}).
		ok("TRANSACTION_UPDATED")
	me.del("/api/v1/transfers/" + id + "?unlock=true").ok("TRANSFER_DELETED")
	history := me.get(path + "/reconciliations").list("reconciliations")
	require.Equal(t, true, history[len(history)-1].(object)["differs"])

	me.del(path+"/reconciliations/x").fails(400, "RECONCILIATION_NOT_FOUND")
	me.del("/api/v1/wallet/x/reconciliations/"+first).fails(400, "WALLET_NOT_FOUND")
	stranger.del(path+"/reconciliations/"+first).fails(404, "RECONCILIATION_NOT_FOUND")
	me.del(path+"/reconciliations/"+second).fails(409, "RECONCILIATION_NOT_LATEST")
}

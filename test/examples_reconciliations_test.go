package test

import (
	"encoding/json"
	"net/http"
)

// reconciliations sets the balance of a wallet, and reconciles it.
func (r *recorder) reconciliations(me *user, wallet string) {
	path := "/api/v1/wallet/" + wallet
	valued := object{
		"date": "2026-03-31", "balance": json.Number("900.00"), "description": "Counted",
	}
	id := r.call(me, http.MethodPost, path+"/adjustments", valued).text("transaction.id")
	r.call(me, http.MethodPost, path+"/adjustments", valued)
	me.del("/api/v1/transaction/" + id).ok("TRANSACTION_DELETED")
	r.also(http.MethodGet, path, me.get(path+"?include=cleared"))
	statement := object{"date": "2026-03-31", "balance": json.Number("245.00")}
	id = r.call(me, http.MethodPost, path+"/reconciliations", statement).text("reconciliation.id")
	r.call(me, http.MethodGet, path+"/reconciliations", nil)
	r.call(me, http.MethodDelete, path+"/reconciliations/"+id, nil)
}

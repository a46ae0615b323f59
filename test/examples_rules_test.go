package test

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rules creates, changes, applies, undoes, orders and deletes a rule.
func (r *recorder) rules(me *user, wallet, category string) {
	id := r.call(me, http.MethodPost, "/api/v1/rules", me.rule(category)).text("rule.id")
	path := "/api/v1/rules/" + id
	r.call(me, http.MethodGet, "/api/v1/rules", nil)
	r.call(me, http.MethodGet, path+"?wait=0", nil)
	r.call(me, http.MethodPatch, path, object{"name": "Bakeries", "stop": true})
	r.call(me, http.MethodPost, "/api/v1/rules/order", object{"ids": []any{id}})
	paid := me.record(with(expense(wallet, category, "3"), object{"payee": "Bakery"}))
	r.call(me, http.MethodPost, path+"/apply",
		object{"from": "2026-01-01", "to": "2026-12-31", "dryRun": true})
	r.call(me, http.MethodPost, path+"/apply", object{"from": "2026-01-01"})
	me.awaitRule(path)
	r.call(me, http.MethodPost, path+"/undo", nil)
	me.awaitRule(path)
	me.del("/api/v1/transaction/" + paid).ok("TRANSACTION_DELETED")
	r.call(me, http.MethodPost, "/api/v1/suggestions", object{"items": []any{
		object{
			"payee": "Corner Bakery", "amount": json.Number("4.20"), "currency": "EUR",
			"type": "expense",
		},
	}})
	r.call(me, http.MethodDelete, path, nil)
}

// views creates, changes, lists and deletes a view.
func (r *recorder) views(me *user, category string) {
	id := r.call(me, http.MethodPost, "/api/v1/views",
		aView("Large expenses", "categoryId="+category+"&maxAmount=-100&sort=amount")).
		text("view.id")
	r.call(me, http.MethodPatch, "/api/v1/views/"+id, object{"name": "Large purchases"})
	r.call(me, http.MethodGet, "/api/v1/views", nil)
	r.call(me, http.MethodGet, "/api/v1/views/"+id, nil)
	r.call(me, http.MethodDelete, "/api/v1/views/"+id, nil)
}

// bakeries buys in three bakeries, whose payees differ only in their numbers.
func (u *user) bakeries(wallet, category string) {
	day := time.Now().UTC().Format(time.DateOnly)
	for _, payee := range []string{"Bakery 3", "Bakery 7", "BAKERY 12"} {
		u.record(with(expense(wallet, category, "3"), object{"payee": payee, "date": day}))
	}
}

// awaitRule waits until the job of a rule has ended.
func (u *user) awaitRule(path string) {
	require.EventuallyWithT(u.t, func(c *assert.CollectT) {
		require.Contains(c, []string{"done", "undone"}, u.get(path+"?wait=1").ok("RULE_FETCHED").
			text("rule.progress.status"))
	}, time.Minute, 10*time.Millisecond)
}

// imports reviews, commits and undoes an import. It leaves no transaction.
func (r *recorder) imports(me *user, wallet, category string) {
	file := "Date,Payee,Amount,Currency\n2026-04-02,Bakery,-3.50,EUR\n" +
		"2026-04-03,Employer,900.00,EUR\n"
	form, contentType := me.fileForm("april.csv", file, "walletId", wallet)
	made := me.call(http.MethodPost, "/api/v1/imports", form, "Content-Type", contentType)
	r.record(http.MethodPost, "/api/v1/imports", object{"walletId": wallet, "file": file}, made)
	path := "/api/v1/imports/" + made.text("import.id")
	r.call(me, http.MethodGet, "/api/v1/imports?limit=50", nil)
	r.call(me, http.MethodPatch, path, object{"defaults": object{
		"walletId": wallet, "expenseCategoryId": category, "incomeCategoryId": category,
	}})
	r.call(me, http.MethodPatch, path+"/rows",
		object{"rows": []any{object{"n": made.at("rows.0.n"), "description": "Bread"}}})
	r.call(me, http.MethodGet, path+"/rows?status=ready&limit=50", nil)
	r.call(me, http.MethodPost, path+"/commit", nil)
	me.awaitImport(path, "done")
	r.call(me, http.MethodPost, path+"/commit", nil)
	r.call(me, http.MethodPost, path+"/cancel", nil)
	r.call(me, http.MethodGet, path+"?wait=1", nil)
	large := "/api/v1/imports/" + me.importFile("Date,Payee,Amount,Currency\n"+
		strings.Repeat("2026-04-02,Bakery,-3.50,EUR\n", 2001), wallet).
		created("IMPORT_CREATED").text("import.id")
	r.call(me, http.MethodPatch, large+"?wait=0", object{"defaults": object{"currency": "EUR"}})
	r.call(me, http.MethodPost, large+"/cancel", nil)
	me.awaitImport(large, "preview")
	me.del(large).ok("IMPORT_DELETED")
	profiles := r.call(me, http.MethodGet, "/api/v1/imports/profiles", nil)
	r.call(me, http.MethodDelete, "/api/v1/imports/profiles/"+profiles.text("profiles.0.id"), nil)
	r.call(me, http.MethodPost, path+"/undo", object{"force": true})
	me.awaitImport(path, "undone")
	r.call(me, http.MethodPost, path+"/undo", object{"force": true})
	r.call(me, http.MethodDelete, path, nil)
}

// awaitImport waits until the job of an import has ended.
func (u *user) awaitImport(path, status string) {
	require.EventuallyWithT(u.t, func(c *assert.CollectT) {
		require.Equal(c, status, u.get(path+"?wait=1").ok("IMPORT_FETCHED").text("import.status"))
	}, time.Minute, 10*time.Millisecond)
}

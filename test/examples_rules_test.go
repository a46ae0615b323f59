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
func (r *recorder) rules(u *user, wallet, category string) {
	id := r.call(u, http.MethodPost, "/api/v1/rules", u.rule(category)).text("rule.id")
	path := "/api/v1/rules/" + id
	r.call(u, http.MethodGet, "/api/v1/rules", nil)
	r.call(u, http.MethodGet, path+"?wait=0", nil)
	r.call(u, http.MethodPatch, path, object{"name": "Bakeries", "stop": true})
	r.call(u, http.MethodPost, "/api/v1/rules/order", object{"ids": []any{id}})
	paid := u.record(with(expense(wallet, category, "3"), object{"payee": "Bakery"}))
	r.call(u, http.MethodPost, path+"/apply",
		object{"from": "2026-01-01", "to": "2026-12-31", "dryRun": true})
	r.call(u, http.MethodPost, path+"/apply", object{"from": "2026-01-01"})
	u.awaitRule(path)
	r.call(u, http.MethodPost, path+"/undo", nil)
	u.awaitRule(path)
	u.del("/api/v1/transaction/" + paid).ok("TRANSACTION_DELETED")
	r.call(u, http.MethodPost, "/api/v1/suggestions", object{"items": []any{
		object{
			"payee": "Corner Bakery", "amount": json.Number("4.20"), "currency": "EUR",
			"type": "expense",
		},
	}})
	r.call(u, http.MethodDelete, path, nil)
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
func (r *recorder) imports(u *user, wallet, category string) {
	file := "Date,Payee,Amount,Currency\n2026-04-02,Bakery,-3.50,EUR\n" +
		"2026-04-03,Employer,900.00,EUR\n"
	form, contentType := u.fileForm("april.csv", file, "walletId", wallet)
	made := u.call(http.MethodPost, "/api/v1/imports", form, "Content-Type", contentType)
	r.record(http.MethodPost, "/api/v1/imports", object{"walletId": wallet, "file": file}, made)
	path := "/api/v1/imports/" + made.text("import.id")
	r.call(u, http.MethodGet, "/api/v1/imports?limit=50", nil)
	r.call(u, http.MethodPatch, path, object{"defaults": object{
		"walletId": wallet, "expenseCategoryId": category, "incomeCategoryId": category,
	}})
	r.call(u, http.MethodPatch, path+"/rows",
		object{"rows": []any{object{"n": made.at("rows.0.n"), "description": "Bread"}}})
	r.call(u, http.MethodGet, path+"/rows?status=ready&limit=50", nil)
	r.call(u, http.MethodPost, path+"/commit", nil)
	u.awaitImport(path, "done")
	r.call(u, http.MethodPost, path+"/commit", nil)
	r.call(u, http.MethodPost, path+"/cancel", nil)
	r.call(u, http.MethodGet, path+"?wait=1", nil)
	large := "/api/v1/imports/" + u.importFile("Date,Payee,Amount,Currency\n"+
		strings.Repeat("2026-04-02,Bakery,-3.50,EUR\n", 2001), wallet).
		created("IMPORT_CREATED").text("import.id")
	r.call(u, http.MethodPatch, large+"?wait=0", object{"defaults": object{"currency": "EUR"}})
	r.call(u, http.MethodPost, large+"/cancel", nil)
	u.awaitImport(large, "preview")
	u.del(large).ok("IMPORT_DELETED")
	profiles := r.call(u, http.MethodGet, "/api/v1/imports/profiles", nil)
	r.call(u, http.MethodDelete, "/api/v1/imports/profiles/"+profiles.text("profiles.0.id"), nil)
	r.call(u, http.MethodPost, path+"/undo", object{"force": true})
	u.awaitImport(path, "undone")
	r.call(u, http.MethodPost, path+"/undo", object{"force": true})
	r.call(u, http.MethodDelete, path, nil)
}

// awaitImport waits until the job of an import has ended.
func (u *user) awaitImport(path, status string) {
	require.EventuallyWithT(u.t, func(c *assert.CollectT) {
		require.Equal(c, status, u.get(path+"?wait=1").ok("IMPORT_FETCHED").text("import.status"))
	}, time.Minute, 10*time.Millisecond)
}

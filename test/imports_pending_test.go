package test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// testPendingPayments books a payment before its bank does, and replaces it with the booking.
func testPendingPayments(t *testing.T) {
	me := newUser(t)
	wallet, category := me.wallet("EUR", "100"), me.category("Food")
	upload := func(rows string) string {
		file := "Date,Payee,Amount,Currency,Status\n" + rows
		path := "/api/v1/imports/" +
			me.importFile(file, wallet).created("IMPORT_CREATED").text("import.id")
		me.patch(path, object{"defaults": object{
			"walletId": wallet, "expenseCategoryId": category,
		}}).ok("IMPORT_UPDATED")
		return path
	}
	commit := func(path string) {
		require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
		me.awaitImport(path, "done")
	}
	first := upload("2026-04-02,Bakery,-3.50,EUR,Completed\n2026-04-03,Hotel,-40.00,EUR,Pending\n" +
		"2026-04-03,Bar,-5.00,EUR,Denied\n2026-04-03,Kiosk,-1.00,EUR,Zweifelhaft\n")
	counts := me.get(first).at("import.counts").(object)
	for status, want := range map[string]string{
		"ready": "1", "pending": "1", "skipped": "1", "invalid": "1", "total": "4",
	} {
		require.Equal(t, want, fmt.Sprint(counts[status]), status)
	}
	mapping := me.get(first).at("import.mapping").(object)
	me.patch(first, object{"mapping": with(mapping, object{
		"booked": []any{"Zweifelhaft"}, "void": []any{"zweifelhaft"},
	})}).fails(400, "VALIDATION_ERROR").blames("mapping.void[0]")
	me.patch(first, object{"mapping": with(mapping, object{"void": []any{"Zweifelhaft"}})}).
		ok("IMPORT_UPDATED")
	require.Equal(t, "2", me.get(first).text("import.counts.skipped"))
	pending := me.get(first + "/rows?status=pending").ok("IMPORT_ROWS_FETCHED")
	require.Len(t, pending.list("rows"), 1)
	require.Equal(t, "true", pending.text("rows.0.pending"))
	me.patch(first+"/rows", object{"rows": []any{
		object{"n": pending.at("rows.0.n"), "action": "book"},
	}}).ok("IMPORT_ROWS_UPDATED")
	commit(first)
	require.Equal(t, "56.50", me.balance(wallet))

	second := upload("2026-04-05,HOTEL BERLIN,-44.00,EUR,Completed\n")
	row := me.get(second + "/rows").ok("IMPORT_ROWS_FETCHED")
	require.Equal(t, "matched", row.text("rows.0.status"))
	require.Equal(t, "-40.00", row.text("rows.0.formerAmount"))
	commit(second)
	require.Equal(t, "52.50", me.balance(wallet))
	booked := me.get("/api/v1/transaction/" + row.text("rows.0.duplicateOf"))
	require.Equal(t, "-44.00", booked.text("transaction.amount"))
	require.Equal(t, "Hotel", booked.text("transaction.payee"))
	require.Equal(t, http.StatusAccepted, me.post(second+"/undo", nil).status)
	me.awaitImport(second, "undone")
	require.Equal(t, "56.50", me.balance(wallet))
}

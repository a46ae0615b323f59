package test

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportsMoving follows the steps of docs/moving.md for Actual over REST: upload, assignments,
// commit, comparison of the balances, and undo. Both rows of the transfer are one.
// TestMovingToCoffer checks the rows of all programs.
func TestImportsMoving(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	file, err := os.ReadFile("../services/ledger/imports/testdata/moving/actual.csv")
	require.NoError(t, err)
	path := "/api/v1/imports/" + me.importFile(string(file), "").created("IMPORT_CREATED").
		text("import.id")
	me.patch(path, object{
		"accounts": []any{
			object{"key": "Checking", "create": true}, object{"key": "Savings", "create": true},
		},
		"defaults": object{
			"currency": "EUR", "expenseCategoryId": me.category("Expenses"),
			"incomeCategoryId": me.category("Earnings"),
		},
	}).ok("IMPORT_UPDATED")
	require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
	me.awaitImport(path, "done")

	balances := func() map[any]string {
		byName := map[any]string{}
		for _, w := range me.get("/api/v1/wallet").ok("WALLETS_FETCHED").list("wallets") {
			byName[w.(object)["name"]] = me.balance(w.(object)["id"].(string))
		}
		return byName
	}
	imported := map[any]string{"Checking": "3077.25", "Savings": "300.00"}
	require.Equal(t, imported, balances())
	suggested := me.get("/api/v1/transfers/suggestions?from=2026-03-01&to=2026-03-31").
		ok("TRANSFER_SUGGESTIONS_FETCHED")
	require.Empty(t, suggested.list("suggestions"))
	require.Len(t, me.get("/api/v1/transaction?type=transfer").list("transactions"), 2)

	require.Equal(t, http.StatusAccepted, me.post(path+"/undo", nil).status)
	me.awaitImport(path, "undone")
	require.Empty(t, me.get("/api/v1/transaction").list("transactions"))
	require.Empty(t, balances())
}

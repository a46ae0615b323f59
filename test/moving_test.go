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
	u := newUser(t)
	file, err := os.ReadFile("../services/ledger/imports/testdata/moving/actual.csv")
	require.NoError(t, err)
	path := "/api/v1/imports/" + u.importFile(string(file), "").created("IMPORT_CREATED").
		text("import.id")
	u.patch(path, object{
		"accounts": []any{
			object{"key": "Checking", "create": true}, object{"key": "Savings", "create": true},
		},
		"defaults": object{
			"currency": "EUR", "expenseCategoryId": u.category("Expenses"),
			"incomeCategoryId": u.category("Earnings"),
		},
	}).ok("IMPORT_UPDATED")
	require.Equal(t, http.StatusAccepted, u.post(path+"/commit", nil).status)
	u.awaitImport(path, "done")

	balances := func() map[any]string {
		byName := map[any]string{}
		for _, w := range u.get("/api/v1/wallet").ok("WALLETS_FETCHED").list("wallets") {
			byName[w.(object)["name"]] = u.balance(w.(object)["id"].(string))
		}
		return byName
	}
	imported := map[any]string{"Checking": "3077.25", "Savings": "300.00"}
	require.Equal(t, imported, balances())
	suggested := u.get("/api/v1/transfers/suggestions?from=2026-03-01&to=2026-03-31").
		ok("TRANSFER_SUGGESTIONS_FETCHED")
	require.Empty(t, suggested.list("suggestions"))
	require.Len(t, u.get("/api/v1/transaction?type=transfer").list("transactions"), 2)

	require.Equal(t, http.StatusAccepted, u.post(path+"/undo", nil).status)
	u.awaitImport(path, "undone")
	require.Empty(t, u.get("/api/v1/transaction").list("transactions"))
	require.Empty(t, balances())
}

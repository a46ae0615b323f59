package test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoAccounts is a QIF file with both sides of a transfer in a split, and one side of another
// transfer. It has rows of both accounts.
const twoAccounts = `!Account
NChecking
^
!Type:Bank
D01/20/2026
T-74.12
SFood
$-24.12
S[Visa]
$-50.00
^
D01/21/2026
T-1.00
L[Visa]
^
!Account
NVisa
^
!Type:CCard
D01/20/2026
T50.00
L[Checking]
^
`

func TestImportTransfers(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	created := me.importFile(twoAccounts, "").created("IMPORT_CREATED")
	require.Equal(t, []any{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_UNPAIRED"},
		created.list("import.warnings"))
	require.Equal(t, "SPLITS_DIVIDED", created.text("import.assumptions.0.code"))
	require.Equal(t, "1", created.text("import.assumptions.0.rows.0"))
	require.Equal(t, "TRANSFERS_UNPAIRED", created.text("import.assumptions.1.code"))
	require.Equal(t, "3", created.text("import.assumptions.1.rows.0"))
	path := "/api/v1/imports/" + created.text("import.id")
	me.patch(path, object{
		"accounts": []any{
			object{"key": "Checking", "create": true}, object{"key": "Visa", "create": true},
		},
		"defaults": object{"currency": "EUR", "expenseCategoryId": me.category("Other")},
	}).ok("IMPORT_UPDATED")
	me.post(path+"/commit", nil).fails(http.StatusConflict, "IMPORT_NOT_READY").blames("force")
	me.patch(path, object{"confirm": []any{"TRANSFERS_UNPAIRED"}},
		"If-Match", me.get(path).header.Get("ETag")).ok("IMPORT_UPDATED")
	require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
	me.awaitImport(path, "done")
	balances := map[any]string{}
	for _, w := range me.get("/api/v1/wallet").ok("WALLETS_FETCHED").list("wallets") {
		balances[w.(object)["name"]] = me.balance(w.(object)["id"].(string))
	}
	require.Equal(t, map[any]string{"Checking": "-75.12", "Visa": "50.00"}, balances)
	require.Len(t, me.get("/api/v1/transaction?type=transfer").list("transactions"), 2)

	nameless := "/api/v1/imports/" +
		me.importFile(oneRow, "").created("IMPORT_CREATED").text("import.id")
	account := object{"key": "", "create": true}
	me.patch(nameless, object{"accounts": []any{account}}).invalid("accounts[0].name")
	me.patch(nameless, object{"accounts": []any{with(account, object{"name": "Main"})}}).
		ok("IMPORT_UPDATED")
}

package test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	statements "github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

const (
	qifBudget  = "!Type:Bank\nD01/20/2026\nT-1.00\nPBakery\n^\n!Type:Budget\nNFood\n^\n"
	qifSecured = "!Type:Bank\nD01/20/2026\nT-1.00\nPBakery\n^\n!Type:Invst\nD01/20/2026\nNBuy\n^\n"
)

// warned are files with the codes of their warnings.
var warned = []struct {
	name, file string
	codes      []string
	blocks     bool
}{
	{
		"days", "Date,Payee,Amount,Currency\n03/04/2026,Bakery,-3.50,EUR\n",
		[]string{"DATE_ORDER_ASSUMED"},
		true,
	},
	{
		"days of a language", "Datum,Name,Betrag,Währung\n03/04/2026,Bakery,-3.50,EUR\n",
		[]string{"DATE_ORDER_INFERRED"},
		false,
	},
	{
		"decimals", "Date,Merchant,Amount,Currency\n2026-03-31,Bakery,-3.500,KWD\n",
		[]string{"DECIMALS_ASSUMED"},
		true,
	},
	{
		"signs", "Date,Name,Amount,Currency\n2026-03-31,Bakery,3.50,EUR\n",
		[]string{"SIGN_ASSUMED"},
		true,
	},
	{
		"fees", "Date,Payee,Amount,Currency,Fee\n2026-03-31,Bakery,-3.50,EUR,1.00\n",
		[]string{"AMOUNT_ASSUMED"},
		true,
	},
	{
		"statuses", "Date,Payee,Amount,Currency,Status\n2026-03-31,Bakery,-3.50,EUR,zzz\n",
		[]string{"STATUS_ASSUMED"},
		true,
	},
	{
		"balances", "Date,Payee,Amount,Balance,Currency\n2026-03-13,Bakery,-3.50,96.50,EUR\n" +
			"2026-03-14,Cinema,-12.00,80.00,EUR\n2026-03-15,Shop,-8.20,70.00,EUR\n",
		[]string{"BALANCE_MISMATCH"},
		true,
	},
	{
		"currency", "Date,Payee,Amount\n2026-03-31,Bakery,-3.50\n",
		[]string{"CURRENCY_ASSUMED"},
		false,
	},
	{
		"letters", "Date,Payee,Amount,Currency\n2026-03-31,B\xe4cker,-3.50,EUR\n",
		[]string{"ENCODING_ASSUMED"},
		false,
	},
	{
		"long text", "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR" +
			"<BANKACCTFROM><ACCTID>123456</BANKACCTFROM><BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT" +
			"<DTPOSTED>20260331<TRNAMT>-3.50<FITID>1<MEMO>" + strings.Repeat("a", 1001) +
			"</STMTTRN></BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>",
		[]string{"TRUNCATED_DESCRIPTION"},
		false,
	},
	{"budgets", qifBudget, []string{"BUDGETS_SKIPPED", "CURRENCY_ASSUMED"}, false},
	{"securities", qifSecured, []string{"CURRENCY_ASSUMED", "INVESTMENTS_SKIPPED"}, false},
	{
		"transfers", twoAccounts,
		[]string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_UNPAIRED"},
		true,
	},
	{
		"sides of different days", twoAccounts + "D01/23/2026\nT1.00\nL[Checking]\n^\n",
		[]string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_ASSUMED"},
		true,
	},
}

// TestImportWarnings requires that each documented warning of an import can be caused, and that
// exactly the guesses about days, amounts and payments block the commit until they are confirmed.
func TestImportWarnings(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	reached := map[string]bool{}
	check := func(t *testing.T, created response, codes []string, blocks bool) string {
		t.Helper()
		path := "/api/v1/imports/" + created.text("import.id")
		response := me.get(path).ok("IMPORT_FETCHED")
		require.Equal(t, anys(codes), response.list("import.warnings"))
		for _, code := range codes {
			reached[code] = true
		}
		for _, a := range response.list("import.assumptions") {
			// The parts of a split are stated in the file, so their division is no guess.
			guess := a.(object)["code"] != "SPLITS_DIVIDED"
			require.Equal(t, blocks && guess, a.(object)["blocks"], a)
			require.NotEmpty(t, a.(object)["reason"])
		}
		return path
	}
	defaults := object{"defaults": object{
		"walletId": wallet, "expenseCategoryId": category, "incomeCategoryId": category,
	}}
	commit := func(t *testing.T, path string) {
		t.Helper()
		require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
		me.awaitImport(path, "done")
	}
	for _, w := range warned {
		t.Run(w.name, func(t *testing.T) {
			path := check(t, me.importFile(w.file, wallet).created("IMPORT_CREATED"), w.codes,
				w.blocks)
			if !w.blocks {
				me.del(path).ok("IMPORT_DELETED")
				return
			}
			me.patch(path, defaults).ok("IMPORT_UPDATED")
			me.post(path+"/commit", nil).fails(409, "IMPORT_NOT_READY").blames("force")
			var guesses []any
			for _, a := range me.get(path).list("import.assumptions") {
				if a.(object)["blocks"] == true {
					guesses = append(guesses, a.(object)["code"])
				}
			}
			confirmed := object{"confirm": guesses}
			me.patch(path, confirmed).invalid("If-Match")
			me.patch(path, confirmed, "If-Match", `"1"`).fails(412, "VERSION_MISMATCH")
			me.patch(path, confirmed, "If-Match", me.get(path).header.Get("ETag")).
				ok("IMPORT_UPDATED")
			commit(t, path)
		})
	}
	t.Run("sheets", func(t *testing.T) {
		sheet := statements.Sheet([]string{"Date", "Payee", "Amount", "Currency"},
			[]string{"2026-03-31", "Bakery", "-3.50", "EUR"})
		book := string(statements.Workbook(t, map[string]string{
			"xl/worksheets/sheet1.xml": sheet, "xl/worksheets/sheet2.xml": sheet,
		}))
		path := check(t, me.importFile(book, wallet).created("IMPORT_CREATED"),
			[]string{"SHEETS_SKIPPED"}, false)
		me.del(path).ok("IMPORT_DELETED")
	})
	t.Run("later files", func(t *testing.T) {
		const heading = "Date,Payee,Amount,Currency,Category,Group\n"
		const first = heading + "2026-03-31,Bakery,-3.50,EUR,,Food\n"
		created := me.importFile(first, wallet).created("IMPORT_CREATED")
		path := "/api/v1/imports/" + created.text("import.id")
		mapping := created.at("import.mapping").(object)
		mapping["columns"] = append(slices.DeleteFunc(mapping["columns"].([]any),
			func(column any) bool { return column.(object)["field"] == "category" }),
			object{"index": 5, "field": "category"})
		me.patch(path, object{"mapping": mapping}).ok("IMPORT_UPDATED")
		me.patch(path, defaults).ok("IMPORT_UPDATED")
		commit(t, path)
		again := "DUPLICATE_OF:" + created.text("import.id")
		check(t, me.importFile(first, wallet).created("IMPORT_CREATED"), []string{again}, false)
		reached["DUPLICATE_OF"] = true
		check(t, me.importFile(strings.Replace(first, ",,", ",Bread,", 1), wallet).
			created("IMPORT_CREATED"), []string{"COLUMNS_UNREAD"}, false)
		check(t, me.importFile(strings.Replace(first, "-3.50", "-4.50", 1), "").
			created("IMPORT_CREATED"), []string{"WALLET_ASSUMED"}, false)
	})
	description := contract.Components.Schemas["Import"].Value.Properties["warnings"].Value.
		Description
	documented, _, _ := strings.Cut(description, "A commit is rejected")
	codes := regexp.MustCompile(`[A-Z]+(?:_[A-Z]+)+`).FindAllString(documented, -1)
	require.Greater(t, len(codes), 15)
	for _, code := range codes {
		require.True(t, reached[code], "no file has the warning %s", code)
	}
}

// anys returns texts as a response has them.
func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	statements "github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
)

// oneRow is a file to import with one expense of 3.50 EUR.
const oneRow = "Date,Payee,Amount,Currency\n2026-04-02,Bakery,-3.50,EUR\n"

// importFile uploads a file to import. wallet is empty, or the wallet of all rows.
func (u *user) importFile(file, wallet string, headers ...string) response {
	var fields []string
	if wallet != "" {
		fields = []string{"walletId", wallet}
	}
	form, contentType := u.fileForm("statement.csv", file, fields...)
	return u.call(http.MethodPost, "/api/v1/imports", form,
		append(headers, "Content-Type", contentType)...)
}

// importedFile commits a file whose payee is word. It returns the ids of the import and of the
// profile that the commit saved.
func (u *user) importedFile(word, wallet, category string) (id, profile string) {
	id = u.importFile(strings.ReplaceAll(oneRow, "Bakery", word), wallet).created("IMPORT_CREATED").
		text("import.id")
	path := "/api/v1/imports/" + id
	u.patch(path, object{"defaults": object{"walletId": wallet, "expenseCategoryId": category}}).
		ok("IMPORT_UPDATED")
	require.Equal(u.t, http.StatusAccepted, u.post(path+"/commit", nil).status)
	u.awaitImport(path, "done")
	return id, u.get("/api/v1/imports/profiles").ok("IMPORT_PROFILES_FETCHED").text("profiles.0.id")
}

func TestImports(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	t.Run("a file is booked once", func(t *testing.T) {
		id, _ := me.importedFile("Bakery", wallet, category)
		require.Equal(t, "6.50", me.balance(wallet))
		again := me.importFile(oneRow, wallet).created("IMPORT_CREATED")
		require.Equal(t, "1", again.text("import.counts.duplicate"))
		require.Equal(t, "DUPLICATE_OF:"+id, again.text("import.warnings.0"))
		require.Equal(t, "duplicate", again.text("rows.0.status"))
		me.del("/api/v1/imports/" + again.text("import.id")).ok("IMPORT_DELETED")

		booked := me.get("/api/v1/transaction").list("transactions")[0].(object)
		require.Equal(t, id, booked["importId"])
		require.Equal(t, "Bakery", booked["payee"])
		require.Len(t, me.get("/api/v1/transaction?hasAttachments=false&importId="+id).
			ok("TRANSACTIONS_FETCHED").list("transactions"), 1)
		require.Empty(t, me.get("/api/v1/transaction?importId="+wallet).ok("TRANSACTIONS_FETCHED").
			list("transactions"))
		me.get("/api/v1/transaction?importId=x").fails(400, "INVALID_IMPORT_ID").blames("importId")
		me.get("/api/v1/transaction?receiptId=x").fails(400, "INVALID_RECEIPT_ID").
			blames("receiptId")
		require.Equal(t, http.StatusAccepted, me.post("/api/v1/imports/"+id+"/undo", nil).status)
		me.awaitImport("/api/v1/imports/"+id, "undone")
		require.Equal(t, "10.00", me.balance(wallet))
		require.Empty(t, me.get("/api/v1/transaction").list("transactions"))
	})
	t.Run("a guess waits for the user", func(t *testing.T) {
		const fees = "Date,Payee,Amount,Fee,Currency\n2026-05-02,Bakery,3.50,1.00,EUR\n"
		uploaded := me.importFile(fees, wallet).created("IMPORT_CREATED")
		path := "/api/v1/imports/" + uploaded.text("import.id")
		require.Equal(t, []any{"AMOUNT_ASSUMED", "SIGN_ASSUMED"}, uploaded.list("import.warnings"))
		require.Equal(t, "SIGN_ASSUMED", uploaded.text("import.assumptions.0.code"))
		require.Equal(t, "2", uploaded.text("import.assumptions.0.rows.0"))
		require.Equal(t, "Bakery", me.get(path+"/rows?n=2").text("rows.0.payee"))
		require.Empty(t, me.get(path+"/rows?n=3").list("rows"))
		me.patch(path,
			object{"defaults": object{"walletId": wallet, "incomeCategoryId": category}}).
			ok("IMPORT_UPDATED")
		me.post(path+"/commit", nil).fails(409, "IMPORT_NOT_READY").blames("force", "force")
		tag := me.get(path).header.Get("ETag")
		me.patch(path, object{"confirm": []any{"CURRENCY_ASSUMED"}}, "If-Match", tag).
			invalid("confirm")
		confirmed := me.patch(path, object{"confirm": []any{"SIGN_ASSUMED"}}, "If-Match", tag).
			ok("IMPORT_UPDATED")
		require.Equal(t, []any{"AMOUNT_ASSUMED"}, confirmed.list("import.warnings"))
		mapping := with(uploaded.at("import.mapping").(object), object{"invert": true})
		mapping["columns"] = append(mapping["columns"].([]any), object{"index": 3, "field": "fee"})
		changed := me.patch(path, object{"mapping": mapping}).ok("IMPORT_UPDATED")
		require.Empty(t, changed.list("import.assumptions"))
		require.Equal(t, "-4.50", me.get(path+"/rows").text("rows.0.amount"))
		me.del(path).ok("IMPORT_DELETED")
	})
	t.Run("errors", func(t *testing.T) {
		me.importFile("", "").invalid("file")
		me.importFile(" \n", "").fails(400, "IMPORT_FILE_REQUIRED")
		me.importFile("%PDF-1.7", "").fails(400, "IMPORT_FORMAT_UNKNOWN")
		const cut = "<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><BANKTRANLIST><STMTTRN><TRNAMT>x"
		me.importFile("OFXHEADER:100\n\n"+cut, "").fails(400, "IMPORT_PARSE_FAILED")
		me.importFile("Date,Payee,Amount\n"+strings.Repeat("2026-04-02,a,-1\n", 201_000), "").
			fails(400, "IMPORT_TOO_MANY_ROWS")
		me.importFile(oneRow, newUser(t).wallet("EUR", "0")).fails(404, "WALLET_NOT_FOUND")
		unknown := "/api/v1/imports/" + me.id
		for _, a := range []response{
			me.get(unknown), me.get(unknown + "/rows"),
			me.patch(unknown, object{"defaults": object{}}),
			me.patch(unknown+"/rows", object{"rows": []any{object{"n": 1}}}),
			me.post(unknown+"/commit", nil), me.post(unknown+"/cancel", nil),
			me.post(unknown+"/undo", nil), me.del(unknown),
		} {
			a.fails(404, "IMPORT_NOT_FOUND")
		}
		for _, a := range []response{
			me.get("/api/v1/imports/x"), me.get("/api/v1/imports/x/rows"),
			me.patch("/api/v1/imports/x", object{"defaults": object{}}),
			me.patch("/api/v1/imports/x/rows", object{"rows": []any{object{"n": 1}}}),
			me.post("/api/v1/imports/x/commit", nil), me.post("/api/v1/imports/x/cancel", nil),
			me.post("/api/v1/imports/x/undo", nil),
			me.del("/api/v1/imports/x"),
		} {
			a.fails(400, "INVALID_IMPORT_ID")
		}
		me.del("/api/v1/imports/profiles/"+me.id).fails(404, "IMPORT_PROFILE_NOT_FOUND")
		me.del("/api/v1/imports/profiles/x").fails(400, "INVALID_IMPORT_PROFILE_ID")
	})
	t.Run("a workbook", func(t *testing.T) {
		sheet := statements.Sheet([]string{"Date", "Payee", "Amount", "Currency"},
			[]string{"2026-04-03", "Kiosk", `<c><v>-4.5</v></c>`, "EUR"})
		response := me.importFile(string(statements.Workbook(t, map[string]string{
			"xl/worksheets/sheet1.xml": sheet, "xl/worksheets/sheet2.xml": sheet,
		})), wallet).created("IMPORT_CREATED")
		require.Equal(t, []any{"xlsx", "xlsx", "-4.50", "1"}, []any{
			response.text("import.format"), response.text("import.mapping.format"),
			response.text("rows.0.amount"), response.text("import.counts.ready"),
		})
		require.Contains(t, response.list("import.warnings"), "SHEETS_SKIPPED")
		me.del("/api/v1/imports/" + response.text("import.id")).ok("IMPORT_DELETED")
		for file, advice := range map[string]string{
			"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "save it as .xlsx",
			"Month,Category Group/Category,Category Group,Category,Assigned,Activity,Available\n" +
				"Apr 2026,Food: Out,Food,Out,€10.00,€-5.00,€5.00\n": "Register.csv",
		} {
			failed := me.importFile(file, "")
			failed.fails(400, "IMPORT_FORMAT_UNKNOWN")
			require.Contains(t, failed.text("message"), advice)
		}
	})
	t.Run("states", func(t *testing.T) {
		uploaded := me.importFile(oneRow, "").created("IMPORT_CREATED")
		path := "/api/v1/imports/" + uploaded.text("import.id")
		require.Equal(t, "WALLET_ASSUMED", uploaded.text("import.warnings.0"))
		me.patch(path, object{"defaults": object{"walletId": ""}}).ok("IMPORT_UPDATED")
		me.patch(path, object{}).fails(400, "EMPTY_UPDATE")
		me.post(path+"/commit", nil).fails(409, "IMPORT_NOT_READY").blames("accounts")
		me.post(path+"/undo", nil).fails(409, "IMPORT_STATE")
		other := newUser(t)
		me.patch(path, object{"defaults": object{"walletId": other.wallet("EUR", "0")}}).
			fails(404, "WALLET_NOT_FOUND")
		me.patch(path, object{"defaults": object{"expenseCategoryId": other.category("Food")}}).
			fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		me.patch(path, object{"defaults": object{"currency": "XXX"}}).
			fails(400, "UNSUPPORTED_CURRENCY")
		own := me.wallet("EUR", "0")
		me.patch(path, object{"defaults": object{"walletId": own}}).ok("IMPORT_UPDATED")
		kept := me.patch(path, object{"defaults": object{"currency": "EUR"}}).ok("IMPORT_UPDATED")
		require.Equal(t, own, kept.text("import.defaults.walletId"))
		cleared := me.patch(path, object{"defaults": object{"walletId": "", "currency": nil}}).
			ok("IMPORT_UPDATED")
		require.Equal(t, object{}, cleared.at("import.defaults"))
		row := func(change object) object {
			return object{"rows": []any{with(object{"n": 2}, change)}}
		}
		me.patch(path+"/rows", row(object{"transferWalletId": other.wallet("EUR", "0")})).
			fails(404, "WALLET_NOT_FOUND")
		me.patch(path+"/rows", row(object{"categoryId": other.category("Fun")})).
			fails(404, "INVALID_CATEGORY_EXIST_PARAMS")
		me.patch(path+"/rows", row(object{"action": "match:" + me.id})).
			fails(404, "TRANSACTION_NOT_FOUND")
	})
	t.Run("pending payments", testPendingPayments)
	t.Run("rejects the file of a committed import on request", func(t *testing.T) {
		v := newUser(t)
		wallet := v.wallet("EUR", "0")
		v.importedFile("Bakery", wallet, v.category("Food"))
		form, contentType := v.fileForm("statement.csv", oneRow, "onDuplicate", "reject")
		v.call(http.MethodPost, "/api/v1/imports", form, "Content-Type", contentType).
			fails(409, "IMPORT_DUPLICATE")
		done := "/api/v1/imports/" + v.get("/api/v1/imports").text("imports.0.id")
		v.patch(done, object{"defaults": object{}}).fails(409, "IMPORT_STATE")
		v.patch(done+"/rows", object{"rows": []any{object{"n": 2}}}).fails(409, "IMPORT_STATE")
	})
}

// TestImportUpdate changes the defaults of a file that is too large for one request, and cancels
// the jobs of the import. What an update does not name stays.
func TestImportUpdate(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	var file strings.Builder
	file.WriteString("Date,Payee,Amount,Currency\n")
	for i := range 2500 {
		fmt.Fprintf(&file, "2026-04-02,Shop %d,-1.00,EUR\n", i)
	}
	path := "/api/v1/imports/" + me.importFile(file.String(), wallet).created("IMPORT_CREATED").
		text("import.id")
	change := object{"defaults": object{"expenseCategoryId": category}}
	me.patch(path+"?wait=9", change).invalid("wait")
	started := me.patch(path+"?wait=0", change)
	require.Equal(t, http.StatusAccepted, started.status, started.raw)
	require.Equal(t, "IMPORT_UPDATE_STARTED", started.code())
	require.Equal(t, "updating", started.text("import.status"))
	me.awaitImport(path, "preview")
	after := me.get(path).ok("IMPORT_FETCHED")
	require.Equal(t, wallet, after.text("import.defaults.walletId"))
	require.Equal(t, category, after.text("import.defaults.expenseCategoryId"))
	require.Equal(t, category, me.get(path+"/rows?limit=1").ok("IMPORT_ROWS_FETCHED").
		text("rows.0.categoryId"))
	me.post(path+"/cancel", nil).ok("IMPORT_FETCHED")
	me.patch(path+"?wait=8", object{"defaults": object{"incomeCategoryId": category}})
	me.awaitImport(path, "preview")

	require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
	canceled := me.post(path+"/cancel", nil).ok("IMPORT_CANCELED")
	require.Equal(t, "failed", canceled.text("import.status"))
	require.Equal(t, "CANCELED", canceled.text("import.progress.problem"))
	require.Equal(t, http.StatusAccepted, me.post(path+"/commit", nil).status)
	me.awaitImport(path, "done")
	require.Equal(t, "-2500.00", me.balance(wallet))
	me.post(path+"/cancel", nil).ok("IMPORT_FETCHED")
	require.Equal(t, http.StatusAccepted, me.post(path+"/undo", nil).status)
	me.post(path+"/cancel", nil).ok("IMPORT_CANCELED")
	require.Equal(t, http.StatusAccepted, me.post(path+"/undo", nil).status)
	me.awaitImport(path, "undone")
	require.Equal(t, "0.00", me.balance(wallet))
}

func TestTransactionDetailErrors(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	first, second, food := me.wallet("EUR", "0"), me.wallet("EUR", "0"), me.category("Food")
	split := with(expense(first, food, "3"), object{"splits": []any{
		object{"categoryId": food, "amount": 1},
		object{"categoryId": me.category("Fun"), "amount": 1},
	}})
	delete(split, "categoryId")
	me.post("/api/v1/transaction/batch", object{"transactions": []any{split}}).
		fails(400, "SPLIT_SUM_MISMATCH")
	me.record(with(expense(first, food, "3"), object{"externalId": "1"}))
	other := me.record(with(expense(second, food, "3"), object{"externalId": "1"}))
	me.patch("/api/v1/transaction/"+other, object{"walletId": first}).
		fails(409, "TRANSACTION_DUPLICATE")
}

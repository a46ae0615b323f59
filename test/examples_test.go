package test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// examplesFile has the examples of the OpenAPI document. make generate copies them into it.
const examplesFile = "../tools/generate/protoc-gen-coffer-openapi/examples.json"

var update = flag.Bool("update", false, "record the examples of the OpenAPI document")

// example is a request, and the responses to it by status.
type example struct {
	Parameters map[string]any `json:"parameters,omitempty"`
	Request    any            `json:"request,omitempty"`
	Responses  map[string]any `json:"responses"`
	// Also has a further response by status. It only gives examples to schemas that the first
	// response lacks.
	Also map[string]any `json:"also,omitempty"`
}

// TestExamples calls each operation, and compares requests and responses with the examples of the
// OpenAPI document. make examples records them instead.
func TestExamples(t *testing.T) {
	t.Parallel()
	requireMailbox(t)
	recorder := &recorder{t: t, examples: map[string]*example{}, texts: map[string]string{}}
	ada, grace := recorder.user("Ada"), recorder.user("Grace")
	wallet, category := recorder.ledger(ada)
	recorder.transfers(ada, wallet)
	recorder.reconciliations(ada, wallet)
	recorder.tags(ada, wallet, category)
	recorder.call(ada, http.MethodGet, "/api/v1/reports/series?from=2026-02-01&to=2026-03-31"+
		"&groupBy=category&top=1&currency=EUR", nil)
	const month = "?from=2026-03-01&to=2026-03-31&currency=EUR"
	recorder.call(ada, http.MethodGet, "/api/v1/reports/flow"+month, nil)
	recorder.call(ada, http.MethodGet, "/api/v1/reports/compare"+month+"&top=1", nil)
	recorder.call(ada, http.MethodGet, "/api/v1/reports/balances"+month, nil)
	recorder.imports(ada, wallet, category)
	recorder.rules(ada, wallet, category)
	recorder.views(ada, category)
	recorder.goals(ada, wallet)
	recorder.sharedGoal(recorder.user("Alan"), recorder.user("Tim"))
	recorder.sharing(ada, grace, recorder.budget(ada, wallet, category))
	recorder.webhooks(ada)
	recorder.tokens(ada)
	recorder.identities(ada)
	recorder.sessions(ada)
	recorder.deletions(ada, wallet, category)
	recorder.parts(recorder.user("Lin"))
	recorder.leaving(recorder.user("Mary"))

	for _, o := range operations() {
		// A file or a redirect has no example.
		files := []string{
			"getReceiptImage", "downloadAttachment", "exportTransactions",
			"startOidc", "finishOidc", "exportSeries", "exportAccount", "exportComparison",
			"exportBalances",
		}
		require.True(t,
			recorder.examples[o.OperationID] != nil || slices.Contains(files, o.OperationID),
			"TestExamples does not call %s", o.OperationID)
	}
	recorded := new(bytes.Buffer)
	encoder := json.NewEncoder(recorded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(recorder.examples))
	if *update {
		require.NoError(t, os.WriteFile(examplesFile, recorded.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(examplesFile)
	require.NoError(t, err)
	require.Equal(t, string(want), recorded.String(), "make examples records the new answers")
}

// user registers and signs in. Each run has different e-mails.
func (r *recorder) user(name string) *user {
	u := &user{t: r.t, password: "a long enough secret", email: fmt.Sprintf("%s-%d@example.com",
		strings.ToLower(name), time.Now().UnixNano())}
	r.texts[u.email] = strings.ToLower(name) + "@example.com"
	u.id = r.call(u, http.MethodPost, "/api/v1/auth/register",
		object{"name": name, "email": u.email, "password": u.password}).text("user.id")
	login := r.call(u, http.MethodPost, "/api/v1/auth/login",
		object{"email": u.email, "password": u.password})
	u.token, u.refreshToken = login.text("accessToken"), login.text("refreshToken")
	return u
}

// ledger creates and reads wallets, categories, transactions and a receipt.
func (r *recorder) ledger(me *user) (wallet, category string) {
	wallet = r.call(me, http.MethodPost, "/api/v1/wallet", object{
		"name": "Cash", "currency": "EUR", "balance": json.Number("250.00"),
		"openingDate": "2026-03-01", "color": "#2F6F4F", "icon": "💶", "position": json.Number("1"),
	}).text("wallet.id")
	category = r.call(me, http.MethodPost, "/api/v1/categories", object{
		"name": "Groceries", "color": "#B5651D", "icon": "🛒", "kind": "expense",
	}).text("category.id")
	lunch := object{
		"amount": json.Number("12.30"), "description": "Lunch", "date": "2026-03-14",
		"currency": "EUR", "walletId": wallet, "categoryId": category, "type": "expense",
	}
	id := r.call(me, http.MethodPost, "/api/v1/transaction", lunch).text("transaction.id")
	abroad := object{
		"amount": json.Number("20.00"), "description": "Souvenir", "date": "2026-03-15",
		"currency": "USD", "walletId": wallet, "categoryId": category, "type": "expense",
	}
	salary := object{
		"amount": json.Number("1500.00"), "description": "Salary", "date": "2026-03-01",
		"currency": "EUR", "walletId": wallet, "categoryId": me.category("Work"), "type": "income",
	}
	r.call(me, http.MethodPost, "/api/v1/transaction/batch",
		object{"transactions": []any{abroad, salary}})
	r.call(me, http.MethodPatch, "/api/v1/transaction/batch", object{"items": []any{
		object{"id": id, "payee": "Canteen", "addTags": []any{"work"}},
	}})
	r.call(me, http.MethodPost, "/api/v1/transaction/batch/delete",
		object{"ids": []any{me.spend(wallet, category, "3.20")}})
	r.call(me, http.MethodPatch, "/api/v1/transaction/"+id,
		object{"amount": json.Number("12.50"), "description": "Lunch with Grace"})
	for range 2 { // created, and found by its content
		r.record(http.MethodPost, "/api/v1/transaction/"+id+"/attachments",
			object{"file": "Soup 4.50"}, me.attach(id, "menu.txt", "Soup 4.50"))
	}
	attached := r.call(me, http.MethodGet, "/api/v1/transaction/"+id+"/attachments", nil)
	r.call(me, http.MethodGet, "/api/v1/transaction/"+id, nil)
	r.call(me, http.MethodDelete, "/api/v1/attachments/"+attached.text("attachments.0.id"), nil)
	r.call(me, http.MethodGet,
		"/api/v1/transaction?type=expense&from=2026-03-01&to=2026-03-31&limit=1&include=totals"+
			"&include=etags",
		nil)
	text := "CORNER SHOP\n2026-03-18\nBread 5.00\nMilk 3.00\nTotal 8.00\n"
	corrections := object{"merchant": "Corner Bakery", "lines": []any{
		object{"description": "Rye bread", "amount": json.Number("5.00")},
		object{
			"description": "Milk", "amount": json.Number("3.00"),
			"categoryId": me.category("Breakfast"),
		},
	}}
	r.upload(me, "?dryRun=true", text, wallet, category, corrections)
	made := r.upload(me, "", text, wallet, category, corrections)
	r.call(me, http.MethodGet, "/api/v1/receipts/"+made.text("receipt.id"), nil)
	r.call(me, http.MethodGet, "/api/v1/receipts?limit=1", nil)
	r.call(me, http.MethodDelete, "/api/v1/receipts/"+made.text("receipt.id"), nil)
	r.call(me, http.MethodGet, "/api/v1/payees?q=corner&limit=50", nil)
	r.call(me, http.MethodGet, "/api/v1/currencies", nil)
	r.call(me, http.MethodPatch, "/api/v1/wallet/"+wallet, object{
		"name": "Pocket money", "initialBalance": json.Number("245.00"),
		"openingDate": "2026-02-01",
	})
	r.call(me, http.MethodGet, "/api/v1/wallet/"+wallet, nil)
	r.call(me, http.MethodGet, "/api/v1/wallet?archived=false&limit=50", nil)
	r.call(me, http.MethodPatch, "/api/v1/categories/"+category, object{"name": "Food"})
	r.call(me, http.MethodGet, "/api/v1/categories/"+category, nil)
	r.call(me, http.MethodGet, "/api/v1/categories?limit=50", nil)
	r.call(me, http.MethodPatch, "/api/v1/settings", object{
		"timeZone": "Europe/Berlin", "weekStart": "monday", "locale": "de-DE",
		"baseCurrency": "EUR", "defaultWalletId": wallet, "defaultCategoryId": category,
	})
	r.call(me, http.MethodGet, "/api/v1/settings", nil)
	r.call(me, http.MethodGet, "/api/v1/changes?limit=2", nil)
	r.call(me, http.MethodGet,
		"/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31&currency=EUR"+
			"&include=daily&include=tags", nil)
	return wallet, category
}

// transfers moves money between two wallets, and makes a transfer of an expense and an income. It
// leaves no transfer.
func (r *recorder) transfers(me *user, wallet string) {
	savings := me.post("/api/v1/wallet", object{"name": "Savings", "currency": "EUR"}).
		created("WALLET_CREATED").text("wallet.id")
	made := r.call(me, http.MethodPost, "/api/v1/transfers", object{
		"fromWalletId": wallet, "toWalletId": savings, "amount": json.Number("100.00"),
		"date": "2026-05-02", "description": "Savings",
		"tags": []any{"Savings"},
	}).text("transfer.id")
	path := "/api/v1/transfers/" + made
	r.call(me, http.MethodPatch, path, object{
		"amount": json.Number("120.00"), "notes": "For the summer",
		"tags": []any{"Savings", "Summer"},
	})
	r.call(me, http.MethodGet, path, nil)
	r.call(me, http.MethodGet, "/api/v1/transfers?from=2026-05-01&to=2026-05-31&limit=50", nil)
	r.call(me, http.MethodDelete, path, nil)
	paid := expense(wallet, me.category("Unsorted"), "30.00")
	received := with(paid, object{"walletId": savings, "type": "income", "date": "2026-05-09"})
	out := me.record(with(paid, object{"date": "2026-05-08"}))
	in := me.record(received)
	r.call(me, http.MethodGet, "/api/v1/transfers/suggestions?from=2026-05-01&to=2026-05-31", nil)
	matched := r.call(me, http.MethodPost, "/api/v1/transfers/match",
		object{"outTransactionId": out, "inTransactionId": in}).text("transfer.id")
	r.call(me, http.MethodPost, "/api/v1/transfers/"+matched+"/unlink",
		object{"categoryId": paid["categoryId"]})
}

// tags renames and deletes a tag.
func (r *recorder) tags(u *user, wallet, category string) {
	u.record(with(expense(wallet, category, "9.00"), object{"tags": []any{"Trip"}}))
	r.call(u, http.MethodGet, "/api/v1/tags", nil)
	r.call(u, http.MethodGet, "/api/v1/tags/Trip", nil)
	r.call(u, http.MethodPatch, "/api/v1/tags/Trip", object{"name": "Rome", "color": "#B5651D"})
	r.call(u, http.MethodDelete, "/api/v1/tags/Rome", nil)
}

func (r *recorder) deletions(u *user, wallet, category string) {
	for _, item := range u.get("/api/v1/transaction").list("transactions") {
		r.call(u, http.MethodDelete, "/api/v1/transaction/"+item.(object)["id"].(string), nil)
	}
	r.call(u, http.MethodDelete, "/api/v1/categories/"+category, nil)
	r.call(u, http.MethodDelete, "/api/v1/wallet/"+wallet, nil)
	r.call(u, http.MethodPost, "/api/v1/auth/logout", nil)
}

// parts records objects that no other response has: parts of a transaction and of an imported row,
// categories of a file, a changed tag and a deleted category.
func (r *recorder) parts(me *user) {
	wallet, food, fun := me.wallet("EUR", "250.00"), me.category("Food"), me.category("Fun")
	r.also(http.MethodPost, "/api/v1/transaction", me.post("/api/v1/transaction", object{
		"amount": json.Number("12.00"), "description": "Market", "date": "2026-03-14",
		"currency": "EUR", "walletId": wallet, "type": "expense",
		"tags": []any{"Trip"}, "splits": []any{
			object{"categoryId": food, "amount": json.Number("8.00"), "description": "Bread"},
			object{"categoryId": fun, "amount": json.Number("4.00")},
		},
	}))
	file := "!Type:Bank\nD05/04'26\nT-12.00\nPMarket\nSFood\nEBread\n$-8.00\nSFun\n$-4.00\n^\n"
	form, contentType := me.fileForm("april.qif", file, "walletId", wallet)
	r.also(http.MethodPost, "/api/v1/imports",
		me.call(http.MethodPost, "/api/v1/imports", form, "Content-Type", contentType))
	unused := me.category("Travel")
	cursor := me.get("/api/v1/changes").ok("CHANGES_FETCHED").text("pagination.nextCursor")
	me.patch("/api/v1/tags/Trip", object{"color": "#B5651D"}).ok("TAG_UPDATED")
	me.del("/api/v1/categories/" + unused).ok("CATEGORY_DELETED")
	r.also(http.MethodGet, "/api/v1/changes", me.get("/api/v1/changes?cursor="+cursor))
	me.bakeries(wallet, food)
	r.call(me, http.MethodGet, "/api/v1/rules/suggestions", nil)
}

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
	r := &recorder{t: t, examples: map[string]*example{}, texts: map[string]string{}}
	ada, grace := r.user("Ada"), r.user("Grace")
	wallet, category := r.ledger(ada)
	r.transfers(ada, wallet)
	r.tags(ada, wallet, category)
	r.imports(ada, wallet, category)
	r.rules(ada, wallet, category)
	r.sharing(ada, grace, r.budget(ada, wallet, category))
	r.webhooks(ada)
	r.sessions(ada)
	r.deletions(ada, wallet, category)
	r.parts(r.user("Lin"))

	for _, o := range operations() {
		// A file has no example.
		files := []string{"getReceiptImage", "downloadAttachment", "exportTransactions"}
		require.True(t, r.examples[o.OperationID] != nil || slices.Contains(files, o.OperationID),
			"TestExamples does not call %s", o.OperationID)
	}
	recorded := new(bytes.Buffer)
	encoder := json.NewEncoder(recorded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(r.examples))
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
func (r *recorder) ledger(u *user) (wallet, category string) {
	wallet = r.call(u, http.MethodPost, "/api/v1/wallet", object{
		"name": "Cash", "currency": "EUR", "balance": json.Number("250.00"),
		"openingDate": "2026-03-01", "color": "#2F6F4F", "icon": "💶", "position": json.Number("1"),
	}).text("wallet.id")
	category = r.call(u, http.MethodPost, "/api/v1/categories", object{
		"name": "Groceries", "color": "#B5651D", "icon": "🛒", "kind": "expense",
	}).text("category.id")
	lunch := object{
		"amount": json.Number("12.30"), "description": "Lunch", "date": "2026-03-14",
		"currency": "EUR", "walletId": wallet, "categoryId": category, "type": "expense",
	}
	id := r.call(u, http.MethodPost, "/api/v1/transaction", lunch).text("transaction.id")
	abroad := object{
		"amount": json.Number("20.00"), "description": "Souvenir", "date": "2026-03-15",
		"currency": "USD", "walletId": wallet, "categoryId": category, "type": "expense",
	}
	salary := object{
		"amount": json.Number("1500.00"), "description": "Salary", "date": "2026-03-01",
		"currency": "EUR", "walletId": wallet, "categoryId": u.category("Work"), "type": "income",
	}
	r.call(u, http.MethodPost, "/api/v1/transaction/batch",
		object{"transactions": []any{abroad, salary}})
	r.call(u, http.MethodPatch, "/api/v1/transaction/"+id,
		object{"amount": json.Number("12.50"), "description": "Lunch with Grace"})
	for range 2 { // created, and found by its content
		r.record(http.MethodPost, "/api/v1/transaction/"+id+"/attachments",
			object{"file": "Soup 4.50"}, u.attach(id, "menu.txt", "Soup 4.50"))
	}
	attached := r.call(u, http.MethodGet, "/api/v1/transaction/"+id+"/attachments", nil)
	r.call(u, http.MethodGet, "/api/v1/transaction/"+id, nil)
	r.call(u, http.MethodDelete, "/api/v1/attachments/"+attached.text("attachments.0.id"), nil)
	r.call(u, http.MethodGet,
		"/api/v1/transaction?type=expense&from=2026-03-01&to=2026-03-31&limit=1&include=totals",
		nil)
	text := "CORNER SHOP\n2026-03-18\nBread 5.00\nMilk 3.00\nTotal 8.00\n"
	corrections := object{"merchant": "Corner Bakery", "lines": []any{
		object{"description": "Rye bread", "amount": json.Number("5.00")},
		object{
			"description": "Milk", "amount": json.Number("3.00"),
			"categoryId": u.category("Breakfast"),
		},
	}}
	r.upload(u, "?dryRun=true", text, wallet, category, corrections)
	made := r.upload(u, "", text, wallet, category, corrections)
	r.call(u, http.MethodGet, "/api/v1/receipts/"+made.text("receipt.id"), nil)
	r.call(u, http.MethodGet, "/api/v1/receipts?limit=1", nil)
	r.call(u, http.MethodDelete, "/api/v1/receipts/"+made.text("receipt.id"), nil)
	r.call(u, http.MethodGet, "/api/v1/payees?q=corner&limit=50", nil)
	r.call(u, http.MethodGet, "/api/v1/currencies", nil)
	r.call(u, http.MethodPatch, "/api/v1/wallet/"+wallet, object{
		"name": "Pocket money", "initialBalance": json.Number("245.00"),
		"openingDate": "2026-02-01",
	})
	r.call(u, http.MethodGet, "/api/v1/wallet/"+wallet, nil)
	r.call(u, http.MethodGet, "/api/v1/wallet?archived=false&limit=50", nil)
	r.call(u, http.MethodPatch, "/api/v1/categories/"+category, object{"name": "Food"})
	r.call(u, http.MethodGet, "/api/v1/categories/"+category, nil)
	r.call(u, http.MethodGet, "/api/v1/categories?limit=50", nil)
	r.call(u, http.MethodPatch, "/api/v1/settings", object{
		"timeZone": "Europe/Berlin", "weekStart": "monday", "locale": "de-DE",
		"baseCurrency": "EUR", "defaultWalletId": wallet, "defaultCategoryId": category,
	})
	r.call(u, http.MethodGet, "/api/v1/settings", nil)
	r.call(u, http.MethodGet, "/api/v1/changes?limit=2", nil)
	r.call(u, http.MethodGet,
		"/api/v1/dashboard/summary?from=2026-03-01&to=2026-03-31&currency=EUR"+
			"&include=daily&include=tags", nil)
	return wallet, category
}

// transfers moves money between two wallets, and makes a transfer of an expense and an income. It
// leaves no transfer.
func (r *recorder) transfers(u *user, wallet string) {
	savings := u.post("/api/v1/wallet", object{"name": "Savings", "currency": "EUR"}).
		created("WALLET_CREATED").text("wallet.id")
	made := r.call(u, http.MethodPost, "/api/v1/transfers", object{
		"fromWalletId": wallet, "toWalletId": savings, "amount": json.Number("100.00"),
		"date": "2026-05-02", "description": "Savings",
		"tags": []any{"Savings"},
	}).text("transfer.id")
	path := "/api/v1/transfers/" + made
	r.call(u, http.MethodPatch, path, object{
		"amount": json.Number("120.00"), "notes": "For the summer",
		"tags": []any{"Savings", "Summer"},
	})
	r.call(u, http.MethodGet, path, nil)
	r.call(u, http.MethodGet, "/api/v1/transfers?from=2026-05-01&to=2026-05-31&limit=50", nil)
	r.call(u, http.MethodDelete, path, nil)
	paid := expense(wallet, u.category("Unsorted"), "30.00")
	received := with(paid, object{"walletId": savings, "type": "income", "date": "2026-05-09"})
	out := u.record(with(paid, object{"date": "2026-05-08"}))
	in := u.record(received)
	r.call(u, http.MethodGet, "/api/v1/transfers/suggestions?from=2026-05-01&to=2026-05-31", nil)
	matched := r.call(u, http.MethodPost, "/api/v1/transfers/match",
		object{"outTransactionId": out, "inTransactionId": in}).text("transfer.id")
	r.call(u, http.MethodPost, "/api/v1/transfers/"+matched+"/unlink",
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

// sessions signs in on a second device, and signs out.
func (r *recorder) sessions(u *user) {
	r.call(u, http.MethodGet, "/.well-known/jwks.json", nil)
	r.call(u, http.MethodGet, "/api/v1/auth/me", nil)
	r.call(u, http.MethodPatch, "/api/v1/auth/me", object{"name": "Ada Lovelace"})
	other := *u
	other.signIn()
	sessions := r.call(u, http.MethodGet, "/api/v1/auth/sessions?limit=50", nil)
	r.call(u, http.MethodDelete, "/api/v1/auth/sessions/"+sessions.text("sessions.0.id"), nil)
	r.call(u, http.MethodPatch, "/api/v1/auth/password",
		object{"currentPassword": u.password, "newPassword": "another long secret"})
	u.token = r.call(u, http.MethodPost, "/api/v1/auth/refresh",
		object{"refreshToken": u.refreshToken}).text("accessToken")
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
func (r *recorder) parts(u *user) {
	wallet, food, fun := u.wallet("EUR", "250.00"), u.category("Food"), u.category("Fun")
	r.also(http.MethodPost, "/api/v1/transaction", u.post("/api/v1/transaction", object{
		"amount": json.Number("12.00"), "description": "Market", "date": "2026-03-14",
		"currency": "EUR", "walletId": wallet, "type": "expense",
		"tags": []any{"Trip"}, "splits": []any{
			object{"categoryId": food, "amount": json.Number("8.00"), "description": "Bread"},
			object{"categoryId": fun, "amount": json.Number("4.00")},
		},
	}))
	file := "!Type:Bank\nD05/04'26\nT-12.00\nPMarket\nSFood\nEBread\n$-8.00\nSFun\n$-4.00\n^\n"
	form, contentType := u.fileForm("april.qif", file, "walletId", wallet)
	r.also(http.MethodPost, "/api/v1/imports",
		u.call(http.MethodPost, "/api/v1/imports", form, "Content-Type", contentType))
	unused := u.category("Travel")
	cursor := u.get("/api/v1/changes").ok("CHANGES_FETCHED").text("pagination.nextCursor")
	u.patch("/api/v1/tags/Trip", object{"color": "#B5651D"}).ok("TAG_UPDATED")
	u.del("/api/v1/categories/" + unused).ok("CATEGORY_DELETED")
	r.also(http.MethodGet, "/api/v1/changes", u.get("/api/v1/changes?cursor="+cursor))
	u.bakeries(wallet, food)
	r.call(u, http.MethodGet, "/api/v1/rules/suggestions", nil)
}

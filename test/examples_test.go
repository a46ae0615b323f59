package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
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
	r.rules(ada, category)
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

// rules creates, changes, orders and deletes a rule.
func (r *recorder) rules(u *user, category string) {
	id := r.call(u, http.MethodPost, "/api/v1/rules", u.rule(category)).text("rule.id")
	path := "/api/v1/rules/" + id
	r.call(u, http.MethodGet, "/api/v1/rules", nil)
	r.call(u, http.MethodGet, path+"?wait=0", nil)
	r.call(u, http.MethodPatch, path, object{"name": "Bakeries", "stop": true})
	r.call(u, http.MethodPost, "/api/v1/rules/order", object{"ids": []any{id}})
	r.call(u, http.MethodPost, path+"/apply",
		object{"from": "2026-01-01", "to": "2026-12-31", "dryRun": true})
	r.call(u, http.MethodPost, path+"/apply", object{"from": "2026-01-01"})
	u.awaitRule(path)
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
		require.Equal(c, "done", u.get(path+"?wait=1").ok("RULE_FETCHED").
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
	r.call(u, http.MethodGet, path+"?wait=1", nil)
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

// budget creates a budget in March 2026. Its progress is read for this month, so that it does not
// depend on the day of the test.
func (r *recorder) budget(u *user, wallet, category string) (id string) {
	id = r.call(u, http.MethodPost, "/api/v1/budgets", object{
		"name": "Food", "currency": "EUR", "limit": json.Number("400.00"), "period": "monthly",
		"startDate": "2026-03-01", "walletId": wallet,
		"categoryIds":     []any{category},
		"alertThresholds": []any{json.Number("80"), json.Number("100")},
	}).text("budget.id")
	r.call(u, http.MethodPatch, "/api/v1/budgets/"+id, object{"limit": json.Number("350.00")})
	return id
}

// sharing shares the budget. The invitation becomes a notification and an entry of the audit trail
// later.
func (r *recorder) sharing(owner, member *user, budget string) {
	path := "/api/v1/budgets/" + budget
	r.call(owner, http.MethodPost, path+"/share",
		object{"email": member.email, "role": "editor", "sharePercent": json.Number("50")})
	r.call(member, http.MethodGet, "/api/v1/invitations?limit=50", nil)
	sent := member.notified("budget.v1.invitation.sent", 1)[0]["id"].(string)
	r.call(member, http.MethodGet, "/api/v1/notifications?read=false&limit=50", nil)
	require.EventuallyWithT(r.t, func(c *assert.CollectT) {
		require.Equal(c, "invitation_sent", owner.get("/api/v1/auth/audit").text("entries.0.type"))
	}, time.Minute, 50*time.Millisecond)
	r.call(owner, http.MethodGet, "/api/v1/auth/audit?limit=2", nil)
	r.event(member)
	r.call(member, http.MethodPatch, path+"/members/"+member.id, object{"status": "accepted"})
	r.call(owner, http.MethodGet, path+"/members?limit=50", nil)
	r.call(owner, http.MethodGet, path+"/members/"+member.id, nil)
	r.call(owner, http.MethodGet, path+"/limits?limit=50", nil)
	r.call(owner, http.MethodGet, path+"?at=2026-03-20", nil)
	r.call(owner, http.MethodGet, "/api/v1/budgets?at=2026-03-20&limit=50", nil)
	r.call(member, http.MethodPatch, "/api/v1/notifications/"+sent, object{"read": true})
	r.call(member, http.MethodPatch, "/api/v1/notifications", object{"read": true})
	r.call(member, http.MethodDelete, "/api/v1/notifications/"+sent, nil)
	r.call(owner, http.MethodDelete, path+"/members/"+member.id, nil)
	r.call(owner, http.MethodDelete, path, nil)
}

// event records the invitation in the live stream.
func (r *recorder) event(u *user) {
	stream := u.listen(r.t.Context(), "")
	defer stream.close()
	u.category("Travel")
	r.examples["streamEvents"] = &example{
		Responses: map[string]any{"200": r.stable("", stream.next().data)},
	}
}

// webhooks disables the webhook before it has deliveries, so that they wait.
func (r *recorder) webhooks(u *user) {
	id := r.call(u, http.MethodPost, "/api/v1/webhooks", object{
		"url": "https://example.com/coffer", "events": []any{"budget.v1.*.*"},
		"description": "Alerts",
	}).text("webhook.id")
	path := "/api/v1/webhooks/" + id
	r.call(u, http.MethodPatch, path, object{"enabled": false})
	r.call(u, http.MethodGet, path, nil)
	r.call(u, http.MethodGet, "/api/v1/webhooks?limit=50", nil)
	r.call(u, http.MethodPost, path+"/secret", nil)
	delivery := r.call(u, http.MethodPost, path+"/test", nil).text("delivery.id")
	r.call(u, http.MethodGet, path+"/deliveries?status=pending&limit=50", nil)
	r.call(u, http.MethodPost, path+"/deliveries/"+delivery+"/redeliver", nil)
	r.call(u, http.MethodDelete, path, nil)
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
	file := "!Type:Bank\nD25/04'26\nT-12.00\nPMarket\nSFood\nEBread\n$-8.00\nSFun\n$-4.00\n^\n"
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

// recorder collects the first example of each operation and status. It replaces values that differ
// in each run.
type recorder struct {
	t        *testing.T
	examples map[string]*example
	// texts are the replacements of e-mails and ids.
	texts map[string]string
}

// call sends a request that must succeed.
func (r *recorder) call(u *user, method, path string, body any) response {
	r.t.Helper()
	a := u.call(method, path, body)
	r.record(method, path, body, a)
	return a
}

// also records a further response of an operation that record knows.
func (r *recorder) also(method, path string, a response) {
	r.t.Helper()
	require.Less(r.t, a.status, 300, "%s %s: %s", method, path, a.raw)
	req, err := http.NewRequestWithContext(r.t.Context(), method, path, nil)
	require.NoError(r.t, err)
	found, _, err := router.FindRoute(req)
	require.NoError(r.t, err)
	r.examples[found.Operation.OperationID].Also = map[string]any{fmt.Sprint(a.status): r.stable("",
		a.body)}
}

func (r *recorder) upload(
	u *user, query, text, wallet, category string, corrections object,
) response {
	r.t.Helper()
	encoded, err := json.Marshal(corrections)
	require.NoError(r.t, err)
	a := u.upload(query, []byte(text), "walletId", wallet, "categoryId", category, "corrections",
		string(encoded))
	r.record(http.MethodPost, "/api/v1/transaction/receipt"+query, object{
		"receipt": text, "walletId": wallet, "categoryId": category, "corrections": corrections,
	}, a)
	return a
}

func (r *recorder) record(method, path string, body any, a response) {
	r.t.Helper()
	require.Less(r.t, a.status, 300, "%s %s: %s", method, path, a.raw)
	req, err := http.NewRequestWithContext(r.t.Context(), method, path, nil)
	require.NoError(r.t, err)
	found, inPath, err := router.FindRoute(req)
	require.NoError(r.t, err)
	e := r.examples[found.Operation.OperationID]
	if e == nil {
		e = &example{Responses: map[string]any{}}
		for _, parameter := range found.Operation.Parameters {
			if value, ok := sent(parameter.Value, inPath, req); ok {
				if e.Parameters == nil {
					e.Parameters = map[string]any{}
				}
				e.Parameters[parameter.Value.Name] = r.stable("", value)
			}
		}
		if body != nil {
			e.Request = r.stable("", body)
		}
		r.examples[found.Operation.OperationID] = e
	}
	status := fmt.Sprint(a.status)
	if e.Responses[status] == nil {
		e.Responses[status] = r.stable("", a.body)
	}
}

// sent returns the value of a parameter in a request, with the type of its schema.
func sent(parameter *openapi3.Parameter, inPath map[string]string, req *http.Request) (any, bool) {
	text, ok := inPath[parameter.Name]
	if parameter.In == openapi3.ParameterInQuery {
		text, ok = req.URL.Query().Get(parameter.Name), req.URL.Query().Has(parameter.Name)
	}
	switch {
	case parameter.Schema.Value.Type.Is("integer"):
		return json.Number(text), ok
	case parameter.Schema.Value.Type.Is("boolean"):
		return text == "true", ok
	}
	return text, ok
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// secrets are the replacements of fields that are different in each run, or must not be
	// published.
	secrets = map[string]string{
		"accessToken":  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjBjNSJ9.c2lnbmF0dXJl",
		"token":        "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjBjNSJ9.c2lnbmF0dXJl",
		"deviceKey":    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"refreshToken": "r-4Wn1ZBqkq0cVfDyGxJ2A", "secret": "whsec_Y29mZmVyLWV4YW1wbGUtc2VjcmV0",
		"nextCursor": "AAECAwQFBgcICQoLDA0ODw",
		"x":          "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "2026-11-20",
	}
)

// later are the replacements of times that are after the request.
var later = map[string]string{
	"expiresAt": "2026-12-20T10:15:00.000Z", "previousSecretUntil": "2026-11-21T10:15:00.000Z",
	"nextAttemptAt": "2026-11-20T10:15:30.000Z",
}

// stable replaces ids by their order of appearance, and the time of the test, addresses, tokens and
// e-mails by fixed ones.
func (r *recorder) stable(key string, v any) any {
	switch v := v.(type) {
	case object:
		replaced := object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			replaced[name] = r.stable(name, v[name])
		}
		return replaced
	case []any:
		replaced := make([]any, len(v))
		for i, item := range v {
			replaced[i] = r.stable(key, item)
		}
		return replaced
	case string:
		return r.stableText(key, v)
	}
	return v
}

// isRecent reports whether a text is the day of the test, which may have begun on the day before.
func isRecent(text string) bool {
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && time.Since(day) < 48*time.Hour
}

func (r *recorder) stableText(key, text string) string {
	if fixed := secrets[key]; fixed != "" && text != "" {
		return fixed
	}
	moment, err := time.Parse(time.RFC3339, text)
	switch {
	case err == nil && key != "date":
		return cmp.Or(later[key], "2026-11-20T10:15:00.000Z")
	case err == nil:
		return moment.UTC().Format("2006-01-02T15:04:05.000Z")
	case key == "address" || key == "ipAddress":
		return "203.0.113.7"
	case key == "windowStart":
		return "2026-03-01"
	case key == "windowEnd":
		return "2026-03-31"
	case key == "from" && isRecent(text):
		return "2026-11-20"
	case r.texts[text] != "":
		return r.texts[text]
	}
	return anyUUID.ReplaceAllStringFunc(text, func(id string) string {
		if r.texts[id] == "" {
			r.texts[id] = fmt.Sprintf("0199f0c5-0000-7000-8000-%012d", len(r.texts))
		}
		return r.texts[id]
	})
}

package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// exercised has the key "operation code" for each response that a test received.
var exercised sync.Map

// testedElsewhere maps the error codes that a healthy stack does not return, or only after many
// requests, to the tests that cover them.
var testedElsewhere = map[string]string{
	"INTERNAL":            "gateway: an error without a reason",
	"SERVICE_UNAVAILABLE": "TestUnavailableServices",
	"DEADLINE_EXCEEDED":   "gateway: a service that hangs",
	"RATE_LIMITED":        "auth; it would block the address that all tests share",
	"TOKEN_EXPIRED":       "internal/caller",
	// These take hundreds of requests.
	"WALLET_LIMIT_REACHED":                              "TestCreateWalletLimit",
	"WALLET_CURRENCY_LIMIT_REACHED":                     "TestWalletCurrencyLimit",
	"CATEGORY_LIMIT_REACHED":                            "TestCreateCategoryLimit",
	"BUDGET_LIMIT_REACHED":                              "TestCreateBudgetLimit",
	"INVITATION_LIMIT_REACHED":                          "TestShareBudgetPendingLimit",
	"createAttachment TRANSACTION_IS_TRANSFER":          "TestCreateAttachmentOfTransfer",
	"createImport LIMIT_REACHED":                        "TestCreateImport",
	"createRule LIMIT_REACHED":                          "TestCreateRule",
	"updateRule LIMIT_REACHED":                          "TestUpdateRuleSteps",
	"applyRule LIMIT_REACHED":                           "TestApplyRulePreviewSteps",
	"suggestRules LIMIT_REACHED":                        "TestSuggestRulesSteps",
	"suggestCategories LIMIT_REACHED":                   "TestSuggestCategoriesSteps",
	"updateImport LIMIT_REACHED":                        "TestCreateImportSteps",
	"updateImportRows LIMIT_REACHED":                    "TestCreateImportSteps",
	"updateRule RULE_RUNNING":                           "TestApplyRule",
	"applyRule RULE_RUNNING":                            "TestApplyRule",
	"STORAGE_FULL":                                      "TestUploadsRejectedWithoutSpace",
	"createImport PAYLOAD_TOO_LARGE":                    "TestOpenBombs",
	"createTransaction LIMIT_REACHED":                   "TestCreateTransactionTagLimit",
	"createTransactions LIMIT_REACHED":                  "TestCreateTransactionTagLimit",
	"updateTransaction LIMIT_REACHED":                   "TestCreateTransactionTagLimit",
	"deleteTag LIMIT_REACHED":                           "TestTagErrors",
	"createTransactionsFromReceipt RECEIPT_TOO_COMPLEX": "TestReadLimitsProcessorTime",
	"createTransactionsFromReceipt LIMIT_REACHED":       "TestCreateTransactionsFromReceiptSteps",
	"updateTag LIMIT_REACHED":                           "TestTagErrors",
	"listChanges SYNC_CURSOR_EXPIRED":                   "TestChangesExpiredCursor",
	"deleteImport IMPORT_STATE":                         "TestDeleteImport",
	// Keys are stored per refresh token. The token is the whole request, so a key never meets
	// another request.
	"refresh IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
}

type operation struct {
	method, path string
	*openapi3.Operation
}

func operations() []operation {
	var all []operation
	for path, item := range contract.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, operation{method: method, path: path, Operation: op})
		}
	}
	slices.SortFunc(all,
		func(a, b operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return all
}

// codes returns the error codes that the OpenAPI document lists for the operation.
func (o operation) codes() []string {
	var codes []string
	for status, resp := range o.Responses.Map() {
		if status[0] < '4' {
			continue
		}
		body := resp.Value.Content.Get("application/json").Schema.Value.AllOf[1].Value
		for _, code := range body.Properties["code"].Value.Enum {
			codes = append(codes, code.(string))
		}
	}
	return codes
}

func (o operation) returns(code string) bool { return slices.Contains(o.codes(), code) }

// filled returns the path with unknown ids.
func (o operation) filled() string {
	var b strings.Builder
	for part := range strings.SplitSeq(o.path, "/") {
		if part == "" {
			continue
		}
		if strings.HasPrefix(part, "{") {
			part = uuid.NewString()
		}
		b.WriteString("/" + part)
	}
	return b.String()
}

// hasBody reports whether the operation accepts a JSON body. Separate tests cover the operations
// that accept a form.
func (o operation) hasBody() bool {
	return o.RequestBody != nil && o.RequestBody.Value.Content.Get("application/json") != nil
}

// isUpload reports whether the operation accepts a form with a streamed file.
func (o operation) isUpload() bool {
	return o.RequestBody != nil && o.RequestBody.Value.Content.Get("multipart/form-data") != nil &&
		o.OperationID != "createTransactionsFromReceipt"
}

func eachOperation(
	t *testing.T, which func(operation) bool, test func(*testing.T, *user, operation),
) {
	t.Helper()
	u := newUser(t)
	for _, o := range operations() {
		if which(o) {
			t.Run(o.OperationID, func(t *testing.T) {
				t.Parallel()
				test(t, &user{t: t, token: u.token, email: u.email, password: u.password}, o)
			})
		}
	}
}

// TestOperations sends invalid requests to every operation of the OpenAPI document.
func TestOperations(t *testing.T) {
	t.Parallel()
	t.Run("require a token unless they are public", func(t *testing.T) {
		t.Parallel()
		var public []string
		for _, o := range operations() {
			if !o.returns("UNAUTHORIZED") {
				public = append(public, o.OperationID)
			}
		}
		require.Equal(t, []string{"getKeySet", "login", "refresh", "register"}, public)
		bad := map[string]string{
			"none": "", "no bearer": "Basic YTpi", "no token": "Bearer ", "no JWT": "Bearer abc",
			"alg none": "Bearer " +
				"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." +
				"eyJzdWIiOiIwMTk5ZjBjNS0wMDAwLTcwMDAtODAwMC0w" +
				"MDAwMDAwMDAwMDAiLCJleHAiOjQxMDI0NDQ4MDB9.",
		}
		eachOperation(t, func(o operation) bool { return o.returns("UNAUTHORIZED") },
			func(_ *testing.T, u *user, o operation) {
				valid := u.token
				u.token = ""
				for name, header := range bad {
					var headers []string
					if header != "" {
						headers = []string{"Authorization", header}
					}
					a := u.call(o.method, o.filled(), nil, headers...).fails(401, "UNAUTHORIZED")
					require.True(u.t, strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer"),
						name)
				}
				u.call(o.method, o.filled(), nil, "Authorization",
					"Bearer "+valid[:len(valid)-8]+"AAAAAAAA").fails(401, "UNAUTHORIZED")
			})
	})
	t.Run("reject malformed bodies", func(t *testing.T) {
		t.Parallel()
		bodies := map[string]string{
			"no JSON":        "name=Ada",
			"truncated":      `{"name":"A`,
			"a list":         `[]`,
			"null":           `null`,
			"a string":       `"name"`,
			"two values":     `{} {}`,
			"invalid UTF-8":  "{\"name\":\"\xff\"}",
			"a NaN":          `{"amount":NaN}`,
			"deep nesting":   strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
			"a bad escape":   `{"name":"\x"}`,
			"a control byte": "{\"name\":\"\x01\"}",
		}
		eachOperation(t, operation.hasBody, func(t *testing.T, u *user, o operation) {
			t.Helper()
			for name, body := range bodies {
				a := u.call(o.method, o.filled(), body)
				require.Equal(t, "VALIDATION_ERROR", a.code(), "%s: %d %s", name, a.status, a.raw)
				a.fails(400, "VALIDATION_ERROR")
			}
			u.call(o.method, o.filled(), `{}`, "Content-Type", "text/plain").
				fails(415, "UNSUPPORTED_MEDIA_TYPE")
			u.call(o.method, o.filled(), `{}`, "Content-Type", "application/json",
				"Content-Encoding", "gzip").fails(415, "UNSUPPORTED_MEDIA_TYPE")
			large := `{"name":"` + strings.Repeat("x", 2<<20) + `"}`
			u.call(o.method, o.filled(), large).fails(413, "PAYLOAD_TOO_LARGE")
		})
	})
	t.Run("reject values of another type in each field", func(t *testing.T) {
		t.Parallel()
		eachOperation(t, operation.hasBody, func(t *testing.T, u *user, o operation) {
			t.Helper()
			schema := o.RequestBody.Value.Content.Get("application/json").Schema.Value
			for field, property := range schema.Properties {
				var wrong any = object{"a": 1}
				if property.Value.Type.Is("object") || len(property.Value.AllOf) > 0 {
					wrong = "text"
				}
				a := u.call(o.method, o.filled(), object{field: wrong})
				require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", field, a.raw)
				require.Contains(t, []string{"VALIDATION_ERROR", fieldCodes[field]}, a.code(),
					"%s: %s", field, a.raw)
			}
		})
	})
	t.Run("reject malformed queries", func(t *testing.T) {
		t.Parallel()
		eachOperation(t, func(o operation) bool { return o.returns("VALIDATION_ERROR") },
			func(_ *testing.T, u *user, o operation) {
				u.call(o.method, o.filled()+"?limit=%zz", nil).fails(400, "VALIDATION_ERROR")
			})
	})
}

// fieldCodes maps fields to the code of an error in that field alone. Several errors together have
// the code VALIDATION_ERROR.
var fieldCodes = map[string]string{
	"type": "INVALID_TRANSACTION_TYPE", "date": "INVALID_TRANSACTION_DATE",
	"period":    "INVALID_BUDGET_PERIOD",
	"startDate": "INVALID_BUDGET_TIMEFRAME", "endDate": "INVALID_BUDGET_TIMEFRAME",
	"currency": "UNSUPPORTED_CURRENCY",
	"walletId": "WALLET_NOT_FOUND", "fromWalletId": "WALLET_NOT_FOUND",
	"toWalletId": "WALLET_NOT_FOUND", "toCurrency": "UNSUPPORTED_CURRENCY",
	"outTransactionId": "INVALID_TRANSACTION_ID", "inTransactionId": "INVALID_TRANSACTION_ID",
	"inCategoryId": "INVALID_CATEGORY_EXIST_PARAMS", "categoryId": "INVALID_CATEGORY_EXIST_PARAMS",
	"categoryIds": "INVALID_CATEGORY_EXIST_PARAMS",
}

// TestEmptyUpdate sends PATCH requests without fields, and with unknown fields only.
func TestEmptyUpdate(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	for _, path := range []string{
		"/api/v1/wallet/" + wallet, "/api/v1/categories/" + category,
		"/api/v1/transaction/" + u.spend(wallet, category, "1"),
		"/api/v1/transfers/" + u.post("/api/v1/transfers",
			moves(wallet, u.wallet("EUR", "0"), "1")).text("transfer.id"),
		"/api/v1/budgets/" + u.budget(wallet, category), "/api/v1/auth/me",
		"/api/v1/webhooks/" + u.webhook("https://example.com"),
	} {
		for _, body := range []string{
			`{}`, `{"id":"x","ownerId":"y","createdAt":1,"nothing":{"known":[]}}`,
		} {
			u.patch(path, body).fails(400, "EMPTY_UPDATE")
		}
	}
}

// TestIdempotencyKey repeats each POST with the same key, with the same body and with another one.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	budget := u.budget(wallet, category)
	friend, other := newUser(t), newUser(t)
	first := u.post("/api/v1/rules", u.rule(category)).created("RULE_CREATED").text("rule.id")
	second := u.post("/api/v1/rules", u.rule(category)).created("RULE_CREATED").text("rule.id")
	committed, _ := u.importedFile("Bakery", wallet, category)
	staged := u.importFile(oneRow, wallet).created("IMPORT_CREATED").text("import.id")
	u.patch("/api/v1/imports/"+staged, object{
		"defaults": object{"walletId": wallet, "expenseCategoryId": category},
	}).ok("IMPORT_UPDATED")
	for path, bodies := range map[string][2]object{
		"/api/v1/wallet": {
			{"name": "A", "currency": "EUR"}, {"name": "B", "currency": "EUR"},
		},
		"/api/v1/categories": {{"name": "A"}, {"name": "B"}},
		"/api/v1/transaction": {
			expense(wallet, category, "1"), expense(wallet, category, "2"),
		},
		"/api/v1/transaction/batch": {
			batch(expense(wallet, category, "1")), batch(expense(wallet, category, "2")),
		},
		"/api/v1/budgets": {
			aBudget("A", wallet, category), aBudget("B", wallet, category),
		},
		"/api/v1/budgets/" + budget + "/share": {
			{"email": friend.email}, {"email": other.email},
		},
		"/api/v1/rules/order": {
			{"ids": []any{second, first}}, {"ids": []any{first, second}},
		},
		"/api/v1/rules/" + first + "/apply": {
			{"from": "2026-01-01"}, {"from": "2026-01-02"},
		},
		"/api/v1/imports/" + staged + "/commit?force=true": {{}, {}},
		"/api/v1/imports/" + committed + "/undo":           {{"force": true}, {"force": false}},
		"/api/v1/webhooks": {
			{"url": "https://example.com/a"}, {"url": "https://example.com/b"},
		},
		"/api/v1/auth/register": {
			{"name": "A", "email": "k" + u.email, "password": u.password},
			{"name": "B", "email": "k" + u.email, "password": u.password},
		},
		"/api/v1/auth/login": {{
			"email": u.email, "password": u.password,
		}, {"email": u.email, "password": u.password + "!"}},
	} {
		key := uuid.NewString()
		first := u.post(path, bodies[0], "Idempotency-Key", key)
		require.Contains(t, []int{http.StatusOK, http.StatusCreated, http.StatusAccepted},
			first.status, "%s: %s", path, first.raw)
		require.Empty(t, first.header.Get("Idempotency-Replayed"))
		again := u.post(path, bodies[0], "Idempotency-Key", key)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), path)
		require.JSONEq(t, string(first.raw), string(again.raw))
		path = strings.TrimSuffix(path, "?force=true")
		u.post(path, bodies[1], "Idempotency-Key", key).fails(409, "IDEMPOTENCY_KEY_CONFLICT")
		u.post(path, bodies[1], "Idempotency-Key", strings.Repeat("k", 256)).
			invalid("Idempotency-Key")
	}
}

// TestLocation creates resources, and reads each one with the path in Location.
func TestLocation(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	id := u.spend(wallet, category, "1")
	attached := u.attach(id, "menu.txt", "Soup 4.50")
	require.Equal(t, "/api/v1/attachments/"+attached.text("attachment.id"),
		attached.header.Get("Location"))
	require.Empty(t, u.attach(id, "menu.txt", "Soup 4.50").header.Get("Location"),
		"a file that the transaction has is not created")
	for resource, created := range map[string]response{
		"wallet":      u.post("/api/v1/wallet", object{"name": "A", "currency": "EUR"}),
		"category":    u.post("/api/v1/categories", object{"name": "A"}),
		"transaction": u.post("/api/v1/transaction", expense(wallet, category, "1")),
		"transfer":    u.post("/api/v1/transfers", moves(wallet, u.wallet("EUR", "0"), "1")),
		"budget":      u.post("/api/v1/budgets", aBudget("A", wallet, category)),
		"member": u.post("/api/v1/budgets/"+u.budgetNamed("B", wallet, category)+"/share",
			object{"email": newUser(t).email}),
		"webhook": u.post("/api/v1/webhooks", object{"url": "https://example.com/a"}),
		"rule":    u.post("/api/v1/rules", u.rule(category)),
		"import":  u.importFile(oneRow, wallet),
	} {
		require.Equal(t, http.StatusCreated, created.status, "%s", created.raw)
		read := u.get(created.header.Get("Location"))
		require.Equal(t, http.StatusOK, read.status, "%s: %s", resource, read.raw)
		require.Equal(t, created.text(resource+".id"), read.text(resource+".id"))
	}
	require.Empty(t, u.post("/api/v1/transaction/batch",
		batch(expense(wallet, category, "1"))).header.Get("Location"))
}

// TestIfMatch sends PATCH and DELETE requests with the current and with an old ETag.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	for path, change := range map[string]object{
		"/api/v1/wallet/" + u.wallet("EUR", "0"):                        {"name": "New"},
		"/api/v1/categories/" + u.category("Fun"):                       {"name": "New"},
		"/api/v1/transaction/" + u.spend(wallet, category, "1"):         {"amount": 2},
		"/api/v1/budgets/" + u.budgetNamed("Another", wallet, category): {"name": "New"},
	} {
		tag := u.get(path).header.Get("ETag")
		require.NotEmpty(t, tag)
		after := u.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"))
		u.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		u.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := u.del(path, "If-Match", `"77", `+after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	for path, change := range u.versioned(t, wallet, category) {
		tag := u.get(path).header.Get("ETag")
		require.NotEmpty(t, tag, path)
		require.Equal(t, tag, u.get(path).header.Get("ETag"))
		u.patch(path, change, "If-Match", `"77"`).fails(412, "VERSION_MISMATCH")
		after := u.patch(path, change, "If-Match", tag)
		require.Equal(t, http.StatusOK, after.status, "%s", after.raw)
		require.NotEqual(t, tag, after.header.Get("ETag"), path)
		require.Equal(t, after.header.Get("ETag"), u.get(path).header.Get("ETag"), path)
		u.patch(path, change, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		path = strings.TrimSuffix(path, "/rows")
		u.del(path, "If-Match", tag).fails(412, "VERSION_MISMATCH")
		gone := u.del(path, "If-Match", after.header.Get("ETag"))
		require.Equal(t, http.StatusOK, gone.status, "%s", gone.raw)
	}
	const me = "/api/v1/auth/me"
	tag := u.get(me).ok("USER_FETCHED").header.Get("ETag")
	require.NotEmpty(t, tag)
	require.NotEqual(t, tag,
		u.patch(me, object{"name": "New"}, "If-Match", tag).ok("USER_UPDATED").header.Get("ETag"))
	u.patch(me, object{"name": "Old"}, "If-Match", tag).fails(412, "VERSION_MISMATCH")
	require.Equal(t, "New", u.get(me).text("user.name"))
}

// versioned creates a tag, a member and two imports, and returns a change for the path of each.
func (u *user) versioned(t *testing.T, wallet, category string) map[string]object {
	t.Helper()
	u.record(with(expense(wallet, category, "1"), object{"tags": []any{"Trip"}}))
	budget, friend := u.budgetNamed("Shared", wallet, category), newUser(t)
	u.post("/api/v1/budgets/"+budget+"/share", object{"email": friend.email}).
		created("BUDGET_SHARED")
	staged := func() string {
		return u.importFile(oneRow, wallet).created("IMPORT_CREATED").text("import.id")
	}
	return map[string]object{
		"/api/v1/tags/trip": {"color": "#B5651D"},
		"/api/v1/budgets/" + budget + "/members/" + friend.id: {"role": "editor"},
		"/api/v1/imports/" + staged(): {
			"defaults": object{"walletId": wallet},
		},
		"/api/v1/imports/" + staged() + "/rows": {
			"rows": []any{object{"n": 2, "description": "Bread"}},
		},
	}
}

// TestListParameters sends invalid cursors and limits to every list. A limit above the maximum is
// reduced to it.
func TestListParameters(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	budget := u.budget(u.wallet("EUR", "0"), u.category("Food"))
	for _, o := range operations() {
		if o.Parameters.GetByInAndName("query", "cursor") == nil {
			continue
		}
		path := strings.ReplaceAll(o.path, "{budgetId}", budget)
		if strings.HasPrefix(o.path, "/api/v1/imports/{id}") {
			path = "/api/v1/imports/" + u.importFile(oneRow, "").created("IMPORT_CREATED").
				text("import.id") + "/rows"
		}
		most := 200
		if o.OperationID == "listChanges" {
			most = 1000
		}
		if strings.Contains(o.path, "{webhookId}") {
			path = "/api/v1/webhooks/" + u.webhook("https://example.com") + "/deliveries"
		}
		u.get(path+"?cursor=abc").fails(400, "INVALID_CURSOR")
		for _, limit := range []string{"0", "-1", "x", "1.5", "-99999999999"} {
			u.get(path + "?limit=" + limit).invalid("limit")
		}
		u.get(path+"?limit=1&limit=2").fails(400, "VALIDATION_ERROR")
		for _, limit := range []string{strconv.Itoa(most + 1), "99999999999"} {
			a := u.get(path + "?limit=" + limit)
			require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
			require.Equal(t, json.Number(strconv.Itoa(most)), a.at("pagination.limit"))
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, path := range []string{
		"/api", "/api/v1", "/api/v1/nothing", "/api/v1/wallet/", "/api/v1/wallet/a/b",
		"/api/v2/wallet", "/api/v1//wallet", "/api/v1/transaction/../wallet",
	} {
		u.get(path).fails(404, "ROUTE_NOT_FOUND")
	}
	a := u.call(http.MethodPut, "/api/v1/wallet", object{}).fails(405, "METHOD_NOT_ALLOWED")
	require.Contains(t, a.header.Get("Allow"), "POST")
	u.call(http.MethodDelete, "/api/v1/transaction", nil).fails(405, "METHOD_NOT_ALLOWED")
}

// TestRequestID requires that a valid id of the client is kept and an invalid one is replaced.
func TestRequestID(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	require.Equal(t, "abc-123",
		u.get("/api/v1/wallet", "X-Request-Id", "abc-123").header.Get("X-Request-Id"))
	for _, bad := range []string{strings.Repeat("x", 129), "a\tb", "é"} {
		got := u.get("/api/v1/wallet", "X-Request-Id", bad).header.Get("X-Request-Id")
		require.NotEqual(t, bad, got)
		require.NotEmpty(t, got)
	}
}

// untested returns the errors that the OpenAPI document lists and no test has received.
func untested() []string {
	var missing []string
	for _, o := range operations() {
		for _, code := range o.codes() {
			if _, ok := exercised.Load(o.OperationID + " " + code); !ok && testedElsewhere[code] ==
				"" && testedElsewhere[o.OperationID+" "+code] == "" {
				missing = append(missing, fmt.Sprint(o.OperationID, " ", code))
			}
		}
	}
	return missing
}

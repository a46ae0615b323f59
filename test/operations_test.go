package test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

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
		require.Equal(t, []string{
			"cancelAccountDeletion", "exchangeOidc", "exchangePersonalToken", "finishOidc",
			"forgotPassword", "getAccountDeletion", "getKeySet", "listOidcProviders", "login",
			"loginMfa", "loginPasskey", "loginPasskeyOptions", "openInvitation", "refresh",
			"register", "resetPassword", "revertEmail", "startOidc", "verifyEmail",
		}, public)
		bad := map[string]string{
			"none": "", "no bearer": "Basic YTpi", "no token": "Bearer ", "no JWT": "Bearer abc",
			"alg none": "Bearer " +
				"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." +
				"eyJzdWIiOiIwMTk5ZjBjNS0wMDAwLTcwMDAtODAwMC0w" +
				"MDAwMDAwMDAwMDAiLCJleHAiOjQxMDI0NDQ4MDB9.",
		}
		eachOperation(t, func(o operation) bool { return o.returns("UNAUTHORIZED") },
			func(_ *testing.T, me *user, operation operation) {
				valid := me.token
				me.token = ""
				for name, header := range bad {
					var headers []string
					if header != "" {
						headers = []string{"Authorization", header}
					}
					a := me.call(operation.method, operation.filled(), nil, headers...).fails(401,
						"UNAUTHORIZED")
					require.True(me.t,
						strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer"), name)
				}
				me.call(operation.method, operation.filled(), nil, "Authorization",
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
		eachOperation(t, operation.hasBody, func(t *testing.T, me *user, operation operation) {
			t.Helper()
			for name, body := range bodies {
				a := me.call(operation.method, operation.filled(), body)
				require.Equal(t, "VALIDATION_ERROR", a.code(), "%s: %d %s", name, a.status, a.raw)
				a.fails(400, "VALIDATION_ERROR")
			}
			me.call(operation.method, operation.filled(), `{}`, "Content-Type", "text/plain").
				fails(415, "UNSUPPORTED_MEDIA_TYPE")
			me.call(operation.method, operation.filled(), `{}`, "Content-Type", "application/json",
				"Content-Encoding", "gzip").fails(415, "UNSUPPORTED_MEDIA_TYPE")
			large := `{"name":"` + strings.Repeat("x", 2<<20) + `"}`
			me.call(operation.method, operation.filled(), large).fails(413, "PAYLOAD_TOO_LARGE")
		})
	})
	t.Run("reject values of another type in each field", func(t *testing.T) {
		t.Parallel()
		eachOperation(t, operation.hasBody, func(t *testing.T, me *user, operation operation) {
			t.Helper()
			schema := operation.RequestBody.Value.Content.Get("application/json").Schema.Value
			for field, property := range schema.Properties {
				var wrong any = object{"a": 1}
				if property.Value.Type.Is("object") || len(property.Value.AllOf) > 0 {
					wrong = "text"
				}
				a := me.call(operation.method, operation.filled(), object{field: wrong})
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

// TestListParameters sends invalid cursors and limits to every list. A limit above the maximum is
// reduced to it.
func TestListParameters(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	wallet := me.wallet("EUR", "0")
	budget := me.budget(wallet, me.category("Food"))
	goal := me.goal("Trip", "100")
	for _, operation := range operations() {
		if operation.Parameters.GetByInAndName("query", "cursor") == nil {
			continue
		}
		path := strings.NewReplacer("{budgetId}", budget, "{walletId}", wallet, "{goalId}", goal).
			Replace(operation.path)
		if strings.HasPrefix(operation.path, "/api/v1/imports/{id}") {
			id := me.importFile(oneRow, "").created("IMPORT_CREATED").text("import.id")
			path = "/api/v1/imports/" + id + "/rows"
		}
		most := 200
		if operation.OperationID == "listChanges" {
			most = 1000
		}
		if strings.Contains(operation.path, "{webhookId}") {
			path = "/api/v1/webhooks/" + me.webhook("https://example.com") + "/deliveries"
		}
		me.get(path+"?cursor=abc").fails(400, "INVALID_CURSOR")
		for _, limit := range []string{"0", "-1", "x", "1.5", "-99999999999"} {
			me.get(path + "?limit=" + limit).invalid("limit")
		}
		me.get(path+"?limit=1&limit=2").fails(400, "VALIDATION_ERROR")
		for _, limit := range []string{strconv.Itoa(most + 1), "99999999999"} {
			a := me.get(path + "?limit=" + limit)
			require.Equal(t, http.StatusOK, a.status, "%s", a.raw)
			require.Equal(t, json.Number(strconv.Itoa(most)), a.at("pagination.limit"))
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	for _, path := range []string{
		"/api", "/api/v1", "/api/v1/nothing", "/api/v1/wallet/", "/api/v1/wallet/a/b",
		"/api/v2/wallet", "/api/v1//wallet", "/api/v1/transaction/../wallet",
	} {
		me.get(path).fails(404, "ROUTE_NOT_FOUND")
	}
	a := me.call(http.MethodPut, "/api/v1/wallet", object{}).fails(405, "METHOD_NOT_ALLOWED")
	require.Contains(t, a.header.Get("Allow"), "POST")
	me.call(http.MethodDelete, "/api/v1/transaction", nil).fails(405, "METHOD_NOT_ALLOWED")
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

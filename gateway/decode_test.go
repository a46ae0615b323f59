package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const transactionPath = "/api/v1/transaction"

// Messages of invalid fields and bodies that clients see.
const (
	problemString  = "must be a string"
	problemNumber  = "must be a number"
	problemInteger = "must be an integer"
	problemList    = "must be an array"
	problemObject  = "must be an object"
	problemTwice   = "must be given only once"
	problemUTF8    = "must be valid UTF-8"
	problemNUL     = "must not contain NUL"

	invalidJSON = "The request body is not valid JSON"
	invalidUTF8 = "The request body is not valid UTF-8"
	notAnObject = "The request body must be a JSON object"
	tooDeep     = "The request body must not be nested more than 64 levels deep"

	maxProblems = 50
)

func TestDecodePassesBodyUnchanged(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
	reply := gate.send("POST", transactionPath, `{
		"amount": 0.10e1, "description": "caf\u00e9 \ud83d\ude00", "date":"2026-01-02",
		"currency":"usd", "walletId":"w", "categoryId":"c", "type":null, "id":"mine",
		"ownerId":{"a":[1,{"b":null}]}, "idempotencyKey":"no", "idempotency_key":"no",
		"wallet_id":"no"}`, "Idempotency-Key", "key-1")
	require.Equal(t, http.StatusCreated, reply.StatusCode, reply.text)
	want := &ledgerv1.CreateTransactionRequest{
		Amount: "0.10e1", Description: "café 😀", Date: "2026-01-02", Currency: "usd", WalletId: "w",
		CategoryId: "c", IdempotencyKey: "key-1",
	}
	got := received[*ledgerv1.CreateTransactionRequest](gate)
	require.True(t, proto.Equal(want, got), got)
}

func TestDecodeNamesBadField(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, field, message string }{
		"a string for an amount":      {`{"balance":"12.30"}`, "balance", problemNumber},
		"a boolean for an amount":     {`{"balance":true}`, "balance", problemNumber},
		"an array for an amount":      {`{"balance":[1]}`, "balance", problemNumber},
		"an object for an amount":     {`{"balance":{"a":1}}`, "balance", problemNumber},
		"a number for a string":       {`{"currency":1}`, "currency", problemString},
		"a boolean for a string":      {`{"name":false}`, "name", problemString},
		"an object for a string":      {`{"name":{"id":"x"}}`, "name", problemString},
		"NUL in a string":             {`{"name":"a\u0000b"}`, "name", problemNUL},
		"half a surrogate pair":       {`{"name":"\ud800"}`, "name", problemUTF8},
		"the other half alone":        {`{"name":"x\udc00"}`, "name", problemUTF8},
		"two first halves":            {`{"name":"\ud800\ud800"}`, "name", problemUTF8},
		"half and an escaped newline": {`{"name":"\ud800\n0000"}`, "name", problemUTF8},
		"a name twice":                {`{"balance":1,"balance":2}`, "balance", problemTwice},
		"a name twice, escaped once": {
			`{"balance":1,"\u0062alance":2}`, "balance", problemTwice,
		},
		"an unknown name twice":           {`{"x":1,"x":2}`, "x", problemTwice},
		"a name twice in what is skipped": {`{"x":[{"y":1,"y":2}]}`, "x.y", problemTwice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("POST", "/api/v1/wallet", tc.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, map[string]string{tc.field: tc.message}, r.details())
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeNamesAllProblems(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	got := gate.send("PATCH", "/api/v1/budgets/"+anID,
		`{"name":2,"categoryIds":["a",1,null,["b"]],"alertThresholds":{}}`)
	require.Equal(t, map[string]string{
		"name": problemString, "alertThresholds": problemList,
		"categoryIds[1]": problemString, "categoryIds[2]": problemString,
		"categoryIds[3]": problemString,
	}, got.details())
	got = gate.send("POST", "/api/v1/budgets", `{"categoryIds":"a"}`)
	require.Equal(t, map[string]string{"categoryIds": problemList}, got.details())
	got = gate.send("POST", "/api/v1/budgets", `{"categoryIds":[`+strings.Repeat("1,", 10000)+`1]}`)
	require.Len(t, got.details(), maxProblems)
}

func TestDecodeForwardsInvalidValues(t *testing.T) {
	t.Parallel()
	const invalid = "\uFFFD"
	bodies := []string{`true`, `[1]`, `{"a":[]}`, `"\u0000"`, `"\ud800"`}
	for _, value := range append(bodies, `""`, `20261120`) {
		t.Run("create "+value, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t,
				map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath,
				`{"date":`+value+`,"currency":`+value+`,"walletId":`+value+`,"description":"x"}`)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			want := &ledgerv1.CreateTransactionRequest{
				Date: invalid, Currency: invalid, WalletId: invalid, Description: "x",
			}
			require.True(t, proto.Equal(want, received[*ledgerv1.CreateTransactionRequest](a)))
		})
	}
	for _, value := range append(bodies, `""`, `"12.30"`) {
		t.Run("number "+value, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t,
				map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath, `{"amount":`+value+`}`)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			require.Equal(t, invalid, received[*ledgerv1.CreateTransactionRequest](a).GetAmount())
		})
	}
	t.Run("empty string with presence", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"UpdateBudget": &budgetv1.UpdateBudgetResponse{}})
		r := a.send("PATCH", "/api/v1/budgets/"+anID,
			`{"startDate":"","endDate":null,"period":7,"limit":"1"}`)
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		want := &budgetv1.UpdateBudgetRequest{
			Id: anID, StartDate: proto.String(""), EndDate: proto.String(""),
			Period: proto.String(invalid), Limit: proto.String(invalid),
		}
		require.True(t, proto.Equal(want, received[*budgetv1.UpdateBudgetRequest](a)))
	})
}

func TestDecodeRejectsNonObjects(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tc := range map[string]struct {
		body string
		want string
	}{
		"broken":                {`{"amount":`, invalidJSON},
		"single quotes":         {`{'amount':1}`, invalidJSON},
		"a comma too many":      {`{"amount":1,}`, invalidJSON},
		"NaN":                   {`{"amount":NaN}`, invalidJSON},
		"Infinity":              {`{"amount":-Infinity}`, invalidJSON},
		"a plus sign":           {`{"amount":+1}`, invalidJSON},
		"a leading zero":        {`{"amount":01}`, invalidJSON},
		"a hexadecimal number":  {`{"amount":0x10}`, invalidJSON},
		"trailing data":         {`{"amount":1} {}`, invalidJSON},
		"a trailing brace":      {`{"amount":1}}`, invalidJSON},
		"a raw NUL":             {"{\"description\":\"\x00\"}", invalidJSON},
		"a byte order mark":     {"\ufeff{}", invalidJSON},
		"an array":              {`[]`, notAnObject},
		"a string":              {`"x"`, notAnObject},
		"null":                  {`null`, notAnObject},
		"invalid UTF-8":         {"{\"description\":\"\xff\"}", invalidUTF8},
		"invalid UTF-8 skipped": {"{\"x\xc0\":1}", invalidUTF8},
		"65 levels":             {`{"x":` + deep(64) + `}`, tooDeep},
		"100 000 levels":        {`{"x":` + deep(100_000) + `}`, invalidJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("POST", transactionPath, tc.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, tc.want, r.json["message"])
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeAcceptsUnusualJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, amount string }{
		"64 levels": {
			`{"amount":1,"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, "1",
		},
		"a huge exponent": {`{"amount":1e400}`, "1e400"},
		"many digits": {
			`{"amount":` + strings.Repeat("9", 400) + `}`, strings.Repeat("9", 400),
		},
		"white space":          {" \r\n\t{ \"amount\" : 1 } \n", "1"},
		"nothing":              {" ", ""},
		"a pair of surrogates": {`{"amount":1,"description":"\ud83d\ude00 \\ud800"}`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t,
				map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath, tc.body)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			require.Equal(t, tc.amount, received[*ledgerv1.CreateTransactionRequest](a).GetAmount())
		})
	}
}

func TestDecodeDistinguishesEmptyAndAbsentList(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*budgetv1.CategoryIds{
		`{"categoryIds":[]}`:        {},
		`{"categoryIds":["a","b"]}`: {Values: []string{"a", "b"}},
		`{}`:                        nil,
	} {
		a := newAPI(t, map[string]any{"UpdateBudget": &budgetv1.UpdateBudgetResponse{}})
		require.Equal(t, http.StatusOK,
			a.send("PATCH", "/api/v1/budgets/"+anID, body, "If-Match", `"3"`).StatusCode)
		got := received[*budgetv1.UpdateBudgetRequest](a)
		require.True(t, proto.Equal(want, got.GetCategoryIds()), "%s: %v", body, got)
		require.Equal(t, want == nil, got.CategoryIds == nil, body)
		require.Equal(t, `"3"`, got.GetIfMatch())
	}
}

func TestDecodeNullClearsRemovableFields(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*string{
		`{"endDate":null}`: proto.String(""), `{"endDate":""}`: proto.String(""), `{}`: nil,
	} {
		a := newAPI(t, map[string]any{"UpdateBudget": &budgetv1.UpdateBudgetResponse{}})
		require.Equal(t, http.StatusOK, a.send("PATCH", "/api/v1/budgets/"+anID, body).StatusCode)
		got := received[*budgetv1.UpdateBudgetRequest](a)
		require.Equal(t, want, got.EndDate, body)
		require.Nil(t, got.Name)
	}
}

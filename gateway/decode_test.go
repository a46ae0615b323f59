package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
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
	a := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
	r := a.send("POST", transactionPath, `{"amount": 0.10e1, "description": "caf\u00e9 \ud83d\ude00", "date":"2026-01-02", "currency":"usd",
		"walletId":"w", "categoryId":"c", "type":null, "id":"mine", "ownerId":{"a":[1,{"b":null}]}, "idempotencyKey":"no", "idempotency_key":"no", "wallet_id":"no"}`,
		"Idempotency-Key", "key-1")
	require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
	want := &ledgerv1.CreateTransactionRequest{
		Amount: "0.10e1", Description: "café 😀", Date: "2026-01-02", Currency: "usd", WalletId: "w", CategoryId: "c", IdempotencyKey: "key-1",
	}
	got := received[*ledgerv1.CreateTransactionRequest](a)
	require.True(t, proto.Equal(want, got), got)
}

func TestDecodeNamesBadField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, field, message string }{
		"a string for an amount":          {`{"balance":"12.30"}`, "balance", problemNumber},
		"a boolean for an amount":         {`{"balance":true}`, "balance", problemNumber},
		"an array for an amount":          {`{"balance":[1]}`, "balance", problemNumber},
		"an object for an amount":         {`{"balance":{"a":1}}`, "balance", problemNumber},
		"a number for a string":           {`{"currency":1}`, "currency", problemString},
		"a boolean for a string":          {`{"name":false}`, "name", problemString},
		"an object for a string":          {`{"name":{"id":"x"}}`, "name", problemString},
		"NUL in a string":                 {`{"name":"a\u0000b"}`, "name", problemNUL},
		"half a surrogate pair":           {`{"name":"\ud800"}`, "name", problemUTF8},
		"the other half alone":            {`{"name":"x\udc00"}`, "name", problemUTF8},
		"two first halves":                {`{"name":"\ud800\ud800"}`, "name", problemUTF8},
		"half and an escaped newline":     {`{"name":"\ud800\n0000"}`, "name", problemUTF8},
		"a name twice":                    {`{"balance":1,"balance":2}`, "balance", problemTwice},
		"a name twice, escaped once":      {`{"balance":1,"\u0062alance":2}`, "balance", problemTwice},
		"an unknown name twice":           {`{"x":1,"x":2}`, "x", problemTwice},
		"a name twice in what is skipped": {`{"x":[{"y":1,"y":2}]}`, "x.y", problemTwice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("POST", "/api/v1/wallet", c.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, map[string]string{c.field: c.message}, r.details())
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeNamesAllProblems(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("PATCH", "/api/v1/budgets/"+anID, `{"name":2,"categoryIds":["a",1,null,["b"]],"alertThresholds":{}}`)
	require.Equal(t, map[string]string{
		"name": problemString, "alertThresholds": problemList,
		"categoryIds[1]": problemString, "categoryIds[2]": problemString, "categoryIds[3]": problemString,
	}, r.details())
	r = a.send("POST", "/api/v1/budgets", `{"categoryIds":"a"}`)
	require.Equal(t, map[string]string{"categoryIds": problemList}, r.details())
	r = a.send("POST", "/api/v1/budgets", `{"categoryIds":[`+strings.Repeat("1,", 10000)+`1]}`)
	require.Len(t, r.details(), maxProblems)
}

func TestDecodeForwardsInvalidValues(t *testing.T) {
	t.Parallel()
	const invalid = "\uFFFD"
	bodies := []string{`true`, `[1]`, `{"a":[]}`, `"\u0000"`, `"\ud800"`}
	for _, value := range append(bodies, `""`, `20261120`) {
		t.Run("create "+value, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath, `{"date":`+value+`,"currency":`+value+`,"walletId":`+value+`,"description":"x"}`)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			want := &ledgerv1.CreateTransactionRequest{Date: invalid, Currency: invalid, WalletId: invalid, Description: "x"}
			require.True(t, proto.Equal(want, received[*ledgerv1.CreateTransactionRequest](a)))
		})
	}
	for _, value := range append(bodies, `""`, `"12.30"`) {
		t.Run("number "+value, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath, `{"amount":`+value+`}`)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			require.Equal(t, invalid, received[*ledgerv1.CreateTransactionRequest](a).GetAmount())
		})
	}
	t.Run("empty string with presence", func(t *testing.T) {
		t.Parallel()
		a := newAPI(t, map[string]any{"UpdateBudget": &budgetv1.UpdateBudgetResponse{}})
		r := a.send("PATCH", "/api/v1/budgets/"+anID, `{"startDate":"","endDate":null,"period":7,"limit":"1"}`)
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		want := &budgetv1.UpdateBudgetRequest{
			Id: anID, StartDate: proto.String(""), EndDate: proto.String(""), Period: proto.String(invalid), Limit: proto.String(invalid),
		}
		require.True(t, proto.Equal(want, received[*budgetv1.UpdateBudgetRequest](a)))
	})
}

func TestDecodeRejectsNonObjects(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct {
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
			r := a.send("POST", transactionPath, c.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, c.want, r.json["message"])
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeAcceptsUnusualJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, amount string }{
		"64 levels":            {`{"amount":1,"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, "1"},
		"a huge exponent":      {`{"amount":1e400}`, "1e400"},
		"many digits":          {`{"amount":` + strings.Repeat("9", 400) + `}`, strings.Repeat("9", 400)},
		"white space":          {" \r\n\t{ \"amount\" : 1 } \n", "1"},
		"nothing":              {" ", ""},
		"a pair of surrogates": {`{"amount":1,"description":"\ud83d\ude00 \\ud800"}`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			r := a.send("POST", transactionPath, c.body)
			require.Equal(t, http.StatusCreated, r.StatusCode, r.text)
			require.Equal(t, c.amount, received[*ledgerv1.CreateTransactionRequest](a).GetAmount())
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
		require.Equal(t, http.StatusOK, a.send("PATCH", "/api/v1/budgets/"+anID, body, "If-Match", `"3"`).StatusCode)
		got := received[*budgetv1.UpdateBudgetRequest](a)
		require.True(t, proto.Equal(want, got.GetCategoryIds()), "%s: %v", body, got)
		require.Equal(t, want == nil, got.CategoryIds == nil, body)
		require.Equal(t, `"3"`, got.GetIfMatch())
	}
}

func TestDecodeNullClearsRemovableFields(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*string{`{"endDate":null}`: proto.String(""), `{"endDate":""}`: proto.String(""), `{}`: nil} {
		a := newAPI(t, map[string]any{"UpdateBudget": &budgetv1.UpdateBudgetResponse{}})
		require.Equal(t, http.StatusOK, a.send("PATCH", "/api/v1/budgets/"+anID, body).StatusCode)
		got := received[*budgetv1.UpdateBudgetRequest](a)
		require.Equal(t, want, got.EndDate, body)
		require.Nil(t, got.Name)
	}
}

func TestDecodePathTakesPrecedenceOverBody(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"UpdateWallet": &ledgerv1.UpdateWalletResponse{}})
	r := a.send("PATCH", "/api/v1/wallet/the-path", `{"id":"body","archived":false,"ifMatch":"body"}`)
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	want := &ledgerv1.UpdateWalletRequest{Id: "the-path", Archived: proto.Bool(false)}
	require.True(t, proto.Equal(want, received[*ledgerv1.UpdateWalletRequest](a)))
}

func TestDecodeQueryFillsRequest(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"ListTransactions": &ledgerv1.ListTransactionsResponse{}})
	r := a.send("GET", transactionPath+"?walletId=a&walletId=b&minAmount=-1.50&limit=7&q=a%20b%26&cursor=", "")
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	want := &ledgerv1.ListTransactionsRequest{
		WalletId: []string{"a", "b"}, MinAmount: proto.String("-1.50"), Limit: proto.Int32(7), Q: proto.String("a b&"),
	}
	require.True(t, proto.Equal(want, received[*ledgerv1.ListTransactionsRequest](a)))

	for number, want := range map[string]int32{"99999999999999999999": math.MaxInt32, "-2147483649": math.MinInt32} {
		a := newAPI(t, map[string]any{"ListTransactions": &ledgerv1.ListTransactionsResponse{}})
		r := a.send("GET", transactionPath+"?limit="+number, "")
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		require.Equal(t, want, received[*ledgerv1.ListTransactionsRequest](a).GetLimit(), "the service rejects it")
	}
}

func TestDecodeQueryNamesBadParameter(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]map[string]string{
		"limit=x":                  {"limit": problemInteger},
		"limit=":                   {"limit": problemInteger},
		"limit=1.0":                {"limit": problemInteger},
		"limit=1&limit=2":          {"limit": problemTwice},
		"type=a&type=b":            {"type": problemTwice},
		"minAmount=NaN":            {"minAmount": problemNumber},
		"minAmount=1,5&maxAmount=": {"minAmount": problemNumber, "maxAmount": problemNumber},
		"q=%ff":                    {"q": problemUTF8},
		"q=%00":                    {"q": problemNUL},
		"walletId=a&walletId=%00":  {"walletId": problemNUL},
		"q=%zz":                    {},
		"q=a;b":                    {},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("GET", transactionPath+"?"+query, "")
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, want, r.details())
			require.Zero(t, a.calls())
		})
	}
}

func TestDecodeIgnoresBodyOfBodilessRoutes(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"GetWallet": &ledgerv1.GetWalletResponse{}, "Logout": &authv1.LogoutResponse{}})
	require.Equal(t, http.StatusOK, a.send("GET", "/api/v1/wallet/"+anID, `{broken`, "Content-Type", "text/plain").StatusCode)
	require.Equal(t, http.StatusOK, a.send("POST", "/api/v1/auth/logout", "").StatusCode)
}

func TestDecodeUnusualPathIDs(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"%00": "\x00", "%ff": "\uFFFD", "%20": " ", "a:b": "a:b", ":": ":", "%3A": ":", "a%3Fb": "a?b", "*": "*", "{id}": "{id}", "%25zz": "%zz", "+": "+", "...": "...", "receipt": "receipt",
	} {
		a := newAPI(t, map[string]any{"GetTransaction": apierr.New(restv1.Reason_INVALID_TRANSACTION_ID).WithMessage("Invalid transaction id")})
		a.requireFailure(a.send("GET", transactionPath+"/"+path, ""), http.StatusBadRequest, "INVALID_TRANSACTION_ID")
		require.Equal(t, want, received[*ledgerv1.GetTransactionRequest](a).GetId(), path)
	}
	for _, path := range []string{"/", "//x", "/a%2Fb", "/a%2fb", "/x/", "/x/y"} {
		a := newAPI(t, nil)
		a.requireFailure(a.send("GET", transactionPath+path, ""), http.StatusNotFound, "ROUTE_NOT_FOUND")
	}
}

func TestDecodeRejectsOtherMediaTypes(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"CreateWallet": &ledgerv1.CreateWalletResponse{}})
	for _, headers := range [][]string{
		{"Content-Type", ""},
		{"Content-Type", "text/plain"},
		{"Content-Type", "application/xml"},
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Content-Type", "multipart/form-data; boundary=x"},
		{"Content-Type", "application/json; charset=latin1"},
		{"Content-Type", "application/json; charset"},
		{"Content-Type", "application/jsonx"},
		{"Content-Encoding", "gzip"},
	} {
		a.requireFailure(a.send("POST", "/api/v1/wallet", `{}`, headers...), http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	}
	a.requireFailure(a.send("POST", receiptPath, `{}`), http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	require.Zero(t, a.calls())
	for _, headers := range [][]string{
		{"Content-Type", "application/json; charset=UTF-8"}, {"Content-Type", "Application/JSON"}, {"Content-Encoding", "identity"},
	} {
		require.Equal(t, http.StatusCreated, a.send("POST", "/api/v1/wallet", `{}`, headers...).StatusCode)
	}
}

// endless is a body of spaces that counts the bytes read from it.
type endless struct {
	left int64
	read atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	copy(p, bytes.Repeat([]byte(" "), n))
	e.left -= int64(n)
	e.read.Add(int64(n))
	return n, nil
}

func TestDecodeRejectsLargeBodiesUnread(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	for name, length := range map[string]int64{"declared": 100 << 20, "chunked": -1} {
		for path, contentType := range map[string]string{"/api/v1/wallet": "application/json", receiptPath: "multipart/form-data; boundary=x"} {
			body := &endless{left: 100 << 20}
			start := "--x\r\nContent-Disposition: form-data; name=\"receipt\"; filename=\"r.jpg\"\r\n\r\n"
			if path != receiptPath {
				start = ""
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", a.url+path, io.NopCloser(io.MultiReader(strings.NewReader(start), body)))
			require.NoError(t, err)
			req.ContentLength = length
			req.Header = http.Header{"Authorization": {"Bearer " + a.token}, "Content-Type": {contentType}}
			resp, err := (&http.Transport{}).RoundTrip(req)
			require.NoError(t, err, name+path)
			require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, name+path)
			require.NoError(t, resp.Body.Close())
			require.Less(t, body.read.Load(), int64(40<<20), name+path)
		}
	}
	a.requireFailure(a.send("POST", "/api/v1/wallet", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`), http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	require.Zero(t, a.calls())
}

func TestDecodeRejectsTruncatedBody(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(a.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{}", a.token)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
	require.Zero(t, a.calls())
}

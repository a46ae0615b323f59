package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/require"
)

// object is a JSON object. Its numbers are json.Number, so that amounts are compared digit by
// digit.
type object = map[string]any

var httpClient = &http.Client{Timeout: time.Minute}

// user is a client of the API. Without a token it is an anonymous client.
type user struct {
	t require.TestingT
	// base is the URL of the stack, or empty for baseURL. host is the header Host, or empty for the
	// host of the URL.
	base, host      string
	email, password string
	id, token       string
	refreshToken    string
}

var userNumber atomic.Int64

// newUser registers and signs in a user on the stack that the tests share.
func newUser(t require.TestingT) *user { return newUserAt(t, baseURL, "Ada") }

// newUserAt registers and signs in a user on another stack.
func newUserAt(t require.TestingT, base, name string) *user {
	u := &user{
		t: t, base: base, password: "a long enough secret",
		email: fmt.Sprintf("p%d-%d@example.com", time.Now().UnixNano(), userNumber.Add(1)),
	}
	u.id = u.post("/api/v1/auth/register", object{
		"name": name, "email": u.email, "password": u.password,
	}).created("USER_REGISTERED").text("user.id")
	registered.Store(u.id, true)
	u.signIn()
	return u
}

// dial opens a connection to the stack, for requests that http.Client cannot send.
func (u *user) dial() net.Conn {
	address, err := url.Parse(cmp.Or(u.base, baseURL))
	require.NoError(u.t, err)
	conn, err := net.Dial("tcp", net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), "80")))
	require.NoError(u.t, err)
	return conn
}

func (u *user) signIn() {
	login := u.post("/api/v1/auth/login", object{"email": u.email, "password": u.password}).
		ok("LOGIN_SUCCESS")
	u.token, u.refreshToken = login.text("accessToken"), login.text("refreshToken")
}

// response is a response to a request.
type response struct {
	t      require.TestingT
	status int
	header http.Header
	raw    []byte
	body   object
}

func (u *user) get(path string, headers ...string) response {
	return u.call(http.MethodGet, path, nil, headers...)
}

func (u *user) post(path string, body any, headers ...string) response {
	return u.call(http.MethodPost, path, body, headers...)
}

func (u *user) patch(path string, body any, headers ...string) response {
	return u.call(http.MethodPatch, path, body, headers...)
}

func (u *user) del(path string, headers ...string) response {
	return u.call(http.MethodDelete, path, nil, headers...)
}

// call sends a body as JSON. Strings and bytes are sent unchanged. headers are alternating names
// and values.
func (u *user) call(method, path string, body any, headers ...string) response {
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent = []byte(b)
	case []byte:
		sent = b
	default:
		var err error
		sent, err = json.Marshal(b)
		require.NoError(u.t, err)
	}
	req, err := http.NewRequest(method, cmp.Or(u.base, baseURL)+path, bytes.NewReader(sent))
	require.NoError(u.t, err)
	req.Host = u.host
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if u.token != "" {
		req.Header.Set("Authorization", "Bearer "+u.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return u.send(req)
}

// send sends a request. It validates the response of each documented route against the OpenAPI
// document.
func (u *user) send(req *http.Request) response {
	resp, err := httpClient.Do(req)
	require.NoError(u.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(u.t, err)
	reply := response{t: u.t, status: resp.StatusCode, header: resp.Header, raw: raw}
	isJSON := strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json")
	if isJSON && req.Method != http.MethodHead {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		require.NoError(u.t, decoder.Decode(&reply.body), "%s", raw)
	}
	route := req.Clone(req.Context())
	route.URL.Scheme, route.URL.Host = "", ""
	// The document's router also matches ids with a colon or a slash, which the gateway does not
	// route.
	routed := reply.code() != "ROUTE_NOT_FOUND" && reply.code() != "METHOD_NOT_ALLOWED"
	if found, params, err := router.FindRoute(route); err == nil && routed {
		exercised.Store(found.Operation.OperationID+" "+reply.code(), true)
		err := openapi3filter.ValidateResponse(req.Context(),
			&openapi3filter.ResponseValidationInput{
				RequestValidationInput: &openapi3filter.RequestValidationInput{
					Request: req, PathParams: params, Route: found,
				},
				Status: reply.status, Header: reply.header,
				Body:    io.NopCloser(bytes.NewReader(raw)),
				Options: &openapi3filter.Options{IncludeResponseStatus: true},
			})
		require.NoError(u.t, err, "%s %s: %d %s", req.Method, req.URL.Path, reply.status, raw)
	}
	return reply
}

func (a response) code() string {
	code, _ := a.body["code"].(string)
	return code
}

func (a response) is(status int, code string) response {
	require.Equal(a.t, fmt.Sprint(status, " ", code), fmt.Sprint(a.status, " ", a.code()),
		"%s", a.raw)
	return a
}

func (a response) ok(code string) response { return a.is(http.StatusOK, code) }

func (a response) created(code string) response { return a.is(http.StatusCreated, code) }

// fails requires an error with the status, the code and the fields that all errors have.
func (a response) fails(status int, code string) response {
	a.is(status, code)
	require.NotEmpty(a.t, a.body["message"], "%s", a.raw)
	require.Equal(a.t, a.body["message"], a.body["error"], "%s", a.raw)
	require.Equal(a.t, a.header.Get("X-Request-Id"), a.body["requestId"], "%s", a.raw)
	return a
}

// blames requires that the error names exactly these fields.
func (a response) blames(fields ...string) response {
	var got []string
	details, _ := a.body["details"].([]any)
	for _, d := range details {
		got = append(got, d.(object)["field"].(string))
	}
	require.ElementsMatch(a.t, fields, got, "%s", a.raw)
	return a
}

// invalid requires a validation error that names exactly these fields.
func (a response) invalid(fields ...string) response {
	return a.fails(http.StatusBadRequest, "VALIDATION_ERROR").blames(fields...)
}

// at returns the value at a path like "user.id" or "wallets.0.name".
func (a response) at(path string) any {
	var value any = a.body
	for step := range strings.SplitSeq(path, ".") {
		switch x := value.(type) {
		case object:
			value = x[step]
		case []any:
			var i int
			_, err := fmt.Sscan(step, &i)
			require.NoError(a.t, err, path)
			require.Less(a.t, i, len(x), "%s in %s", path, a.raw)
			value = x[i]
		default:
			require.Fail(a.t, "no such field", "%s in %s", path, a.raw)
		}
	}
	return value
}

// text returns the value at a path as a string. Numbers keep their digits.
func (a response) text(path string) string {
	v := a.at(path)
	require.NotNil(a.t, v, "%s in %s", path, a.raw)
	return fmt.Sprint(v)
}

// texts returns the texts at several paths.
func (a response) texts(paths ...string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, a.text(path))
	}
	return out
}

func (a response) list(path string) []any {
	v, ok := a.at(path).([]any)
	require.True(a.t, ok, "%s in %s", path, a.raw)
	return v
}

func (u *user) wallet(currency, balance string) string {
	return u.post("/api/v1/wallet", object{
		"name": "Cash", "currency": currency, "balance": json.Number(balance), "openingDate": nil,
	}).created("WALLET_CREATED").text("wallet.id")
}

func (u *user) category(name string) string {
	return u.post("/api/v1/categories", object{"name": name}).created("CATEGORY_CREATED").
		text("category.id")
}

// with returns the fields of both objects. If both have a field, the value of more is used.
func with(body, more object) object {
	all := object{}
	for _, from := range []object{body, more} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}

// expense returns the body of an ordinary transaction.
func expense(wallet, category, amount string) object {
	return object{
		"amount": json.Number(amount), "date": "2026-03-14", "currency": "EUR", "walletId": wallet,
		"categoryId": category, "type": "expense",
	}
}

// record creates a transaction and returns its id.
func (u *user) record(body any) string {
	return u.post("/api/v1/transaction", body).created("TRANSACTION_CREATED").text("transaction.id")
}

func (u *user) spend(wallet, category, amount string) string {
	return u.record(expense(wallet, category, amount))
}

func (u *user) balance(wallet string) string {
	return u.get("/api/v1/wallet/" + wallet).ok("WALLET_FETCHED").text("wallet.balance")
}

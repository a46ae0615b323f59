package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/require"
)

// object is a JSON object. Numbers are json.Number: money is compared digit for digit.
type object = map[string]any

var browser = &http.Client{Timeout: time.Minute}

// person is somebody who calls the API.
type person struct {
	t require.TestingT
	// base is where to; empty: baseURL.
	base            string
	email, password string
	id, token       string
	refreshToken    string
}

var people atomic.Int64

// newPerson registers and signs in somebody new.
func newPerson(t require.TestingT) *person { return newPersonAt(t, baseURL, "Ada") }

// newPersonAt does so on another stack than that of all tests.
func newPersonAt(t require.TestingT, base, name string) *person {
	p := &person{
		t: t, base: base, password: "a long enough secret",
		email: fmt.Sprintf("p%d-%d@example.com", time.Now().UnixNano(), people.Add(1)),
	}
	p.id = p.post("/api/v1/auth/register", object{"name": name, "email": p.email, "password": p.password}).created("USER_REGISTERED").text("user.id")
	p.signIn()
	return p
}

func (p *person) signIn() {
	login := p.post("/api/v1/auth/login", object{"email": p.email, "password": p.password}).ok("LOGIN_SUCCESS")
	p.token, p.refreshToken = login.text("accessToken"), login.text("refreshToken")
}

// answer is what came back.
type answer struct {
	t      require.TestingT
	status int
	header http.Header
	raw    []byte
	body   object
}

func (p *person) get(path string, headers ...string) answer {
	return p.call(http.MethodGet, path, nil, headers...)
}

func (p *person) post(path string, body any, headers ...string) answer {
	return p.call(http.MethodPost, path, body, headers...)
}

func (p *person) patch(path string, body any, headers ...string) answer {
	return p.call(http.MethodPatch, path, body, headers...)
}

func (p *person) del(path string, headers ...string) answer {
	return p.call(http.MethodDelete, path, nil, headers...)
}

// call sends a body as JSON, or as it is when it is a string or bytes. headers are names and values in turn.
func (p *person) call(method, path string, body any, headers ...string) answer {
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
		require.NoError(p.t, err)
	}
	req, err := http.NewRequest(method, cmp.Or(p.base, baseURL)+path, bytes.NewReader(sent))
	require.NoError(p.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return p.send(req)
}

// upload sends a receipt with form fields, names and values in turn.
func (p *person) upload(query string, file []byte, fields ...string) answer {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if file != nil {
		part, err := w.CreateFormFile("receipt", "receipt")
		require.NoError(p.t, err)
		_, err = part.Write(file)
		require.NoError(p.t, err)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		require.NoError(p.t, w.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(p.t, w.Close())
	return p.call(http.MethodPost, "/api/v1/transaction/receipt"+query, form.Bytes(), "Content-Type", w.FormDataContentType())
}

// send holds every answer of a documented route against the OpenAPI document.
func (p *person) send(req *http.Request) answer {
	resp, err := browser.Do(req)
	require.NoError(p.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	a := answer{t: p.t, status: resp.StatusCode, header: resp.Header, raw: raw}
	if req.Method != http.MethodHead && strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		require.NoError(p.t, decoder.Decode(&a.body), "%s", raw)
	}
	route := req.Clone(req.Context())
	route.URL.Scheme, route.URL.Host = "", ""
	// An id with a colon or a slash in it makes a route that is none.
	if found, params, err := router.FindRoute(route); err == nil && a.code() != "ROUTE_NOT_FOUND" && a.code() != "METHOD_NOT_ALLOWED" {
		exercised.Store(found.Operation.OperationID+" "+a.code(), true)
		err := openapi3filter.ValidateResponse(req.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: found},
			Status:                 a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(raw)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		require.NoError(p.t, err, "%s %s: %d %s", req.Method, req.URL.Path, a.status, raw)
	}
	return a
}

func (a answer) code() string {
	code, _ := a.body["code"].(string)
	return code
}

func (a answer) is(status int, code string) answer {
	require.Equal(a.t, fmt.Sprint(status, " ", code), fmt.Sprint(a.status, " ", a.code()), "%s", a.raw)
	return a
}

func (a answer) ok(code string) answer { return a.is(http.StatusOK, code) }

func (a answer) created(code string) answer { return a.is(http.StatusCreated, code) }

// fails requires an error in the one shape that errors have.
func (a answer) fails(status int, code string) answer {
	a.is(status, code)
	require.NotEmpty(a.t, a.body["message"], "%s", a.raw)
	require.Equal(a.t, a.body["message"], a.body["error"], "%s", a.raw)
	require.Equal(a.t, a.header.Get("X-Request-Id"), a.body["requestId"], "%s", a.raw)
	return a
}

// blames requires that the error names the fields and no others.
func (a answer) blames(fields ...string) answer {
	var got []string
	details, _ := a.body["details"].([]any)
	for _, d := range details {
		got = append(got, d.(object)["field"].(string))
	}
	require.ElementsMatch(a.t, fields, got, "%s", a.raw)
	return a
}

// at follows a path like "user.id" or "wallets.0.name".
func (a answer) at(path string) any {
	var v any = a.body
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case object:
			v = x[step]
		case []any:
			var i int
			_, err := fmt.Sscan(step, &i)
			require.NoError(a.t, err, path)
			require.Less(a.t, i, len(x), "%s in %s", path, a.raw)
			v = x[i]
		default:
			require.Fail(a.t, "no such place", "%s in %s", path, a.raw)
		}
	}
	return v
}

// text is what stands at a path: a string, or a number's digits.
func (a answer) text(path string) string {
	v := a.at(path)
	require.NotNil(a.t, v, "%s in %s", path, a.raw)
	return fmt.Sprint(v)
}

func (a answer) list(path string) []any {
	v, ok := a.at(path).([]any)
	require.True(a.t, ok, "%s in %s", path, a.raw)
	return v
}

// The following make what most tests need.

func (p *person) wallet(currency, balance string) string {
	return p.post("/api/v1/wallet", object{"name": "Cash", "currency": currency, "balance": json.Number(balance)}).created("WALLET_CREATED").text("wallet.id")
}

func (p *person) category(name string) string {
	return p.post("/api/v1/categories", object{"name": name}).created("CATEGORY_CREATED").text("category.id")
}

// expense is the body of an ordinary transaction.
func expense(wallet, category, amount string) object {
	return object{"amount": json.Number(amount), "date": "2026-03-14", "currency": "EUR", "walletId": wallet, "categoryId": category, "type": "expense"}
}

func (p *person) spend(wallet, category, amount string) string {
	return p.post("/api/v1/transaction", expense(wallet, category, amount)).created("TRANSACTION_CREATED").text("transaction.id")
}

func (p *person) balance(wallet string) string {
	return p.get("/api/v1/wallet/" + wallet).ok("WALLET_FETCHED").text("wallet.balance")
}

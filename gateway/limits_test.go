package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestDecodeNamesLimits(t *testing.T) {
	t.Parallel()
	const (
		maxValues     = 20_000
		maxNameLength = 256
	)
	many := func(n int) string { return `{"x":[1` + strings.Repeat(",1", n-2) + `]}` }
	for name, tc := range map[string]struct {
		body string
		want string
	}{
		"too many values": {
			many(maxValues + 1), "The request body must not have more than 20000 values",
		},
		"too long a name": {
			`{"` + strings.Repeat("x", maxNameLength-1) + `":1}`,
			"The names in the request body must not be longer than 254 bytes",
		},
		"a nested one": {
			`{"x":{"` + strings.Repeat("x", maxNameLength-1) + `":1}}`,
			"The names in the request body must not be longer than 254 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("POST", transactionPath, tc.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, tc.want, r.json["message"])
		})
	}
	for name, body := range map[string]string{
		"as many values as allowed": many(maxValues),
		"a name as long as allowed": `{"` + strings.Repeat("x", maxNameLength-2) + `":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t,
				map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			require.Equal(t, http.StatusCreated, a.send("POST", transactionPath, body).StatusCode)
		})
	}
}

func TestDecodeProblemPath(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	got := gate.send("POST", transactionPath+"/batch",
		`{"transactions":[{},{"description":1,"x":{"y":[{"z":1,"z":2}]}},3,{"":1,"":2}]}`)
	require.Equal(t, map[string]string{
		"transactions[1].description": problemString, "transactions[1].x.y.z": problemTwice,
		"transactions[2]": problemObject, "transactions[3].": problemTwice,
	}, got.details(), got.text)
	deep := strings.Repeat(`{"`+strings.Repeat("n", 30)+`":`, 50)
	got = gate.send("POST", transactionPath, deep+`{"x":1,"x":2}`+strings.Repeat("}", 50))
	require.Len(t, got.details(), 1)
	for field := range got.details() {
		require.Len(t, field, 100+len("..."))
	}
}

func TestDecodeQueryRejectsUnknownParameters(t *testing.T) {
	t.Parallel()
	routes := allRoutes(t)
	gate := newAPI(t, nil)
	doc := document(t)
	for _, route := range routes {
		// Identity providers add parameters of their own (TestOidcRedirect).
		if route.Method.Name() == "FinishOidc" {
			continue
		}
		t.Run(string(route.Method.Name()), func(t *testing.T) {
			t.Parallel()
			path := strings.NewReplacer("{", "", "}", "").Replace(route.Template)
			var headers []string
			body := ""
			switch {
			case route.Multipart, route.Upload:
				form, contentType := encodeForm(file("receipt", "r.jpg", "x"))
				body, headers = string(form), []string{"Content-Type", contentType}
			case route.Verb == http.MethodPost, route.Verb == http.MethodPatch:
				body = "{}"
			}
			r := gate.send(route.Verb, path+"?paeg=2&paeg=3", body, headers...)
			gate.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			problem := r.details()["paeg"]
			require.Contains(t, problem, "is unknown", r.text)
			known := queryParameters(doc, route)
			if len(known) == 0 {
				require.Contains(t, problem, "no query parameters")
			}
			for _, name := range known {
				require.Contains(t, problem, name)
			}
		})
	}
	t.Run("together with a known one", func(t *testing.T) {
		t.Parallel()
		r := gate.send("GET", transactionPath+"?limit=x&read=false", "")
		require.Equal(t, problemInteger, r.details()["limit"])
		require.Contains(t, r.details()["read"], "include, limit, maxAmount")
	})
}

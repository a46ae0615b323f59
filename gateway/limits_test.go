package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestDecodeStopsWhenRequestEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &ledgerv1.CreateTransactionsRequest{}
	fields := fieldsOf(m.ProtoReflect().Descriptor())
	require.NoError(t, decodeJSON(ctx, []byte(`{"transactions":[{}]}`), fields, m.ProtoReflect(), &problems{}))
	require.Len(t, m.GetTransactions(), 1)
	cancel()
	require.ErrorIs(t, decodeJSON(ctx, []byte(`{"transactions":[{}]}`), fields, m.ProtoReflect(), &problems{}), context.Canceled)

	ended := 0
	d := &jsonDecoder{rest: []byte(`{"transactions":[{}` + strings.Repeat(`,{}`, 2*interruptEvery) + `]}`), bad: &problems{}, interrupted: func() error {
		ended++
		return context.DeadlineExceeded
	}}
	proto.Reset(m)
	d.object(fields, m.ProtoReflect())
	require.ErrorIs(t, d.err, context.DeadlineExceeded)
	require.Equal(t, 1, ended)
	require.Less(t, len(m.GetTransactions()), interruptEvery)
}

func TestDecodeNamesLimits(t *testing.T) {
	t.Parallel()
	many := func(n int) string { return `{"x":[1` + strings.Repeat(",1", n-2) + `]}` }
	for name, c := range map[string]struct {
		body string
		want *apierr.Error
	}{
		"too many values": {many(maxValues + 1), errTooManyValues},
		"too long a name": {`{"` + strings.Repeat("x", maxNameLength-1) + `":1}`, errNameTooLong},
		"a nested one":    {`{"x":{"` + strings.Repeat("x", maxNameLength-1) + `":1}}`, errNameTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil)
			r := a.send("POST", transactionPath, c.body)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			require.Equal(t, c.want.Message, r.json["message"])
		})
	}
	for name, body := range map[string]string{
		"as many values as allowed": many(maxValues),
		"a name as long as allowed": `{"` + strings.Repeat("x", maxNameLength-2) + `":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"CreateTransaction": &ledgerv1.CreateTransactionResponse{}})
			require.Equal(t, http.StatusCreated, a.send("POST", transactionPath, body).StatusCode)
		})
	}
	amount := fieldsOf((&ledgerv1.CreateTransactionRequest{}).ProtoReflect().Descriptor())["amount"]
	_, problem := parseLiteral(amount, []byte(strings.Repeat("1", maxNumberLength)))
	require.Empty(t, problem)
	_, problem = parseLiteral(amount, []byte(strings.Repeat("1", maxNumberLength+1)))
	require.Equal(t, problemRange, problem)
	require.Contains(t, errTooManyValues.Message, fmt.Sprint(maxValues))
	require.Contains(t, errNameTooLong.Message, fmt.Sprint(maxNameLength-len(`""`)))
	require.Contains(t, errTooManyParameters.Message, fmt.Sprint(maxParameters))
	require.Contains(t, errTooManyParts.Message, fmt.Sprint(maxParts))
}

func TestDecodeProblemPath(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("POST", transactionPath+"/batch", `{"transactions":[{},{"description":1,"x":{"y":[{"z":1,"z":2}]}},3,{"":1,"":2}]}`)
	require.Equal(t, map[string]string{
		"transactions[1].description": problemString, "transactions[1].x.y.z": problemTwice, "transactions[2]": problemObject, "transactions[3].": problemTwice,
	}, r.details(), r.text)
	deep := strings.Repeat(`{"`+strings.Repeat("n", 30)+`":`, 50)
	r = a.send("POST", transactionPath, deep+`{"x":1,"x":2}`+strings.Repeat("}", 50))
	require.Len(t, r.details(), 1)
	for field := range r.details() {
		require.Len(t, field, maxFieldLength+len("..."))
	}
}

func TestDecodeQueryRejectsUnknownParameters(t *testing.T) {
	t.Parallel()
	routes, err := rpcRoutes()
	require.NoError(t, err)
	a := newAPI(t, nil)
	for _, route := range routes {
		t.Run(string(route.method.Name()), func(t *testing.T) {
			t.Parallel()
			path := strings.NewReplacer("{", "", "}", "").Replace(route.template)
			var headers []string
			body := ""
			switch {
			case route.multipart:
				form, contentType := encodeForm(file("receipt", "r.jpg", "x"))
				body, headers = string(form), []string{"Content-Type", contentType}
			case route.body:
				body = "{}"
			}
			r := a.send(route.verb, path+"?paeg=2&paeg=3", body, headers...)
			a.requireFailure(r, http.StatusBadRequest, "VALIDATION_ERROR")
			problem := r.details()["paeg"]
			require.Contains(t, problem, "is unknown", r.text)
			if len(route.request.query) == 0 {
				require.Contains(t, problem, "no query parameters")
			}
			for name := range route.request.query {
				require.Contains(t, problem, name)
			}
		})
	}
	t.Run("together with a known one", func(t *testing.T) {
		t.Parallel()
		r := a.send("GET", transactionPath+"?limit=x&read=false", "")
		require.Equal(t, problemInteger, r.details()["limit"])
		require.Contains(t, r.details()["read"], "cursor, from, limit")
	})
}

// FuzzQuery checks that every query string is decoded or rejected with public errors of limited size, and that a form is, too.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=1&q=a%20b", "walletId=a&walletId=%ff", "&&==&a;b", "%zz", "--b\r\n\r\n\r\n--b--\r\n"} {
		f.Add(seed)
	}
	routes, err := rpcRoutes()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		for _, route := range routes {
			requireSmall(t, decodeRequest(t.Context(), route, nil, text))
			if route.multipart {
				requireSmall(t, decodeRequest(t.Context(), route, []byte(text), "", "Content-Type", "multipart/form-data; boundary=b"))
			}
		}
	})
}

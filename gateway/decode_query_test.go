package gateway

import (
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestDecodePathTakesPrecedenceOverBody(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{"UpdateWallet": &ledgerv1.UpdateWalletResponse{}})
	r := a.send("PATCH", "/api/v1/wallet/the-path",
		`{"id":"body","archived":false,"ifMatch":"body"}`)
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	want := &ledgerv1.UpdateWalletRequest{Id: "the-path", Archived: proto.Bool(false)}
	require.True(t, proto.Equal(want, received[*ledgerv1.UpdateWalletRequest](a)))
}

func TestDecodeQueryFillsRequest(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{"ListTransactions": &ledgerv1.ListTransactionsResponse{}})
	r := gate.send("GET",
		transactionPath+"?walletId=a&walletId=b&minAmount=-1.50&limit=7&q=a%20b%26&cursor=", "")
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	want := &ledgerv1.ListTransactionsRequest{
		WalletId: []string{"a", "b"}, MinAmount: proto.String("-1.50"), Limit: proto.Int32(7),
		Q: proto.String("a b&"),
	}
	require.True(t, proto.Equal(want, received[*ledgerv1.ListTransactionsRequest](gate)))

	for number, want := range map[string]int32{
		"99999999999999999999": math.MaxInt32, "-2147483649": math.MinInt32,
	} {
		a := newAPI(t, map[string]any{"ListTransactions": &ledgerv1.ListTransactionsResponse{}})
		r := a.send("GET", transactionPath+"?limit="+number, "")
		require.Equal(t, http.StatusOK, r.StatusCode, r.text)
		require.Equal(t, want, received[*ledgerv1.ListTransactionsRequest](a).GetLimit(),
			"the service rejects it")
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

func TestDecodeUnusualPathIDs(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"%00": "\x00", "%ff": "\uFFFD", "%20": " ", "a:b": "a:b", ":": ":", "%3A": ":",
		"a%3Fb": "a?b", "*": "*", "{id}": "{id}", "%25zz": "%zz", "+": "+", "...": "...",
		"receipt": "receipt",
	} {
		a := newAPI(t, map[string]any{
			"GetTransaction": apierr.New(restv1.Reason_INVALID_TRANSACTION_ID).
				WithMessage("Invalid transaction id"),
		})
		a.requireFailure(a.send("GET", transactionPath+"/"+path, ""),
			http.StatusBadRequest, "INVALID_TRANSACTION_ID")
		require.Equal(t, want, received[*ledgerv1.GetTransactionRequest](a).GetId(), path)
	}
	for _, path := range []string{"/", "//x", "/a%2Fb", "/a%2fb", "/x/", "/x/y"} {
		a := newAPI(t, nil)
		a.requireFailure(a.send("GET", transactionPath+path, ""),
			http.StatusNotFound, "ROUTE_NOT_FOUND")
	}
}

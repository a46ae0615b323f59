package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

func TestEncodeEnvelopeStatusAndHeaders(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"CreateWallet": &ledgerv1.CreateWalletResponse{
			Wallet: aWallet(), Etag: `"1"`, Replayed: true,
		},
		"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet(), Etag: `"7"`},
	})
	created := gate.send("POST", "/api/v1/wallet", `{"name":"Cash","currency":"usd"}`)
	require.Equal(t, http.StatusCreated, created.StatusCode)
	require.Equal(t, `"1"`, created.Header.Get("ETag"))
	require.Equal(t, "true", created.Header.Get("Idempotency-Replayed"))
	want := `{
		"code": "WALLET_CREATED", "message": "Wallet created",
		"wallet": {
			"id": "0198f1a2-7b3c-7def-8a01-23456789abcd", "name": "Cash <\"&\u2028>",
			"currency": "USD", "balance": 999999999999.99, "initialBalance": 0.00,
			"balances": [{"currency": "USD", "amount": 12.30}],
			"archived": false, "createdAt": "2026-01-02T03:04:05.000Z", "updatedAt": "",
			"kind": ""
		}
	}`
	require.JSONEq(t, want, created.text)
	require.Contains(t, created.text, `"amount":12.30}`, "the digits stay as sent")

	got := gate.send("GET", "/api/v1/wallet/"+anID, "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, "WALLET_FETCHED", got.code())
	require.Equal(t, `"7"`, got.Header.Get("ETag"))
	require.Empty(t, got.Header.Get("Idempotency-Replayed"))
}

func TestEncodeKeepsEmptyListsAndOmitsOptionalFields(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"ListWallets": &ledgerv1.ListWalletsResponse{Pagination: &restv1.Pagination{Limit: 50}},
		"GetBudget":   &budgetv1.GetBudgetResponse{Budget: &budgetv1.Budget{Id: anID, Limit: "1"}},
	})
	wallets := gate.send("GET", "/api/v1/wallet", "").text
	require.JSONEq(t, `{"code":"WALLETS_FETCHED","message":"Wallets fetched","wallets":[],
		"pagination":{"limit":50,"nextCursor":"","hasMore":false}}`, wallets)
	budget := gate.send("GET", "/api/v1/budgets/"+anID, "").json["budget"].(map[string]any)
	require.NotContains(t, budget, "endDate")
	require.NotContains(t, budget, "progress")
	require.Equal(t, []any{}, budget["categoryIds"])
}

func TestEnvelopeSelectsSuccessByCode(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, map[string]any{
		"CreateTransactionsFromReceipt": &ledgerv1.CreateTransactionsFromReceiptResponse{
			Code: "RECEIPT_RECOGNIZED", Receipt: &ocrv1.Receipt{
				Total: "3.20", Confidence: map[string]float64{"total": 0.5, "date": 1},
			},
		},
	})
	r := gate.upload("?dryRun=true", file("receipt", "r.txt", "TOTAL 3.20"),
		text("walletId", anID), text("categoryId", anID))
	require.Equal(t, http.StatusOK, r.StatusCode, r.text)
	require.JSONEq(t, `{
		"code":"RECEIPT_RECOGNIZED","message":"Receipt recognized","transactions":[],
		"receipt":{"total":3.20,"lines":[],"confidence":{"date":1,"total":0.5},
			"evidence":[],"warnings":[]},"receipts":[]}`, r.text)
	require.True(t, received[*ledgerv1.CreateTransactionsFromReceiptRequest](gate).GetDryRun())
}

func TestKeySetHasNoEnvelopeAndNeedsNoToken(t *testing.T) {
	t.Parallel()
	a := newAPI(t, map[string]any{
		"GetKeySet": &authv1.GetKeySetResponse{Keys: []*authv1.Key{{Kty: "OKP", Kid: "k1"}}},
	})
	r := a.send("GET", "/.well-known/jwks.json", "", "Authorization", "")
	require.JSONEq(t,
		`{"keys":[{"kty":"OKP","crv":"","x":"","kid":"k1","use":"","alg":""}]}`, r.text)
}

func TestEncodeUnknownCodeIsInternal(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*ledgerv1.GetWalletResponse{
		"a code without an option": {Code: "SOMETHING_ELSE"},
		"an amount that is none":   {Wallet: &ledgerv1.Wallet{Balance: "NaN", InitialBalance: "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{"GetWallet": response})
			a.requireFailure(a.send("GET", "/api/v1/wallet/"+anID, ""),
				http.StatusInternalServerError, "INTERNAL")
		})
	}
}

func TestFailMapsErrorsToStatus(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		code codes.Code
		want int
	}{
		"WALLET_IN_USE":            {codes.FailedPrecondition, 409},
		"CATEGORY_IN_USE":          {codes.FailedPrecondition, 409},
		"VERSION_MISMATCH":         {codes.FailedPrecondition, 412},
		"RATE_LIMITED":             {codes.ResourceExhausted, 429},
		"OCR_PARSE_FAILED":         {codes.Internal, 500},
		"OCR_RESPONSE_FAILED":      {codes.Unavailable, 500},
		"WALLET_NOT_FOUND":         {codes.NotFound, 404},
		"INVALID_BUDGET_PERIOD":    {codes.InvalidArgument, 400},
		"BUDGET_ALREADY_EXISTS":    {codes.AlreadyExists, 409},
		"INSUFFICIENT_PERMISSIONS": {codes.PermissionDenied, 403},
		"INVALID_CREDENTIALS":      {codes.Unauthenticated, 401},
		"DEADLINE_EXCEEDED":        {codes.DeadlineExceeded, 504},
		// A service of a newer release may return a reason that this gateway does not know.
		"REASON_OF_A_NEWER_RELEASE": {codes.AlreadyExists, 409},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, map[string]any{
				"GetWallet": (&apierr.Error{
					Code: tc.code, Reason: reason, Message: "Sentence",
				}).With("a.b", "is wrong"),
			})
			r := a.send("GET", "/api/v1/wallet/"+anID, "")
			a.requireFailure(r, tc.want, reason)
			require.Equal(t, map[string]string{"a.b": "is wrong"}, r.details())
			require.Equal(t, tc.want == 401, r.Header.Get("WWW-Authenticate") == "Bearer")
		})
	}
}

package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestConditionalResponses(t *testing.T) {
	t.Parallel()
	answers := map[string]any{
		"ListWallets": &ledgerv1.ListWalletsResponse{Wallets: []*ledgerv1.Wallet{aWallet()}},
		"ListCategories": &ledgerv1.ListCategoriesResponse{
			Categories: []*ledgerv1.Category{{Id: anID, Name: "Food"}},
		},
		"ListBudgets": &budgetv1.ListBudgetsResponse{Budgets: []*budgetv1.ListedBudget{{Id: anID}}},
		"GetSummary": &ledgerv1.GetSummaryResponse{
			Summary: &ledgerv1.Summary{From: "2026-01-01", To: "2026-01-31"},
		},
		"GetWallet": &ledgerv1.GetWalletResponse{Wallet: aWallet(), Etag: `"7"`},
	}
	gate := newAPI(t, answers)
	tags := map[string]bool{}
	for _, path := range []string{
		"/api/v1/wallet", "/api/v1/categories", "/api/v1/budgets", "/api/v1/dashboard/summary",
	} {
		first := gate.send("GET", path, "")
		require.Equal(t, http.StatusOK, first.StatusCode, first.text)
		etag := first.Header.Get("ETag")
		require.Regexp(t, `^W/"[0-9a-f]{16}"$`, etag, path)
		require.False(t, tags[etag], path)
		tags[etag] = true
		require.Equal(t, "no-store", first.Header.Get("Cache-Control"), path)

		for _, match := range []string{etag, etag[2:], `"x", ` + etag, "*"} {
			again := gate.send("GET", path, "", "If-None-Match", match, "Accept-Encoding", "gzip")
			require.Equal(t, http.StatusNotModified, again.StatusCode, match)
			require.Equal(t, etag, again.Header.Get("ETag"))
			require.Empty(t, again.text)
			require.Empty(t, again.Header.Get("Content-Type"))
			require.Empty(t, again.Header.Get("Content-Length"))
			require.NotEmpty(t, again.Header.Get("X-Request-Id"))
		}
		require.Equal(t, http.StatusNotModified,
			gate.send("HEAD", path, "", "If-None-Match", etag).StatusCode)
		for _, match := range []string{`"x"`, `W/"0000000000000000"`, "", etag + "x"} {
			again := gate.send("GET", path, "", "If-None-Match", match)
			require.Equal(t, http.StatusOK, again.StatusCode, match)
			require.Equal(t, first.text, again.text)
		}
		gate.requireFailure(gate.send("GET", path, "", "If-None-Match", etag, "Authorization", ""),
			http.StatusUnauthorized, "UNAUTHORIZED")
	}
	before := gate.send("GET", "/api/v1/wallet", "").Header.Get("ETag")
	gate.mu.Lock()
	answers["ListWallets"].(*ledgerv1.ListWalletsResponse).Wallets[0].Balance = "0.01"
	gate.mu.Unlock()
	require.Equal(t, http.StatusOK,
		gate.send("GET", "/api/v1/wallet", "", "If-None-Match", before).StatusCode)

	// A response without the option keeps the ETag of the service, and is always complete.
	r := gate.send("GET", "/api/v1/wallet/"+anID, "", "If-None-Match", `"7"`)
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, `"7"`, r.Header.Get("ETag"))
}

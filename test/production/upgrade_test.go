package production

import (
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// account is a user with transactions that the previous release created. After the upgrade they
// become a split transaction and the legs of a transfer.
type account struct {
	*user
	bank, rent      string
	spent, out, in  string
	transfer        string
	refunded        string
	cash, total     int
	inBank, entries int
}

// newAccount creates the transactions: an expense of 5, and an expense of 4 in one wallet beside an
// income of 4 in another one.
func newAccount(t *testing.T, c *cluster) *account {
	t.Helper()
	account := &account{user: c.newUser(), cash: -9, total: 9, inBank: 4, entries: 3}
	account.bank = account.create(t, "/wallet", "wallet",
		map[string]any{"name": "Bank", "currency": "EUR", "balance": 0})
	account.rent = account.create(t, "/categories", "category", map[string]any{"name": "Rent"})
	transaction := func(wallet, kind string, amount int) string {
		return account.create(t, "/transaction", "transaction", map[string]any{
			"amount": amount, "type": kind, "currency": "EUR", "date": "2026-01-01",
			"walletId": wallet, "categoryId": account.category,
		})
	}
	account.spent = transaction(account.wallet, "expense", 5)
	account.out = transaction(account.wallet, "expense", 4)
	account.in = transaction(account.bank, "income", 4)
	account.check(t)
	return account
}

// create creates an object, and returns its id.
func (a *account) create(t *testing.T, path, name string, body map[string]any) string {
	t.Helper()
	return a.must(t, path, body)[name].(map[string]any)["id"].(string)
}

// request sends a request, which must succeed, and returns the response.
func (a *account) request(t *testing.T, method, path string, body map[string]any) map[string]any {
	t.Helper()
	answer, err := a.call(method, path, body)
	require.NoError(t, err)
	return answer
}

// useFeatures splits and tags a transaction of the previous release, matches two of them, and
// creates a transfer of 7. It also creates an expense of 10 that consists of 30 and a refund of 20,
// in February.
func (a *account) useFeatures(t *testing.T) {
	t.Helper()
	a.request(t, http.MethodPatch, "/transaction/"+a.spent,
		map[string]any{"tags": []string{"Trip"}, "splits": []any{
			map[string]any{"categoryId": a.category, "amount": 2},
			map[string]any{"categoryId": a.rent, "amount": 3},
		}})
	a.create(t, "/transfers/match", "transfer",
		map[string]any{"outTransactionId": a.out, "inTransactionId": a.in})
	a.transfer = a.create(t, "/transfers", "transfer", map[string]any{
		"fromWalletId": a.wallet, "toWalletId": a.bank, "amount": 7, "date": "2026-01-01",
	})
	a.refunded = a.create(t, "/transaction", "transaction", map[string]any{
		"amount": 10, "type": "expense", "currency": "EUR", "date": "2026-02-01",
		"walletId": a.wallet, "splits": []any{
			map[string]any{"categoryId": a.category, "amount": 30},
			map[string]any{"categoryId": a.rent, "amount": -20},
		},
	})
	a.cash, a.total, a.inBank, a.entries = -26, 5, 11, 6
	a.check(t)
	a.checkFeatures(t)
	february := a.request(t, http.MethodGet, "/dashboard/summary?from=2026-02-01&to=2026-02-28",
		nil)["summary"].(map[string]any)
	totals := february["totals"].([]any)[0].(map[string]any)
	require.Equal(t, []any{float64(0), float64(10), float64(1)},
		[]any{totals["income"], totals["expense"], totals["transactionCount"]})
}

// deleteRefund deletes the expense with a refund.
func (a *account) deleteRefund(t *testing.T) {
	t.Helper()
	a.request(t, http.MethodDelete, "/transaction/"+a.refunded, nil)
	a.cash, a.entries = -16, 5
	a.check(t)
}

// changeFeatures changes the transfer of 7 to one of 8, and replaces the parts of the split
// transaction. One of the new parts is a refund.
func (a *account) changeFeatures(t *testing.T) {
	t.Helper()
	a.checkFeatures(t)
	a.request(t, http.MethodPatch, "/transfers/"+a.transfer, map[string]any{"amount": 8})
	a.request(t, http.MethodPatch, "/transaction/"+a.spent,
		map[string]any{"amount": 6, "splits": []any{
			map[string]any{"categoryId": a.category, "amount": 8},
			map[string]any{"categoryId": a.rent, "amount": -2},
		}})
	a.cash, a.total, a.inBank = -18, 6, 12
	a.check(t)
	a.checkFeatures(t)
}

// check compares balances, totals and the number of transactions. Both releases must return the
// same.
func (a *account) check(t *testing.T) {
	t.Helper()
	require.Equal(t, a.cash, a.balance(t))
	bank := a.request(t, http.MethodGet, "/wallet/"+a.bank, nil)["wallet"].(map[string]any)
	require.InDelta(t, a.inBank, bank["balance"], 0)
	summary := a.request(t, http.MethodGet, "/dashboard/summary?from=2026-01-01&to=2026-01-31",
		nil)["summary"].(map[string]any)
	require.InDelta(t, a.total, summary["totals"].([]any)[0].(map[string]any)["expense"], 0)
	require.Len(t, a.request(t, http.MethodGet, "/transaction", nil)["transactions"], a.entries)
}

// checkFeatures compares what only this release shows.
func (a *account) checkFeatures(t *testing.T) {
	t.Helper()
	require.Len(t, a.request(t, http.MethodGet, "/transfers", nil)["transfers"], 2)
	spent := a.request(t, http.MethodGet, "/transaction/"+a.spent,
		nil)["transaction"].(map[string]any)
	require.Len(t, spent["splits"], 2)
	require.Equal(t, []any{"Trip"}, spent["tags"])
	require.Len(t, a.request(t, http.MethodGet, "/tags", nil)["tags"], 1)
}

// verify recomputes the balances and totals of all users.
func (c *cluster) verify() {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), os.Args[0], "verify")
	cmd.Env = []string{beService + "=ledger", "DATABASE_URL=" + c.stores.Databases["ledger"]}
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s", out)
}

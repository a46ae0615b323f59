package test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMoneyIsExactInEachCurrency sends amounts at the edges of what is stored, and reads them back digit for digit.
func TestMoneyIsExactInEachCurrency(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	category := p.category("All")
	for _, c := range []struct{ currency, sent, want string }{
		{"EUR", "0.01", "0.01"},
		{"EUR", "1", "1.00"},
		{"EUR", "1.10", "1.10"},
		{"EUR", "1.100", "1.10"},
		{"EUR", "125e-2", "1.25"},
		{"EUR", "1.5E1", "15.00"},
		{"EUR", "999999999999.99", "999999999999.99"},
		{"JPY", "1", "1"},
		{"JPY", "7.0", "7"},
		{"BHD", "0.001", "0.001"},
		{"bhd", "1.5", "1.500"},
	} {
		wallet := p.wallet(c.currency, "0")
		body := expense(wallet, category, c.sent)
		body["currency"] = c.currency
		a := p.post("/api/v1/transaction", body).created("TRANSACTION_CREATED")
		require.Equal(t, "-"+c.want, a.text("transaction.amount"), "%s %s", c.sent, c.currency)
		require.Equal(t, "-"+c.want, p.balance(wallet), "%s %s", c.sent, c.currency)
	}
}

// TestMoneyThatIsNoneIsRefusedWhereverMoneyGoes: the same table for each field that takes an amount.
func TestMoneyThatIsNoneIsRefusedWhereverMoneyGoes(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "5"), p.category("Food")
	id := p.budgetNamed("Food", wallet, category)
	spent := p.spend(wallet, category, "1")
	raws := []string{
		`NaN`, `Infinity`, `-Infinity`, `1e400`, `-1e400`, `1e-400`, `1e999999999999`, `0.001`, `1.005`, `1000000000000`, `999999999999.995`,
		`01`, `1.`, `.5`, `+1`, `0x10`, `1_000`, `"1"`, `"NaN"`, `true`, `[1]`, `{"units":1}`, `1,2`,
	}
	for _, raw := range raws {
		for _, to := range []struct{ method, path, before string }{
			{"POST", "/api/v1/transaction", `{"date":"2026-03-14","currency":"EUR","walletId":"` + wallet + `","categoryId":"` + category + `","amount":`},
			{"PATCH", "/api/v1/transaction/" + spent, `{"amount":`},
			{"POST", "/api/v1/wallet", `{"name":"Bad","currency":"EUR","balance":`},
			{"PATCH", "/api/v1/budgets/" + id, `{"limit":`},
		} {
			a := p.call(to.method, to.path, to.before+raw+"}")
			require.Equal(t, 400, a.status, "%s %s %s: %s", to.method, to.path, raw, a.raw)
			a.fails(400, "VALIDATION_ERROR")
		}
	}
	require.Equal(t, "4.00", p.balance(wallet))
	require.Len(t, p.get("/api/v1/wallet").list("wallets"), 1)
	require.Len(t, p.get("/api/v1/transaction").list("transactions"), 1)
	require.Equal(t, "100.00", p.get("/api/v1/budgets/"+id).text("budget.limit"))
}

func TestOtherCurrenciesOfAWalletAreKeptApart(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	wallet, category := p.wallet("EUR", "10"), p.category("Travel")
	body := expense(wallet, category, "700")
	body["currency"] = "JPY"
	yen := p.post("/api/v1/transaction", body).created("TRANSACTION_CREATED").text("transaction.id")
	p.spend(wallet, category, "2.50")
	balances := func() map[string]string {
		kept := map[string]string{}
		for _, b := range p.get("/api/v1/wallet/" + wallet).ok("WALLET_FETCHED").list("wallet.balances") {
			kept[b.(object)["currency"].(string)] = b.(object)["amount"].(json.Number).String()
		}
		return kept
	}
	require.Equal(t, "7.50", p.balance(wallet))
	require.Equal(t, map[string]string{"EUR": "7.50", "JPY": "-700"}, balances())
	p.patch("/api/v1/transaction/"+yen, object{"currency": "EUR"}).fails(http.StatusBadRequest, "VALIDATION_ERROR").blames("amount")
	p.patch("/api/v1/transaction/"+yen, object{"currency": "EUR", "amount": json.Number("4.25")}).ok("TRANSACTION_UPDATED")
	require.Equal(t, "3.25", p.balance(wallet))
	require.Equal(t, "3.25", balances()["EUR"])
}

package test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	// Amounts up to the limits are returned digit by digit.
	t.Run("are exact in each currency", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		category := me.category("All")
		for _, tc := range []struct{ currency, sent, want string }{
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
			wallet := me.wallet(tc.currency, "0")
			body := expense(wallet, category, tc.sent)
			body["currency"] = tc.currency
			a := me.post("/api/v1/transaction", body).created("TRANSACTION_CREATED")
			require.Equal(t, "-"+tc.want, a.text("transaction.amount"), "%s %s", tc.sent,
				tc.currency)
			require.Equal(t, "-"+tc.want, me.balance(wallet), "%s %s", tc.sent, tc.currency)
		}
	})
	t.Run("are rejected if they are invalid", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		wallet, category := me.wallet("EUR", "5"), me.category("Food")
		id := me.budgetNamed("Food", wallet, category)
		spent := me.spend(wallet, category, "1")
		raws := []string{
			`NaN`, `Infinity`, `-Infinity`, `1e400`, `-1e400`, `1e-400`, `1e999999999999`, `0.001`,
			`1.005`, `1000000000000`, `999999999999.995`,
			`01`, `1.`, `.5`, `+1`, `0x10`, `1_000`, `"1"`, `"NaN"`, `true`, `[1]`, `{"units":1}`,
			`1,2`,
		}
		for _, raw := range raws {
			for _, to := range []struct{ method, path, before string }{
				{
					"POST", "/api/v1/transaction",
					`{"date":"2026-03-14","currency":"EUR","walletId":"` + wallet +
						`","categoryId":"` + category + `","amount":`,
				},
				{"PATCH", "/api/v1/transaction/" + spent, `{"amount":`},
				{"POST", "/api/v1/wallet", `{"name":"Bad","currency":"EUR","balance":`},
				{"PATCH", "/api/v1/budgets/" + id, `{"limit":`},
			} {
				a := me.call(to.method, to.path, to.before+raw+"}")
				require.Equal(t, 400, a.status, "%s %s %s: %s", to.method, to.path, raw, a.raw)
				a.fails(400, "VALIDATION_ERROR")
			}
		}
		require.Equal(t, "4.00", me.balance(wallet))
		require.Len(t, me.get("/api/v1/wallet").list("wallets"), 1)
		require.Len(t, me.get("/api/v1/transaction").list("transactions"), 1)
		require.Equal(t, "100.00", me.get("/api/v1/budgets/"+id).text("budget.limit"))
	})
	t.Run("of other currencies have separate balances", func(t *testing.T) {
		t.Parallel()
		me := newUser(t)
		wallet, category := me.wallet("EUR", "10"), me.category("Travel")
		body := expense(wallet, category, "700")
		body["currency"] = "JPY"
		yen := me.record(body)
		me.spend(wallet, category, "2.50")
		balances := func() map[string]string {
			record := map[string]string{}
			got := me.get("/api/v1/wallet/" + wallet).ok("WALLET_FETCHED")
			for _, item := range got.list("wallet.balances") {
				balance := item.(object)
				record[balance["currency"].(string)] = balance["amount"].(json.Number).String()
			}
			return record
		}
		require.Equal(t, "7.50", me.balance(wallet))
		require.Equal(t, map[string]string{"EUR": "7.50", "JPY": "-700"}, balances())
		me.patch("/api/v1/transaction/"+yen, object{"currency": "EUR"}).invalid("amount")
		me.patch("/api/v1/transaction/"+yen,
			object{"currency": "EUR", "amount": json.Number("4.25")}).ok("TRANSACTION_UPDATED")
		require.Equal(t, "3.25", me.balance(wallet))
		require.Equal(t, "3.25", balances()["EUR"])
	})
}

// The same invalid amounts in each field for an amount.

package test

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReports(t *testing.T) {
	t.Parallel()
	me, stranger, anonymous := newUser(t), newUser(t), &user{t: t}
	wallet, category := me.wallet("EUR", "10"), me.category("Food")
	me.spend(wallet, category, "2.50")
	const period = "?from=2026-03-01&to=2026-03-31&groupBy=category"
	report := me.get("/api/v1/reports/series" + period)
	require.Equal(t, http.StatusOK, report.status, "%s", report.raw)
	require.Equal(t, category, report.text("report.series.0.key"))
	require.Contains(t, string(report.raw),
		`"totals":{"income":[0.00],"expense":[2.50],"net":[-2.50],"count":[1]}`)

	table := me.get("/api/v1/reports/series/csv" + period)
	require.Equal(t, "text/csv; charset=utf-8", table.header.Get("Content-Type"))
	require.Equal(t, "attachment; filename=coffer-report-2026-03-01-2026-03-31.csv",
		table.header.Get("Content-Disposition"))
	rows, err := csv.NewReader(bytes.NewReader(table.raw)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{
		{"total", "", "", "2026-03-01", "2026-03-31", "0.00", "2.50", "-2.50", "1", "EUR"},
		{
			"category", category, "Food", "2026-03-01", "2026-03-31", "0.00", "2.50", "-2.50", "1",
			"EUR",
		},
	}, rows[1:])

	flow := me.get("/api/v1/reports/flow?from=2026-03-01&to=2026-03-31")
	require.Equal(t, category, flow.text("flow.expense.0.categoryId"))
	require.Contains(t, string(flow.raw), `"saved":-2.50`)
	comparison := me.get("/api/v1/reports/compare?from=2026-03-01&to=2026-03-31&with=year")
	require.Equal(t, category, comparison.text("comparison.groups.0.key"))
	require.Equal(t, "2025-03-31", comparison.text("comparison.before.end"))
	require.Contains(t, string(comparison.raw),
		`"difference":{"income":0.00,"expense":2.50,"net":-2.50}`)
	me.get("/api/v1/reports/compare?with=week").invalid("with")
	me.get("/api/v1/reports/compare?groupBy=none").invalid("groupBy")
	compared := me.get("/api/v1/reports/compare/csv?from=2026-03-01&to=2026-03-31&with=year")
	require.Equal(t, "attachment; filename=coffer-comparison-2025-03-01-2026-03-31.csv",
		compared.header.Get("Content-Disposition"))
	rows, err = csv.NewReader(bytes.NewReader(compared.raw)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{
		"category", category, "Food", "2026-03-01", "2026-03-31", "0.00", "2.50", "-2.50", "EUR",
	}, rows[4])
	// An empty value excludes the transactions without payee.
	require.Empty(t, me.get("/api/v1/transaction?exceptPayee=&counted=true").
		ok("TRANSACTIONS_FETCHED").at("transactions"))
	for _, path := range []string{
		"/api/v1/reports/flow?", "/api/v1/reports/compare?", "/api/v1/reports/compare/csv?",
	} {
		stranger.get(path+"walletId="+wallet).fails(404, "WALLET_NOT_FOUND").blames("walletId")
		stranger.get(path+"categoryId="+category).fails(404, "INVALID_CATEGORY_EXIST_PARAMS").
			blames("categoryId")
		me.get(path+"currency=XXX").fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
		me.get(path+"from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
		anonymous.get(path).fails(401, "UNAUTHORIZED")
	}

	const march = "?from=2026-03-01&to=2026-03-31"
	worth := me.get("/api/v1/reports/balances" + march).ok("BALANCES_FETCHED")
	require.Equal(t, wallet, worth.text("balances.wallets.0.walletId"))
	require.Contains(t, string(worth.raw),
		`"totals":[{"currency":"EUR","assets":[7.50],"debts":[0.00],"net":[7.50]}]`)
	worthTable := me.get("/api/v1/reports/balances/csv" + march)
	require.Equal(t, "attachment; filename=coffer-balances-2026-03-01-2026-03-31.csv",
		worthTable.header.Get("Content-Disposition"))
	for _, path := range []string{"/api/v1/reports/balances?", "/api/v1/reports/balances/csv?"} {
		stranger.get(path+"walletId="+wallet).fails(404, "WALLET_NOT_FOUND").blames("walletId")
		me.get(path+"currency=XXX").fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
		me.get(path+"from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
		me.get(path + "interval=decade").invalid("interval")
		anonymous.get(path).fails(401, "UNAUTHORIZED")
	}

	for _, path := range []string{"/api/v1/reports/series?", "/api/v1/reports/series/csv?"} {
		stranger.get(path+"walletId="+wallet).fails(404, "WALLET_NOT_FOUND").blames("walletId")
		stranger.get(path+"categoryId="+category).fails(404, "INVALID_CATEGORY_EXIST_PARAMS").
			blames("categoryId")
		me.get(path+"currency=XXX").fails(400, "UNSUPPORTED_CURRENCY").blames("currency")
		me.get(path+"type=gift").fails(400, "INVALID_TRANSACTION_TYPE").blames("type")
		me.get(path+"from=x").fails(400, "INVALID_TRANSACTION_DATE").blames("from")
		me.get(path + "interval=decade").invalid("interval")
		anonymous.get(path).fails(401, "UNAUTHORIZED")
	}
}

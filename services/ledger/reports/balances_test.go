package reports

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/series"
)

// balanceKey is a wallet with a currency.
type balanceKey struct{ wallet, currency string }

// requireBalances compares the balances at the ends of intervals with the model, with the dashboard
// of the same period, and with the current balances of the wallets.
func (a answers) requireBalances(reports *series.Reports, interval string) {
	report, got := a.balances(reports, &ledgerv1.GetBalancesRequest{
		From: &a.from, To: &a.to, Interval: &interval,
	})
	totals := map[string]*ledgerv1.BalanceTotals{}
	for _, t := range report.GetTotals() {
		totals[t.GetCurrency()] = t
	}
	for _, code := range []string{"BHD", "EUR", "JPY"} {
		unit := money.CurrencyOf(code)
		for i, p := range report.GetIntervals() {
			var assets, debts int64
			for _, w := range a.wallets {
				want := a.counted(w, code, calendar.Days(at(p.GetStart()), at(p.GetEnd())))
				assets, debts = assets+max(want, 0), debts+max(-want, 0)
				row, ok := got[balanceKey{w.ID.String(), code}]
				require.Equal(a.r, unit.Format(want), orZero(row, ok, i, unit), "%s %s", w.Name, p)
			}
			if t := totals[code]; t != nil {
				require.Equal(a.r, unit.Format(assets), t.GetAssets()[i])
				require.Equal(a.r, unit.Format(debts), t.GetDebts()[i])
				require.Equal(a.r, unit.Format(assets-debts), t.GetNet()[i])
			} else {
				require.Zero(a.r, assets+debts)
			}
		}
	}
	a.requireBalancesOfDashboard(got, len(report.GetIntervals())-1)
	a.requireCurrentBalances(reports)
	last := report.GetIntervals()[len(report.GetIntervals())-1].GetEnd()
	a.requireCleared(&last, at(last).AddDate(0, 0, 1))
	a.requireCleared(nil, at("2200-12-31").AddDate(0, 0, 1))
}

func (a answers) balances(
	reports *series.Reports, req *ledgerv1.GetBalancesRequest,
) (*ledgerv1.Balances, map[balanceKey][]string) {
	resp, err := reports.GetBalances(a.ctx, req)
	require.NoError(a.r, err)
	rows := map[balanceKey][]string{}
	for _, w := range resp.GetBalances().GetWallets() {
		rows[balanceKey{w.GetWalletId(), w.GetCurrency()}] = w.GetBalances()
	}
	return resp.GetBalances(), rows
}

// counted returns the balance at the end of a period as net worth counts it: that of an archived
// wallet is 0 in periods after its last transaction.
func (a answers) counted(w historyWallet, currency string, p calendar.Period) int64 {
	var last *time.Time
	for _, t := range a.transactions {
		if t.WalletID == w.ID && (last == nil || t.Date.After(*last)) {
			last = &t.Date
		}
	}
	if last == nil {
		last = w.Opened
	}
	if w.Archived && (last == nil || last.Before(p.From)) {
		return 0
	}
	return a.balance(w, currency, p.End)
}

func orZero(row []string, ok bool, i int, unit money.Currency) string {
	if !ok {
		return unit.Format(0)
	}
	return row[i]
}

// requireBalancesOfDashboard compares the last balances with those of the dashboard, which shows
// archived wallets, too.
func (a answers) requireBalancesOfDashboard(got map[balanceKey][]string, last int) {
	resp, err := a.GetSummary(a.ctx, &summaryRequest{From: &a.from, To: &a.to})
	require.NoError(a.r, err)
	archived := map[string]bool{}
	for _, w := range a.wallets {
		archived[w.ID.String()] = w.Archived
	}
	for _, row := range resp.GetSummary().GetByWallet() {
		if archived[row.GetWalletId()] {
			continue
		}
		balances, ok := got[balanceKey{row.GetWalletId(), row.GetCurrency()}]
		require.Equal(a.r, row.GetBalance(),
			orZero(balances, ok, last, money.CurrencyOf(row.GetCurrency())))
	}
}

// requireCurrentBalances compares the balances after all transactions with those of the wallets.
func (a answers) requireCurrentBalances(reports *series.Reports) {
	_, got := a.balances(reports, &ledgerv1.GetBalancesRequest{
		From: new("2200-12-01"), To: new("2200-12-31"),
	})
	for _, w := range a.wallets {
		if w.Archived {
			continue
		}
		resp, err := a.GetWallet(a.ctx, &ledgerv1.GetWalletRequest{Id: w.ID.String()})
		require.NoError(a.r, err)
		for _, b := range resp.GetWallet().GetBalances() {
			row, ok := got[balanceKey{w.ID.String(), b.GetCurrency()}]
			require.Equal(a.r, b.GetAmount(),
				orZero(row, ok, 0, money.CurrencyOf(b.GetCurrency())))
		}
	}
}

// requireCleared compares the balances of the cleared transactions at the end of a day, or of all
// days, and the sums of the others, with the model before end. Together they are the balances of
// the model.
func (a answers) requireCleared(day *string, end time.Time) {
	for _, w := range a.wallets {
		resp, err := a.GetWallet(a.ctx, &ledgerv1.GetWalletRequest{
			Id: w.ID.String(), Include: []string{"cleared"}, To: day,
		})
		require.NoError(a.r, err)
		rows := map[string]*ledgerv1.ClearedBalance{}
		for _, row := range resp.GetCleared() {
			rows[row.GetCurrency()] = row
		}
		for _, code := range []string{"BHD", "EUR", "JPY"} {
			unit, balance, uncleared := money.CurrencyOf(code), a.balance(w, code, end), int64(0)
			count := 0
			for _, t := range a.transactions {
				if t.WalletID == w.ID && t.Currency == code && t.Date.Before(end) && !t.Cleared {
					uncleared, count = uncleared+t.AmountMinor, count+1
				}
			}
			row, ok := rows[code]
			if !ok {
				require.NotEqual(a.r, w.Currency, code)
				require.Zero(a.r, balance)
				require.Zero(a.r, count)
				continue
			}
			require.Equal(a.r, unit.Format(balance-uncleared), row.GetBalance())
			require.Equal(a.r, unit.Format(uncleared), row.GetUncleared().GetAmount())
			require.EqualValues(a.r, count, row.GetUncleared().GetCount())
		}
	}
}

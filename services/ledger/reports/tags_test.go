package reports

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestGetSummaryByTag(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	tagged := func(amount, currency, kind, date string, tags ...string) {
		req := me.Spends(amount)
		req.Currency, req.Type, req.Date, req.Tags = currency, &kind, date, tags
		me.Create(t, req)
	}
	tagged("3", "EUR", posting.Expense, "2026-03-01", "Trip", "Work")
	tagged("4.50", "EUR", posting.Expense, "2026-03-31T23:59:59Z", "WORK")
	tagged("10", "EUR", posting.Income, "2026-03-02", "Refund")
	tagged("700", "JPY", posting.Expense, "2026-03-02", "trip")
	tagged("1", "EUR", posting.Expense, "2026-02-28", "trip")
	tagged("1", "EUR", posting.Expense, "2026-04-01", "trip")
	tagged("2", "EUR", posting.Expense, "2026-03-05")
	rows := func(currency *string) (got []string) {
		req := ask("2026-03-01", "2026-03-31")
		req.Include, req.Currency = []string{"tags"}, currency
		resp, err := me.GetSummary(me.Ctx, req)
		require.NoError(t, err)
		for _, r := range resp.GetSummary().GetByTag().GetValues() {
			got = append(got, fmt.Sprint(r.GetName(), " ", r.GetCurrency(), " ", r.GetIncome(), " ",
				r.GetExpense(), " ", r.GetTransactionCount()))
		}
		return got
	}
	want := []string{
		"Work EUR 0.00 7.50 2", "Trip EUR 0.00 3.00 1", "Refund EUR 10.00 0.00 1",
		"Trip JPY 0 700 1",
	}
	require.Equal(t, want, rows(nil))
	require.Equal(t, want[3:], rows(new("jpy")))
	resp, err := me.GetSummary(me.Ctx, &summaryRequest{})
	require.NoError(t, err)
	require.Nil(t, resp.GetSummary().GetByTag())
}

func TestTagsProtoLimits(t *testing.T) {
	t.Parallel()
	rows := []tagged{{Currency: "EUR", Count: 5, Read: 5}}
	for i := range maxSummaryRows/2 + 1 {
		rows = append(rows, tagged{Name: fmt.Sprint(i), Currency: "EUR", Expense: int64(i)},
			tagged{Name: fmt.Sprint(i), Currency: "JPY"})
	}
	got, err := tagsProto(append([]tagged{}, rows...), "")
	require.NoError(t, err)
	require.Len(t, got.GetValues(), maxSummaryRows)
	require.Equal(t, "1000", got.GetValues()[0].GetName(), "the tags with the largest expenses")
	got, err = tagsProto(append([]tagged{}, rows...), "JPY")
	require.NoError(t, err)
	require.Len(t, got.GetValues(), maxSummaryRows/2+1)
	rows[0].Read = maxReadTransactions + 1
	_, err = tagsProto(rows, "")
	require.ErrorIs(t, err, errTooManyTransactions)
}

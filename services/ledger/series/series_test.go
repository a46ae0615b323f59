package series

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

type wanted = ledgerv1.GetSeriesRequest

// server serves the RPCs that the tests of this package call.
type server struct {
	*fixture.Service
	*accounts.Accounts
	*transactions.Transactions
}

func setup(t testing.TB) (*server, *Reports, fixture.User) {
	t.Helper()
	f := fixture.New(t)
	s := &server{
		Service: f, Accounts: &accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors},
		Transactions: transactions.New(f.Ledger, f.Cursors, f.Reads),
	}
	f.RPCs = s
	s.Run(t.Context())
	return s, &Reports{Ledger: f.Ledger, Reads: f.Reads}, s.NewUser(t.Context(), t)
}

func TestGetSeriesDefaults(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	u.Create(t, u.Spends("3.50"))
	resp, err := reports.GetSeries(u.Ctx, &wanted{})
	require.NoError(t, err)
	report := resp.GetReport()
	require.Equal(t, "EUR", report.GetCurrency())
	require.Equal(t, "month", report.GetInterval())
	require.Len(t, report.GetIntervals(), defaultMonths)
	last := report.GetIntervals()[defaultMonths-1]
	require.Equal(t, fixture.Today.Format("2006-01")+"-01", last.GetStart())
	require.Equal(t, "3.50", report.GetTotals().GetExpense()[defaultMonths-1])
	require.Equal(t, "-3.50", report.GetTotals().GetNet()[defaultMonths-1])
	require.Empty(t, report.GetSeries())
}

func TestGetSeriesOfNothing(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	for _, groupBy := range []string{byNone, byCategory, byTag} {
		resp, err := reports.GetSeries(u.Ctx, &wanted{GroupBy: &groupBy})
		require.NoError(t, err)
		require.Empty(t, resp.GetReport().GetCurrency())
		require.Equal(t, "0", resp.GetReport().GetTotals().GetIncome()[0])
		require.Empty(t, resp.GetReport().GetSeries())
	}
}

func TestGetSeriesProblems(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	unknown := "ffffffff-ffff-7fff-bfff-ffffffffffff"
	for name, tc := range map[string]struct {
		req   *wanted
		field string
	}{
		"an unknown interval":   {&wanted{Interval: new("decade")}, "interval"},
		"an unknown group":      {&wanted{GroupBy: new("color")}, "groupBy"},
		"no group":              {&wanted{Top: new(int32(0))}, "top"},
		"too many groups":       {&wanted{Top: new(int32(51))}, "top"},
		"transfers":             {&wanted{Type: new("transfer")}, "type"},
		"a moment":              {&wanted{From: new("2026-01-01T00:00:00Z")}, "from"},
		"not a date":            {&wanted{To: new("tomorrow")}, "to"},
		"an end before a start": {&wanted{From: new("2026-02-01"), To: new("2026-01-01")}, "from"},
		"an unknown wallet":     {&wanted{WalletId: []string{unknown}}, "walletId"},
		"an unknown category":   {&wanted{CategoryId: []string{unknown}}, "categoryId"},
		"an unknown currency":   {&wanted{Currency: new("XXX")}, "currency"},
		"too many intervals": {
			&wanted{From: new("2024-01-01"), To: new("2026-01-01"), Interval: new("day")},
			"interval",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := reports.GetSeries(u.Ctx, tc.req)
			problem := apierr.From(err)
			require.NotNil(t, problem, err)
			require.Len(t, problem.Fields, 1)
			require.Equal(t, tc.field, problem.Fields[0].Name)
		})
	}
}

func TestGetSeriesOfSeveralCurrencies(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	u.Create(t, u.Spends("3.50"))
	foreign := u.Spends("700")
	foreign.Currency = "JPY"
	u.Create(t, foreign)
	for _, interval := range []string{"month", "day"} {
		req := &wanted{Interval: &interval, From: new("2026-03-14"), To: new("2026-03-14")}
		if interval == "month" {
			req.From, req.To = new("2026-03-01"), new("2026-03-31")
		}
		_, err := reports.GetSeries(u.Ctx, req)
		problem := apierr.From(err)
		require.NotNil(t, problem)
		require.Contains(t, problem.Fields[0].Message, "EUR, JPY")
		req.Currency = new("jpy")
		resp, err := reports.GetSeries(u.Ctx, req)
		require.NoError(t, err)
		require.Equal(t, "JPY", resp.GetReport().GetCurrency())
		require.EqualValues(t, 1, resp.GetReport().GetTotals().GetCount()[0])
		require.Equal(t, "700", resp.GetReport().GetTotals().GetExpense()[0])
	}
}

// TestGetSeriesOther requires that the groups beyond top are added up.
func TestGetSeriesOther(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	for i, amount := range []string{"1", "2", "4", "8"} {
		spent := u.Spends(amount)
		spent.CategoryId = s.MakeCategory(u.Ctx, t, fmt.Sprint("category ", i)).String()
		spent.Payee = "=payee " + amount
		u.Create(t, spent)
	}
	for groupBy, first := range map[string]string{
		byCategory: "category 3", byPayee: "=payee 8",
	} {
		resp, err := reports.GetSeries(u.Ctx,
			&wanted{GroupBy: &groupBy, Top: new(int32(2)), Interval: new("year")})
		require.NoError(t, err)
		report := resp.GetReport()
		require.Len(t, report.GetSeries(), 2)
		require.Equal(t, first, report.GetSeries()[0].GetName())
		require.EqualValues(t, 2, report.GetOther().GetGroups())
		last := len(report.GetIntervals()) - 1
		require.Equal(t, "3.00", report.GetOther().GetExpense()[last])
		require.EqualValues(t, 2, report.GetOther().GetCount()[last])
	}
}

// TestExportSeriesGuardsNames requires that a spreadsheet evaluates no name.
func TestExportSeriesGuardsNames(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	spent := u.Spends("1")
	spent.Payee = "=SUM(A1)"
	u.Create(t, spent)
	stream := &fixture.DownloadStream[ledgerv1.ExportSeriesResponse]{Ctx: u.Ctx}
	require.NoError(t, reports.ExportSeries(
		&ledgerv1.ExportSeriesRequest{GroupBy: new(byPayee), Interval: new("year")}, stream))
	require.Equal(t, "text/csv; charset=utf-8", stream.Sent[0].GetHeader().GetMediaType())
	require.Contains(t, string(stream.Sent[1].GetContent()), ",'=SUM(A1),")
	rejected := &ledgerv1.ExportSeriesRequest{Top: new(int32(0))}
	require.Error(t, reports.ExportSeries(rejected, stream))

	compared := &fixture.DownloadStream[ledgerv1.ExportComparisonResponse]{Ctx: u.Ctx}
	require.NoError(t, reports.ExportComparison(
		&ledgerv1.ExportComparisonRequest{GroupBy: new(byPayee)}, compared))
	require.Contains(t, string(compared.Sent[1].GetContent()), "payee,'=sum(a1),'=SUM(A1),")
	require.Error(t, reports.ExportComparison(
		&ledgerv1.ExportComparisonRequest{With: new("week")}, compared))
}

// TestExportSeriesOfLargeSums requires that sums may exceed the maximum of an amount.
func TestExportSeriesOfLargeSums(t *testing.T) {
	t.Parallel()
	_, reports, u := setup(t)
	for range 2 {
		u.Create(t, u.Spends("999999999999.99"))
	}
	stream := &fixture.DownloadStream[ledgerv1.ExportSeriesResponse]{Ctx: u.Ctx}
	require.NoError(t,
		reports.ExportSeries(&ledgerv1.ExportSeriesRequest{Interval: new("year")}, stream))
	require.Contains(t, string(stream.Sent[1].GetContent()),
		",0.00,1999999999999.98,-1999999999999.98,2,EUR")
}

// TestGetSeriesTooLarge reads reports of a user with more transactions than a report may read: a
// search for many repetitions examines a fiftieth of the others. The error names a period that
// works.
func TestGetSeriesTooLarge(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	fill := func(date string, n int) {
		ts := make([]posting.Transaction, n)
		for i := range ts {
			ts[i] = posting.Transaction{
				WalletID: u.Wallet, CategoryID: &u.Category, AmountMinor: -1, Currency: "EUR",
				Date: day(date),
			}
		}
		s.Record(u.Ctx, t, ts...)
	}
	fill("2026-01-10", 2)
	fill("2026-01-20", maxRows/50-1)
	req := &wanted{
		From: new("2026-01-01"), To: new("2026-01-31"), Q: new(strings.Repeat("a", 1000)),
	}
	_, err := reports.GetSeries(u.Ctx, req)
	require.ErrorIs(t, err, errReportTooLarge)
	require.Equal(t, []apierr.Field{{
		Name: "from", Message: "must be 2026-01-11 or later; " + unlimited,
	}}, apierr.From(err).Fields)
	req.From = new("2026-01-11")
	_, err = reports.GetSeries(u.Ctx, req)
	require.NoError(t, err)
	fill("2026-01-31", maxRows/50+1)
	_, err = reports.GetSeries(u.Ctx, req)
	require.ErrorIs(t, err, errReportTooLarge)
	require.Equal(t, "walletId", apierr.From(err).Fields[0].Name)
	// Without the search they are few, and whole months by category have no limit.
	req.Q = nil
	resp, err := reports.GetSeries(u.Ctx, req)
	require.NoError(t, err)
	require.EqualValues(t, 2*maxRows/50, resp.GetReport().GetTotals().GetCount()[0])
}

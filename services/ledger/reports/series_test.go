package reports

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/series"
)

// TestSeriesAgree compares reports with a model, which adds up the transactions of a history, and
// with the dashboard, lists and the spending of budgets. The histories have transfers, adjustments,
// splits with refunds, edits and merges of categories.
func TestSeriesAgree(t *testing.T) {
	t.Parallel()
	s := setup(t)
	reports := &series.Reports{Ledger: s.Service.Ledger, Reads: s.Service.Reads}
	rapid.Check(t, func(r *rapid.T) {
		a := newAnswers(r, s)
		a.edit()
		a.merge()
		code := rapid.SampledFrom([]string{"BHD", "EUR", "JPY"}).Draw(r, "currency")
		a.currency = money.CurrencyOf(code)
		a.requireSeries(reports, rapid.SampledFrom(
			[]string{"day", "week", "month", "quarter", "year"}).Draw(r, "interval"))
		a.requireDashboard(reports)
		a.requireFlow(reports)
		a.requireComparison(reports)
		a.requireBalances(reports, rapid.SampledFrom(
			[]string{"day", "week", "month", "quarter", "year"}).Draw(r, "interval of balances"))
		a.requireSpending()
	})
}

// edit changes the amounts and payees of some transactions that have no parts.
func (a answers) edit() {
	for i := range a.transactions {
		t := &a.transactions[i]
		if i%4 != 0 || t.CategoryID == nil {
			continue
		}
		t.AmountMinor *= 2
		t.Payee = []string{"Bakery", "KIOSK", "bakery"}[i%3]
		unit := money.CurrencyOf(t.Currency)
		_, err := a.UpdateTransaction(a.ctx, &ledgerv1.UpdateTransactionRequest{
			Id: t.ID.String(), Amount: new(strings.TrimPrefix(unit.Format(t.AmountMinor), "-")),
			Payee: &t.Payee,
		})
		require.NoError(a.r, err)
	}
}

// merge merges a category into another one, if there are two.
func (a answers) merge() {
	ids := a.sortedCategories()
	if len(ids) < 2 || !rapid.Bool().Draw(a.r, "merge") {
		return
	}
	from, to := ids[0], ids[1]
	_, err := a.DeleteCategory(a.ctx, &ledgerv1.DeleteCategoryRequest{
		Id: from.String(), ReassignTo: new(to.String()),
	})
	require.NoError(a.r, err)
	delete(a.categories, from)
	for i := range a.transactions {
		t := &a.transactions[i]
		if t.CategoryID != nil && *t.CategoryID == from {
			t.CategoryID = &to
		}
		for j := range t.Splits {
			if t.Splits[j].CategoryID == from {
				t.Splits[j].CategoryID = to
			}
		}
	}
}

func (a answers) sortedCategories() []uuid.UUID {
	return slices.SortedFunc(maps.Keys(a.categories), func(x, y uuid.UUID) int {
		return slices.Compare(x[:], y[:])
	})
}

// requireSeries compares the reports of an interval with the model, and each number by category or
// wallet with the list that a click on it opens.
func (a answers) requireSeries(reports *series.Reports, interval string) {
	for _, groupBy := range []string{"none", "category", "wallet", "payee", "tag"} {
		req := &ledgerv1.GetSeriesRequest{
			From: &a.from, To: &a.to, Currency: new(a.currency.Code()), Interval: &interval,
			GroupBy: &groupBy, Top: new(int32(2)),
		}
		resp, err := reports.GetSeries(a.ctx, req)
		require.NoError(a.r, err)
		report := resp.GetReport()
		periods := a.requirePeriods(report, interval)
		all := func(posting.Transaction) bool { return true }
		a.requireNumbers(periods, report.GetTotals(), func(p calendar.Period) sums {
			return a.in(p, nil, all)
		})
		var sum sums
		for _, group := range report.GetSeries() {
			a.requireNumbers(periods, group, func(p calendar.Period) sums {
				return a.ofGroup(p, groupBy, group.GetKey(), all)
			})
			sum = sum.plus(a.sumOf(group))
		}
		if other := report.GetOther(); other != nil {
			require.Len(a.r, report.GetSeries(), 2)
			sum = sum.plus(a.sumOf(other))
		}
		if groupBy == "category" || groupBy == "wallet" || groupBy == "payee" {
			require.Equal(a.r, a.sumOf(report.GetTotals()).moved(), sum.moved(), groupBy)
		}
		if groupBy == "category" {
			a.requireTable(reports, req, report)
		}
	}
	a.requireFiltered(reports, interval)
	a.requireLists(reports, interval)
}

// requireDashboard compares the report of a year with the dashboard.
func (a answers) requireDashboard(reports *series.Reports) {
	resp, err := reports.GetSeries(a.ctx, &ledgerv1.GetSeriesRequest{
		From: &a.from, To: &a.to, Currency: new(a.currency.Code()), Interval: new("year"),
		GroupBy: new("category"),
	})
	require.NoError(a.r, err)
	summarized, err := a.GetSummary(a.ctx, &summaryRequest{
		From: &a.from, To: &a.to, Currency: new(a.currency.Code()),
	})
	require.NoError(a.r, err)
	summary, report := summarized.GetSummary(), resp.GetReport()
	totals := summary.GetTotals()[0]
	require.Equal(a.r, a.read(totals, totals.GetTransactionCount()), a.sumOf(report.GetTotals()))
	require.Len(a.r, report.GetSeries(), len(summary.GetByCategory()))
	for _, row := range summary.GetByCategory() {
		i := slices.IndexFunc(report.GetSeries(), func(g *ledgerv1.ReportSeries) bool {
			return g.GetKey() == row.GetCategoryId()
		})
		require.Equal(a.r, row.GetName(), report.GetSeries()[i].GetName())
		require.Equal(a.r, a.read(row, 0), a.sumOf(report.GetSeries()[i]).moved())
	}
}

// requirePeriods requires that the intervals cover the window without gaps, and returns them.
func (a answers) requirePeriods(report *ledgerv1.Report, interval string) []calendar.Period {
	var periods []calendar.Period
	next := a.window.From
	for _, p := range report.GetIntervals() {
		period := calendar.Days(at(p.GetStart()), at(p.GetEnd()))
		require.True(a.r, period.From.Equal(next), "%s: %s", interval, p)
		periods, next = append(periods, period), period.End
	}
	require.True(a.r, next.Equal(a.window.End))
	return periods
}

// in computes the sums of a period: of all matching transactions, or of their parts in categories.
func (a answers) in(
	p calendar.Period, categories []uuid.UUID, which func(posting.Transaction) bool,
) sums {
	if categories == nil {
		income, expense, count := a.moved(p, a.currency.Code(), which)
		return sums{income, expense, int64(count)}
	}
	income, expense, _ := a.movedIn(p, a.currency.Code(), categories, which)
	// Parts count separately.
	parts := 0
	for _, t := range a.transactions {
		if t.TransferID != nil || t.Adjustment || !p.Contains(t.Date) ||
			t.Currency != a.currency.Code() || !which(t) {
			continue
		}
		if t.CategoryID != nil && slices.Contains(categories, *t.CategoryID) {
			parts++
		}
		for _, s := range t.Splits {
			if slices.Contains(categories, s.CategoryID) {
				parts++
			}
		}
	}
	return sums{income, expense, int64(parts)}
}

// ofGroup computes the sums of the matching transactions of a group.
func (a answers) ofGroup(
	p calendar.Period, groupBy, key string, which func(posting.Transaction) bool,
) sums {
	var categories []uuid.UUID
	if groupBy == "category" {
		categories = []uuid.UUID{uuid.MustParse(key)}
	}
	return a.in(p, categories, func(t posting.Transaction) bool {
		if !which(t) {
			return false
		}
		switch groupBy {
		case "wallet":
			return t.WalletID.String() == key
		case "payee":
			return strings.ToLower(t.Payee) == key
		case "tag":
			return (len(t.Tags) > 0) == (key != "")
		}
		return true
	})
}

// group is the totals, a group or the sum of the other groups of a report.
type group interface {
	GetIncome() []string
	GetExpense() []string
	GetCount() []int32
}

func (a answers) at(g group, i int) sums {
	income, err := a.currency.Parse(g.GetIncome()[i])
	require.NoError(a.r, err)
	expense, err := a.currency.Parse(g.GetExpense()[i])
	require.NoError(a.r, err)
	return sums{income, expense, int64(g.GetCount()[i])}
}

func (a answers) sumOf(g group) (sum sums) {
	for i := range g.GetIncome() {
		sum = sum.plus(a.at(g, i))
	}
	return sum
}

func (a answers) requireNumbers(
	periods []calendar.Period, g group, want func(calendar.Period) sums,
) {
	require.Len(a.r, g.GetIncome(), len(periods))
	require.Len(a.r, g.GetExpense(), len(periods))
	require.Len(a.r, g.GetCount(), len(periods))
	for i, p := range periods {
		require.Equal(a.r, want(p), a.at(g, i), "%s", p.From)
	}
}

// newAnswers draws a history and a window.
func newAnswers(r *rapid.T, s *server) answers {
	id := s.NewID()
	a := answers{server: s, r: r, ctx: fixture.ActAs(context.Background(), id), owner: id}
	a.history = s.anyHistory(r, a.ctx)
	a.tag()
	from, to := fixture.AnyTime(r), fixture.AnyTime(r)
	if to.Before(from) {
		from, to = to, from
	}
	if rapid.Bool().Draw(r, "whole months") {
		from, to = calendar.MonthOf(from), calendar.MonthOf(to).AddDate(0, 1, -1)
	}
	if latest := from.AddDate(0, 0, maxDays-1); to.After(latest) {
		to = latest
	}
	a.from, a.to = from.Format(calendar.DateLayout), to.Format(calendar.DateLayout)
	a.window = calendar.Days(at(a.from), at(a.to))
	return a
}

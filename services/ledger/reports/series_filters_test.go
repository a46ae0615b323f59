package reports

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/series"
)

// requireFiltered compares the totals of reports with filters with the model.
func (a answers) requireFiltered(reports *series.Reports, interval string) {
	wallet := rapid.SampledFrom(a.wallets).Draw(a.r, "wallet of the report").ID
	category := rapid.SampledFrom(a.sortedCategories()).Draw(a.r, "category of the report")
	inWallet := func(t posting.Transaction) bool { return t.WalletID == wallet }
	for _, tc := range []struct {
		req        *ledgerv1.GetSeriesRequest
		categories []uuid.UUID
		which      func(posting.Transaction) bool
	}{
		{&ledgerv1.GetSeriesRequest{WalletId: []string{wallet.String()}}, nil, inWallet},
		{&ledgerv1.GetSeriesRequest{
			WalletId: []string{wallet.String()}, CategoryId: []string{category.String()},
		}, []uuid.UUID{category}, inWallet},
		{&ledgerv1.GetSeriesRequest{
			CategoryId: []string{category.String()}, Type: new(posting.Expense),
		}, []uuid.UUID{category}, func(t posting.Transaction) bool { return t.AmountMinor < 0 }},
		{
			&ledgerv1.GetSeriesRequest{Tag: []string{"TRIP"}}, nil,
			func(t posting.Transaction) bool { return len(t.Tags) > 0 },
		},
		{
			&ledgerv1.GetSeriesRequest{Type: new(posting.Income)}, nil,
			func(t posting.Transaction) bool { return t.AmountMinor > 0 },
		},
	} {
		req := tc.req
		req.From, req.To, req.Interval = &a.from, &a.to, &interval
		req.Currency = new(a.currency.Code())
		resp, err := reports.GetSeries(a.ctx, req)
		require.NoError(a.r, err)
		periods := a.requirePeriods(resp.GetReport(), interval)
		a.requireNumbers(periods, resp.GetReport().GetTotals(), func(p calendar.Period) sums {
			return a.in(p, tc.categories, tc.which)
		})
	}
}

// requireLists compares a number of each category with the totals of its list.
func (a answers) requireLists(reports *series.Reports, interval string) {
	if interval == "day" || interval == "week" {
		return
	}
	resp, err := reports.GetSeries(a.ctx, &ledgerv1.GetSeriesRequest{
		From: &a.from, To: &a.to, Currency: new(a.currency.Code()), Interval: &interval,
		GroupBy: new("category"),
	})
	require.NoError(a.r, err)
	report := resp.GetReport()
	i := rapid.IntRange(0, len(report.GetIntervals())-1).Draw(a.r, "clicked interval")
	within := a
	within.from, within.to = report.GetIntervals()[i].GetStart(), report.GetIntervals()[i].GetEnd()
	for _, g := range report.GetSeries() {
		listed := within.list(func(req *ledgerv1.ListTransactionsRequest) {
			req.CategoryId = []string{g.GetKey()}
		})
		require.Equal(a.r, listed.moved(), a.at(g, i).moved(), "list")
	}
	listed := within.list(func(*ledgerv1.ListTransactionsRequest) {})
	require.Equal(a.r, listed, a.at(report.GetTotals(), i), "list of all")
	// The list of the difference of income and spending has no transfers. It reads monthly totals.
	counted := within.list(func(req *ledgerv1.ListTransactionsRequest) {
		req.Counted = new(true)
	})
	require.Equal(a.r, listed, counted)
	within.requireOther(reports)
}

// requireOther compares the sum of the other groups, and the group without payee, with their lists.
func (a answers) requireOther(reports *series.Reports) {
	for _, groupBy := range []string{"category", "wallet", "payee"} {
		resp, err := reports.GetSeries(a.ctx, &ledgerv1.GetSeriesRequest{
			From: &a.from, To: &a.to, Currency: new(a.currency.Code()), Interval: new("year"),
			GroupBy: &groupBy, Top: new(int32(1)),
		})
		require.NoError(a.r, err)
		var outside []string
		for _, g := range resp.GetReport().GetSeries() {
			outside = append(outside, g.GetKey())
			if groupBy == "payee" && g.GetKey() == "" {
				listed := a.list(func(req *ledgerv1.ListTransactionsRequest) {
					req.Counted, req.WithoutPayee = new(true), new(true)
				})
				require.Equal(a.r, listed, a.sumOf(g), "list without payee")
			}
		}
		other := resp.GetReport().GetOther()
		if other == nil {
			continue
		}
		listed := a.list(func(req *ledgerv1.ListTransactionsRequest) {
			req.Counted = new(true)
			switch groupBy {
			case "category":
				req.ExceptCategoryId = outside
			case "wallet":
				req.ExceptWalletId = outside
			case "payee":
				req.ExceptPayee = outside
			}
		})
		require.Equal(a.r, listed.moved(), a.sumOf(other).moved(), "list of the others by %s",
			groupBy)
	}
}

// requireTable requires that the table has the numbers of the report.
func (a answers) requireTable(
	reports *series.Reports, req *ledgerv1.GetSeriesRequest, report *ledgerv1.Report,
) {
	stream := &fixture.DownloadStream[ledgerv1.ExportSeriesResponse]{Ctx: a.ctx}
	require.NoError(a.r, reports.ExportSeries(&ledgerv1.ExportSeriesRequest{
		From: req.From, To: req.To, Currency: req.Currency, Interval: req.Interval,
		GroupBy: req.GroupBy, Top: req.Top,
	}, stream))
	var file bytes.Buffer
	for _, m := range stream.Sent {
		file.Write(m.GetContent())
	}
	rows, err := csv.NewReader(&file).ReadAll()
	require.NoError(a.r, err)
	groups := []group{report.GetTotals()}
	for _, g := range report.GetSeries() {
		groups = append(groups, g)
	}
	if report.GetOther() != nil {
		groups = append(groups, report.GetOther())
	}
	rows = rows[1:]
	require.Len(a.r, rows, len(groups)*len(report.GetIntervals()))
	for i, g := range groups {
		for j, period := range report.GetIntervals() {
			cells := rows[i*len(report.GetIntervals())+j]
			require.Equal(a.r, []string{
				period.GetStart(), period.GetEnd(), g.GetIncome()[j], g.GetExpense()[j],
			}, cells[3:7])
			require.Equal(a.r, strconv.Itoa(int(g.GetCount()[j])), cells[8])
		}
	}
}

// requireFlow compares the flow of all wallets or of one with the model.
func (a answers) requireFlow(reports *series.Reports) {
	req := &ledgerv1.GetFlowRequest{From: &a.from, To: &a.to, Currency: new(a.currency.Code())}
	all := func(posting.Transaction) bool { return true }
	if rapid.Bool().Draw(a.r, "flow of a wallet") {
		req.WalletId = []string{a.wallets[0].ID.String()}
		all = func(t posting.Transaction) bool { return t.WalletID == a.wallets[0].ID }
	}
	resp, err := reports.GetFlow(a.ctx, req)
	require.NoError(a.r, err)
	got := map[string]sums{}
	for i, rows := range [][]*ledgerv1.FlowAmount{
		resp.GetFlow().GetIncome(), resp.GetFlow().GetExpense(),
	} {
		for _, row := range rows {
			amount, err := a.currency.Parse(row.GetAmount())
			require.NoError(a.r, err)
			if i == 0 {
				got[row.GetCategoryId()] = sums{income: amount}
			} else {
				got[row.GetCategoryId()] = got[row.GetCategoryId()].plus(sums{expense: amount})
			}
		}
	}
	want := map[string]sums{}
	for id := range a.categories {
		if sum := a.in(a.window, []uuid.UUID{id}, all).moved(); sum != (sums{}) {
			want[id.String()] = sum
		}
	}
	require.Equal(a.r, want, got, "flow")
	total := a.in(a.window, nil, all)
	require.Equal(a.r, a.currency.Format(total.income-total.expense), resp.GetFlow().GetSaved())
}

// requireComparison compares the sums of both periods with the model.
func (a answers) requireComparison(reports *series.Reports) {
	with := rapid.SampledFrom([]string{"previous", "year"}).Draw(a.r, "compared with")
	groupBy := rapid.SampledFrom([]string{"category", "wallet", "payee", "tag"}).
		Draw(a.r, "compared groups")
	orderBy := rapid.SampledFrom([]string{"expense", "income", "net"}).Draw(a.r, "order")
	req := &ledgerv1.GetComparisonRequest{
		From: &a.from, To: &a.to, Currency: new(a.currency.Code()), With: &with,
		GroupBy: &groupBy, OrderBy: &orderBy,
		Top: new(rapid.Int32Range(1, 4).Draw(a.r, "compared separately")),
	}
	all, largest := func(posting.Transaction) bool { return true }, int64(0)
	if rapid.Bool().Draw(a.r, "comparison by tag") {
		req.Tag = []string{"trip"}
		all = func(t posting.Transaction) bool { return len(t.Tags) > 0 }
	}
	resp, err := reports.GetComparison(a.ctx, req)
	require.NoError(a.r, err)
	c := resp.GetComparison()
	before := a.window.Previous()
	if with == "year" {
		before = calendar.Period{
			From: a.window.From.AddDate(-1, 0, 0), End: a.window.End.AddDate(-1, 0, 0),
		}
		if before.From.Day() != a.window.From.Day() {
			before.From = before.From.AddDate(0, 0, -1)
		}
	}
	require.Equal(a.r, before.From.Format(calendar.DateLayout), c.GetBefore().GetStart())
	require.Equal(a.r, before.LastDay().Format(calendar.DateLayout), c.GetBefore().GetEnd())
	a.requireCompared(c.GetTotals(), a.in(a.window, nil, all), a.in(before, nil, all))
	otherNow, otherThen := a.in(a.window, nil, all).moved(), a.in(before, nil, all).moved()
	for i, g := range slices.Backward(c.GetGroups()) {
		now := a.ofGroup(a.window, groupBy, g.GetKey(), all)
		then := a.ofGroup(before, groupBy, g.GetKey(), all)
		a.requireCompared(g, now, then)
		otherNow, otherThen = otherNow.minus(now), otherThen.minus(then)
		changed := map[string]int64{
			"expense": now.expense - then.expense, "income": now.income - then.income,
			"net": now.income - now.expense - then.income + then.expense,
		}[orderBy]
		require.GreaterOrEqual(a.r, max(changed, -changed), largest, "%d", i)
		largest = max(changed, -changed)
	}
	if other := c.GetOther(); groupBy != "tag" && other != nil {
		a.requireCompared(other, otherNow, otherThen)
	} else if groupBy != "tag" {
		require.Equal(a.r, [2]sums{}, [2]sums{otherNow.moved(), otherThen.moved()})
	}
}

// compared is a group of a comparison, or the sum of the others.
type compared interface {
	GetNow() *ledgerv1.ComparedNumbers
	GetBefore() *ledgerv1.ComparedNumbers
	GetDifference() *ledgerv1.ComparedNumbers
}

func (a answers) requireCompared(g compared, now, before sums) {
	require.Equal(a.r, now.moved(), a.read(g.GetNow(), 0))
	require.Equal(a.r, before.moved(), a.read(g.GetBefore(), 0))
	require.Equal(a.r, sums{now.income - before.income, now.expense - before.expense, 0},
		a.read(g.GetDifference(), 0))
}

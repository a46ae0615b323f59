package reports

import (
	"bytes"
	"encoding/csv"
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

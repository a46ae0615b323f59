package series

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/rpc"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// columns is the heading of the table.
var columns = []string{
	"group", "key", "name", "start", "end", "income", "expense", "net", "count", "currency",
}

// ExportSeries sends the report of GetSeries as a table. The report is complete before the first
// message, so an error is never after a part of the file.
func (s *Reports) ExportSeries(
	req *ledgerv1.ExportSeriesRequest,
	stream grpc.ServerStreamingServer[ledgerv1.ExportSeriesResponse],
) error {
	report, err := s.report(stream.Context(), &ledgerv1.GetSeriesRequest{
		From: req.From, To: req.To, Interval: req.Interval, GroupBy: req.GroupBy,
		Currency: req.Currency, WalletId: req.GetWalletId(), CategoryId: req.GetCategoryId(),
		Tag: req.GetTag(), Payee: req.Payee, Type: req.Type, Q: req.Q, Top: req.Top,
	})
	if err != nil {
		return err
	}
	first, last := report.GetIntervals()[0], report.GetIntervals()[len(report.GetIntervals())-1]
	err = stream.Send(&ledgerv1.ExportSeriesResponse{
		Header: header("coffer-report-" + first.GetStart() + "-" + last.GetEnd()),
	})
	if err != nil {
		return err
	}
	w := rpc.NewFileWriter(func(piece []byte) error {
		return stream.Send(&ledgerv1.ExportSeriesResponse{Content: piece})
	})
	if err := writeCSV(w, report, req.GetGroupBy()); err != nil {
		return err
	}
	return w.Flush()
}

// header describes a table by its name.
func header(name string) *restv1.FileHeader {
	return &restv1.FileHeader{MediaType: "text/csv; charset=utf-8", FileName: name + ".csv"}
}

// ExportComparison sends the comparison of GetComparison as a table. It is complete before the
// first message, as in ExportSeries.
func (s *Reports) ExportComparison(
	req *ledgerv1.ExportComparisonRequest,
	stream grpc.ServerStreamingServer[ledgerv1.ExportComparisonResponse],
) error {
	comparison, err := s.comparison(stream.Context(), &ledgerv1.GetComparisonRequest{
		From: req.From, To: req.To, With: req.With, GroupBy: req.GroupBy, Currency: req.Currency,
		Top: req.Top, WalletId: req.GetWalletId(), CategoryId: req.GetCategoryId(),
		Tag: req.GetTag(), Payee: req.Payee, Q: req.Q, OrderBy: req.OrderBy,
	})
	if err != nil {
		return err
	}
	err = stream.Send(&ledgerv1.ExportComparisonResponse{Header: header("coffer-comparison-" +
		comparison.GetBefore().GetStart() + "-" + comparison.GetNow().GetEnd())})
	if err != nil {
		return err
	}
	w := rpc.NewFileWriter(func(piece []byte) error {
		return stream.Send(&ledgerv1.ExportComparisonResponse{Content: piece})
	})
	groupBy := byCategory
	if req.GroupBy != nil {
		groupBy = req.GetGroupBy()
	}
	if err := writeComparison(w, comparison, groupBy); err != nil {
		return err
	}
	return w.Flush()
}

// writeComparison writes a row for each period, of the totals, of each group and of the sum of the
// other groups.
func writeComparison(w io.Writer, c *ledgerv1.Comparison, groupBy string) error {
	rows := csv.NewWriter(w)
	rows.UseCRLF = true
	err := rows.Write([]string{
		"group", "key", "name", "start", "end", "income", "expense", "net", "currency",
	})
	add := func(of interface {
		GetBefore() *ledgerv1.ComparedNumbers
		GetNow() *ledgerv1.ComparedNumbers
	}, group, key, name string,
	) {
		for _, period := range []struct {
			days    *ledgerv1.ReportPeriod
			numbers *ledgerv1.ComparedNumbers
		}{{c.GetBefore(), of.GetBefore()}, {c.GetNow(), of.GetNow()}} {
			if err == nil {
				err = rows.Write([]string{
					group, written.Guard(key), written.Guard(name), period.days.GetStart(),
					period.days.GetEnd(), period.numbers.GetIncome(), period.numbers.GetExpense(),
					period.numbers.GetNet(), c.GetCurrency(),
				})
			}
		}
	}
	add(c.GetTotals(), "total", "", "")
	for _, g := range c.GetGroups() {
		add(g, groupBy, g.GetKey(), g.GetName())
	}
	if other := c.GetOther(); other != nil {
		add(other, "other", "", "")
	}
	if err != nil {
		return err
	}
	rows.Flush()
	return rows.Error()
}

// writeCSV writes the totals, the groups and the sum of the other groups. A spreadsheet does not
// evaluate the names (see written.Guard).
func writeCSV(w io.Writer, report *ledgerv1.Report, groupBy string) error {
	t := table{csv.NewWriter(w), report}
	t.rows.UseCRLF = true
	if err := t.rows.Write(columns); err != nil {
		return err
	}
	if err := t.add("total", "", "", report.GetTotals()); err != nil {
		return err
	}
	for _, g := range report.GetSeries() {
		if err := t.add(groupBy, g.GetKey(), g.GetName(), g); err != nil {
			return err
		}
	}
	if other := report.GetOther(); other != nil {
		if err := t.add("other", "", "", other); err != nil {
			return err
		}
	}
	t.rows.Flush()
	return t.rows.Error()
}

type table struct {
	rows   *csv.Writer
	report *ledgerv1.Report
}

// add writes a row for each interval.
func (t table) add(group, key, name string, of interface {
	GetIncome() []string
	GetExpense() []string
	GetCount() []int32
},
) error {
	currency := money.CurrencyOf(t.report.GetCurrency())
	for i, period := range t.report.GetIntervals() {
		income, err := minor(of.GetIncome()[i])
		if err != nil {
			return err
		}
		expense, err := minor(of.GetExpense()[i])
		if err != nil {
			return err
		}
		err = t.rows.Write([]string{
			group, written.Guard(key), written.Guard(name), period.GetStart(), period.GetEnd(),
			of.GetIncome()[i], of.GetExpense()[i], currency.Format(income - expense),
			strconv.Itoa(int(of.GetCount()[i])), t.report.GetCurrency(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// minor returns the minor units of a sum, which has all decimals of its currency. It may be greater
// than the amount of a transaction, which is the limit of money.Currency.Parse.
func minor(sum string) (int64, error) {
	return strconv.ParseInt(strings.Replace(sum, ".", "", 1), 10, 64)
}

package series

import (
	"math"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// numbers are the numbers of a group, or of all transactions, by interval.
type numbers struct {
	income, expense, net []string
	count                []int32
}

func (q query) zeros(c money.Currency) numbers {
	n := numbers{count: make([]int32, len(q.intervals))}
	for range q.intervals {
		n.income = append(n.income, c.Format(0))
		n.expense, n.net = append(n.expense, c.Format(0)), append(n.net, c.Format(0))
	}
	return n
}

func (n numbers) set(r row, c money.Currency) {
	i := r.Bucket - 1
	n.income[i], n.expense[i] = c.Format(r.Income), c.Format(r.Expense)
	n.net[i], n.count[i] = c.Format(r.Income-r.Expense), int32(min(r.Count, math.MaxInt32))
}

// report returns the report of the rows of selectSeries. They are ordered by place.
func (q query) report(rows []row) *ledgerv1.Report {
	report := &ledgerv1.Report{
		Currency: q.currencyOf(rows), Interval: q.interval, Overlapping: q.groupBy == byTag,
	}
	for _, interval := range q.intervals {
		report.Intervals = append(report.Intervals, periodProto(interval))
	}
	currency := money.CurrencyOf(report.GetCurrency())
	totals, group, place := q.zeros(currency), numbers{}, 0
	for _, found := range rows {
		switch {
		case found.Bucket == 0 || found.Place > 0 && q.groupBy == byNone:
			continue
		case found.Place == 0:
			totals.set(found, currency)
			continue
		}
		if found.Place != place {
			group, place = q.zeros(currency), found.Place
			q.add(report, found, group)
		}
		group.set(found, currency)
	}
	report.Totals = &ledgerv1.ReportTotals{
		Income: totals.income, Expense: totals.expense, Net: totals.net, Count: totals.count,
	}
	return report
}

// add adds the group of a row to the report.
func (q query) add(report *ledgerv1.Report, r row, group numbers) {
	if r.Place > q.top {
		report.Other = &ledgerv1.ReportOther{
			Groups: int32(r.Groups) - int32(q.top), Income: group.income, Expense: group.expense,
			Count: group.count,
		}
		return
	}
	report.Series = append(report.Series, &ledgerv1.ReportSeries{
		Key: r.Key, Name: r.Name, Income: group.income, Expense: group.expense, Count: group.count,
	})
}

// currencyOf returns the currency of the request, or otherwise the only one of the rows, if any.
func (q query) currencyOf(rows []row) string {
	if q.currency == "" && len(rows[0].Currencies) == 1 {
		return rows[0].Currencies[0]
	}
	return q.currency
}

func periodProto(p calendar.Period) *ledgerv1.ReportPeriod {
	return &ledgerv1.ReportPeriod{
		Start: p.From.Format(calendar.DateLayout), End: p.LastDay().Format(calendar.DateLayout),
	}
}

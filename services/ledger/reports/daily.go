package reports

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// maxDays is the maximum length of a window with the totals of its days: a year, and the days around it that a chart shows.
	maxDays = 400
	// maxDailyTransactions is the maximum number of transactions in such a window. Adding up so many takes about 0.1 s.
	maxDailyTransactions = 100_000
	// maxDailyRows is the maximum number of rows by day. It is 25 currencies on each day.
	maxDailyRows = 10_000
)

// parseInclude reports whether parameter include requests the totals of the days, and adds a problem for another value.
func parseInclude(p *apierr.Problems, include []string) (daily bool) {
	for _, part := range include {
		if part != "daily" {
			p.Field(&apierr.Field{Name: "include", Message: "must be daily"})
			return false
		}
	}
	return len(include) > 0
}

// dailyProto returns the totals of the days in a currency, or in all currencies if it is empty. It returns an error if the days
// have more transactions or rows than allowed.
func dailyProto(days []day, currency string) (*ledgerv1.DailyTotals, error) {
	out := &ledgerv1.DailyTotals{}
	transactions := int64(0)
	for _, d := range days {
		transactions += d.Count
		if currency != "" && d.Currency != currency {
			continue
		}
		c := money.CurrencyOf(d.Currency)
		out.Values = append(out.Values, &ledgerv1.DayTotals{
			Date: d.Day.Format(calendar.DateLayout), Currency: d.Currency, Income: c.Format(d.Income), Expense: c.Format(d.Expense),
		})
	}
	switch {
	case transactions > maxDailyTransactions:
		return nil, errTooManyTransactions
	case len(out.Values) > maxDailyRows:
		return nil, errTooManyCurrencies
	}
	return out, nil
}

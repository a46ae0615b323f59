package reports

import (
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

const (
	// maxDays is the maximum length of a window with the totals of its days: a year, and the days
	// around it that a chart shows.
	maxDays = 400
	// maxReadTransactions is the maximum number of transactions in such a window, and in a window
	// with the totals of the tags. Adding up so many takes about 0.1 s.
	maxReadTransactions = 100_000
	// maxDailyRows is the maximum number of rows by day. It is 25 currencies on each day.
	maxDailyRows = 10_000
)

// parseInclude reports whether parameter include requests the totals of the days and of the tags.
// It adds a problem for another value.
func parseInclude(problems *apierr.Problems, include []string) (daily, tags bool) {
	for _, part := range include {
		switch part {
		case "daily":
			daily = true
		case "tags":
			tags = true
		default:
			problems.Invalid("include", "must be daily or tags")
			return false, false
		}
	}
	return daily, tags
}

// dailyProto returns the totals of the days in a currency, or in all currencies if it is empty. It
// returns an error if the days have more transactions or rows than allowed. The statement reads one
// transaction beyond the limit, so a window at the limit can be distinguished from a larger one. It
// never returns an incomplete list of days.
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
			Date: d.Day.Format(calendar.DateLayout), Currency: d.Currency,
			Income: c.Format(d.Income), Expense: c.Format(d.Expense),
		})
	}
	switch {
	case transactions > maxReadTransactions:
		return nil, errTooManyTransactions
	case len(out.Values) > maxDailyRows:
		return nil, errTooManyCurrencies
	}
	return out, nil
}

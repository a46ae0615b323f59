package series

import (
	"errors"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var (
	errReportTooLarge   = apierr.New(restv1.Reason_REPORT_TOO_LARGE)
	errTooManyIntervals = apierr.Invalid("interval",
		"must be longer, or the period shorter: a report has at most 400 intervals")
	errTooManyBalances = errReportTooLarge.With("interval",
		"must be longer, or the period or the number of wallets smaller: a report has at most "+
			"100000 balances")
	errOverflow = apierr.Invalid("to",
		"must be earlier: the totals of the report exceed the maximum")
)

// unlimited says which reports have no limit.
const unlimited = "reports of whole months by wallet and category have no limit"

// tooLarge returns the error of a report that would read too many transactions. beyond is the date
// of the newest one that does not fit, so a report of the days after it fits. If the last day alone
// has too many, a filter helps.
func (q query) tooLarge(beyond time.Time) error {
	from := calendar.DayOf(beyond).AddDate(0, 0, 1)
	if !from.Before(q.period.End) {
		return errReportTooLarge.With("walletId",
			"must select fewer transactions: one day has more than the maximum; "+unlimited)
	}
	return errReportTooLarge.With("from",
		"must be "+from.Format(calendar.DateLayout)+" or later; "+unlimited)
}

// earlierTooLarge returns an error of the earlier period of a comparison without the dates of
// tooLarge: the request has those of the later one.
func earlierTooLarge(err error) error {
	if !errors.Is(err, errReportTooLarge) {
		return err
	}
	return errReportTooLarge.With("from",
		"must be later: the earlier period has too many transactions; "+unlimited)
}

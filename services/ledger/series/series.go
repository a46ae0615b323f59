// Package series adds up income and spending by interval and group: the reports of a user.
//
// All numbers have the definition of the dashboard (ADR 103), and the filters are those of the list
// of transactions, so a list with the same filters has the transactions of each number. Intervals
// of whole months by wallet and category come from the monthly totals: their cost does not depend
// on the number of transactions. Other reports read at most maxRows transactions (ADR 131). One
// statement reads all numbers of a report, so they are of one moment. The files:
//
//   - series.go: the RPC GetSeries and its parameters. Start reading here
//   - intervals.go: the intervals of a period
//   - store_series.go: the statement
//   - report.go: the rule that turns rows into the response
//   - compare.go and flow.go: the reports of two periods and of one
//   - csv.go: reports and comparisons as tables
//   - balances.go: the balances of wallets at the ends of intervals. Package balances computes them
package series

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
	"github.com/coffer-budget/coffer/services/ledger/request"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

const (
	defaultMonths = 12
	defaultTop    = 12
	maxTop        = 50
)

// The values of groupBy. A report without groups has the totals only.
const (
	byNone     = "none"
	byCategory = "category"
	byWallet   = "wallet"
	byPayee    = "payee"
	byTag      = "tag"
)

// Reports implements ReportService.
type Reports struct {
	// An RPC without a method here is a compile error.
	ledgerv1.UnsafeReportServiceServer

	*posting.Ledger
	// Reads limits the simultaneous reports of a user, together with the other expensive reads.
	Reads *reads.Gates
}

var _ ledgerv1.ReportServiceServer = (*Reports)(nil)

// GetSeries returns the numbers of a period by interval and group. Errors: those of the filters,
// RATE_LIMITED, and, only known after the statement, REPORT_TOO_LARGE and a missing currency.
func (s *Reports) GetSeries(
	ctx context.Context, req *ledgerv1.GetSeriesRequest,
) (*ledgerv1.GetSeriesResponse, error) {
	report, err := s.report(ctx, req)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetSeriesResponse{Report: report}, nil
}

// report returns the report of a request.
func (s *Reports) report(
	ctx context.Context, req *ledgerv1.GetSeriesRequest,
) (*ledgerv1.Report, error) {
	asked, leave, err := s.enter(ctx, req, defaultMonths)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.split(ctx, &asked); err != nil {
		return nil, err
	}
	rows, err := read(ctx, s.DB, asked)
	if err != nil {
		return nil, err
	}
	return asked.report(rows), nil
}

// split sets the intervals of a query.
func (s *Reports) split(ctx context.Context, asked *query) error {
	weekStart := time.Monday
	if asked.interval == "week" {
		var err error
		if weekStart, err = selectWeekStart(ctx, s.DB, asked.owner); err != nil {
			return err
		}
	}
	if asked.intervals = split(asked.period, asked.interval, weekStart); asked.intervals == nil {
		return errTooManyIntervals
	}
	return nil
}

// enter returns the query of a request, and takes a place among the expensive reads of the user,
// which leave releases. months is the number of months of the default period.
func (s *Reports) enter(
	ctx context.Context, req *ledgerv1.GetSeriesRequest, months int,
) (asked query, leave func(), err error) {
	owner := caller.ID(ctx)
	today, err := s.Today(ctx, s.DB, owner)
	if err != nil {
		return query{}, nil, err
	}
	asked, problems := parse(req, today, months)
	asked.owner = owner
	if asked.filter, err = asked.filter.Resolve(ctx, s.Ledger, owner, problems); err != nil {
		return query{}, nil, err
	}
	leave, err = s.Reads.Enter(ctx, owner)
	return asked, leave, err
}

// read returns the rows of a query, at least one, or an error if the report would be incomplete.
func read(ctx context.Context, q pg.Querier, asked query) ([]row, error) {
	rows, err := selectSeries(ctx, q, asked)
	if pg.IsOutOfRange(err) {
		return nil, errOverflow
	}
	if err != nil {
		return nil, err
	}
	return rows, asked.check(rows[0])
}

// check returns an error if the report would be incomplete, or would mix currencies.
func (q query) check(first row) error {
	if first.Beyond != nil {
		return q.tooLarge(*first.Beyond)
	}
	if len(first.Currencies) > 1 {
		return apierr.Invalid("currency", "is required: the report has the currencies "+
			strings.Join(first.Currencies, ", "))
	}
	return nil
}

// query is a parsed request.
type query struct {
	owner             uuid.UUID
	period            calendar.Period
	interval, groupBy string
	intervals         []calendar.Period
	currency          string
	top               int
	filter            transactions.Filter
	// narrowed is set if the request has another filter than wallets and categories.
	narrowed bool
}

// parse validates a request. The period is by default the last months, up to the current one in
// the time zone of the user.
func parse(
	req *ledgerv1.GetSeriesRequest, today time.Time, months int,
) (query, apierr.Problems) {
	period := periodOf(req, today, months)
	filter, problems := transactions.ParseFilter(&ledgerv1.ListTransactionsRequest{
		From: period.from, To: period.to, Currency: req.Currency, WalletId: req.GetWalletId(),
		CategoryId: req.GetCategoryId(), Tag: req.GetTag(), Payee: req.Payee, Type: req.Type,
		Q: req.Q,
	})
	asked := query{
		interval: "month", groupBy: byNone, top: defaultTop, filter: filter,
		currency: strings.ToUpper(req.GetCurrency()),
		narrowed: len(req.GetTag()) > 0 || req.Payee != nil || req.Type != nil || req.GetQ() != "",
	}
	for _, bound := range []struct{ field, value string }{
		{"from", *period.from}, {"to", *period.to},
	} {
		_, date := calendar.ParseDate(bound.value)
		if _, _, ok := calendar.ParseTime(bound.value); ok && !date {
			problems.Add(request.ErrInvalidDate.With(bound.field, "must be a date, YYYY-MM-DD"))
		}
	}
	if from, ok := calendar.ParseDate(*period.from); ok {
		to, _ := calendar.ParseDate(*period.to)
		asked.period = calendar.Days(from, to)
	}
	if req.Interval != nil {
		asked.interval = req.GetInterval()
	}
	if !slices.Contains([]string{"day", "week", "month", "quarter", "year"}, asked.interval) {
		problems.Invalid("interval", "must be day, week, month, quarter or year")
	}
	if req.GroupBy != nil {
		asked.groupBy = req.GetGroupBy()
	}
	if !slices.Contains([]string{byNone, byCategory, byWallet, byPayee, byTag}, asked.groupBy) {
		problems.Invalid("groupBy", "must be none, category, wallet, payee or tag")
	}
	if kind := req.GetType(); kind == posting.Transfer || kind == posting.Adjustment {
		problems.Invalid("type", "must be expense or income")
	}
	if req.Top != nil {
		asked.top = int(req.GetTop())
	}
	if asked.top < 1 || asked.top > maxTop {
		problems.Invalid("top", fmt.Sprintf("must be between 1 and %d", maxTop))
	}
	return asked, problems
}

// Check returns the problems of the parameters of a report. Package views calls it for a query
// that it stores.
func Check(req *ledgerv1.GetSeriesRequest, today time.Time) apierr.Problems {
	_, problems := parse(req, today, defaultMonths)
	return problems
}

// bounds are the first and the last day of a report, as the request has them or by default.
type bounds struct{ from, to *string }

func periodOf(req *ledgerv1.GetSeriesRequest, today time.Time, months int) bounds {
	month := calendar.MonthOf(today)
	period := bounds{from: req.From, to: req.To}
	if period.to == nil {
		if from, ok := calendar.ParseDate(req.GetFrom()); ok && from.After(today) {
			month = calendar.MonthOf(from)
		}
		period.to = new(month.AddDate(0, 1, -1).Format(calendar.DateLayout))
	} else if to, ok := calendar.ParseDate(*period.to); ok {
		month = calendar.MonthOf(to)
	}
	if period.from == nil {
		first := month.AddDate(0, 1-months, 0)
		if first.Year() < calendar.MinYear {
			first = time.Date(calendar.MinYear, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		period.from = new(first.Format(calendar.DateLayout))
	}
	return period
}

// months reports whether the monthly totals have the numbers of the report.
func (q query) months() bool {
	whole := func(t time.Time) bool { return t.Equal(calendar.MonthOf(t)) }
	return !q.narrowed && q.groupBy != byPayee && q.groupBy != byTag &&
		q.interval != "day" && q.interval != "week" && whole(q.period.From) && whole(q.period.End)
}

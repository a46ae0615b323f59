// Package reports computes sums over a period: the dashboard's summary of a user, and the spending
// of budgets.
//
// The cost of a sum is independent of the length of the period and of the user's history (ADR 16):
// whole calendar months come from the monthly totals, and only the days before and after them from
// transactions. Legs of transfers are neither income nor expense, and a split transaction counts by
// its parts, each with the type of the transaction (ADR 103). The bounds of all days and months are
// in UTC; the time zone of the user only decides which month is the current one (ADR 104). A
// summary is read on one snapshot, so its parts agree with each other: the balances before the
// window plus its movements, and the opening balances of its days, are the balances after it. The
// files:
//
//   - dashboard.go, figures.go, largest.go, store_summary.go, store_largest.go: GetSummary.
//     figures.go is the rule that turns rows into the response
//   - store_parts.go: the whole months of a window, and the days before and after them
//   - store_transfers.go: the sums of transfers by wallet, in the same batch
//   - daily.go, store_daily.go, tags.go, store_tags.go: the days and the tags of a summary, the
//     only sums that read all transactions of a window
//   - spending.go, store_spending.go: SumSpending, which only the budget service calls
//
// Reports implements these RPCs of LedgerService.
package reports

import (
	"context"
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
)

const (
	// maxYears is the maximum length of a window. It limits the months that a summary adds up.
	maxYears    = 10
	trendMonths = 12
	// maxSummaryRows limits the rows by category and those by wallet. With names of 100 characters
	// of four bytes, each list takes about 1 MB, the largest expenses take at most maxLargestBytes,
	// and the five newest transactions about 1 MB. So a summary is below rpc.MaxMessage.
	maxSummaryRows = 2000
)

// Reports implements the RPCs that compute sums over a period.
type Reports struct {
	*posting.Ledger
	Reads *reads.Gates
}

// GetSummary returns the totals of a window of at most ten years, by default the current calendar
// month of the user's time zone. It is an expensive read, so s.Reads limits the simultaneous ones
// of a user.
//
// A validation error that depends on the user's transactions is only known after the statements:
// sums that exceed an int64, and with include more transactions or rows than allowed.
func (s *Reports) GetSummary(
	ctx context.Context, req *ledgerv1.GetSummaryRequest,
) (*ledgerv1.GetSummaryResponse, error) {
	owner := caller.ID(ctx)
	month, err := s.currentMonth(ctx, owner)
	if err != nil {
		return nil, err
	}
	query, err := parseSummary(req, month)
	if err != nil {
		return nil, err
	}
	query.owner, query.distributed = owner, s.Distributed
	leave, err := s.Reads.Enter(ctx, query.owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	result, err := selectFigures(ctx, s.DB, query)
	if pg.IsOutOfRange(err) {
		return nil, errSummaryOverflow
	}
	if err != nil {
		return nil, err
	}
	result.largest = fittingLargest(result.largest)
	for _, ts := range [][]posting.Transaction{result.largest, result.recent} {
		if err := posting.AddDetails(ctx, s.DB, query.owner, ts); err != nil {
			return nil, err
		}
	}
	summary, ok := result.proto(query)
	if !ok {
		return nil, errSummaryOverflow
	}
	if query.daily {
		if summary.Daily, err = dailyProto(result.days, query.currency); err != nil {
			return nil, err
		}
	}
	if query.tags {
		if summary.ByTag, err = tagsProto(result.tags, query.currency); err != nil {
			return nil, err
		}
	}
	return &ledgerv1.GetSummaryResponse{Summary: summary}, nil
}

// currentMonth returns the first day of the current month in the owner's time zone. It reads the
// zone only in the hours in which two months are current somewhere.
func (s *Reports) currentMonth(ctx context.Context, owner uuid.UUID) (time.Time, error) {
	days := calendar.Todays(s.Now())
	first, last := calendar.MonthOf(days[0]), calendar.MonthOf(days[len(days)-1])
	if first.Equal(last) {
		return first, nil
	}
	today, err := s.Today(ctx, s.DB, owner)
	return calendar.MonthOf(today), err
}

type summaryQuery struct {
	owner  uuid.UUID
	period calendar.Period
	// currency restricts the summary to one currency. If it is empty, the summary contains all.
	currency    string
	daily, tags bool
	// distributed is posting.Ledger.Distributed.
	distributed bool
}

// parseSummary validates the request. The default of from is the month of to, and the default of to
// is the current month, given by its first day, or, if from is later, the month of from.
func parseSummary(req *ledgerv1.GetSummaryRequest, month time.Time) (summaryQuery, error) {
	var problems apierr.Problems
	query := summaryQuery{period: calendar.Months(month, 1)}
	if req.From != nil {
		query.period.From = request.ParseBound(&problems, "from", req.GetFrom(), false)
	}
	if req.To != nil {
		query.period.End = request.ParseBound(&problems, "to", req.GetTo(), true)
	}
	switch {
	case req.From == nil && req.To != nil:
		query.period.From = calendar.MonthOf(query.period.LastDay())
	case req.To == nil && query.period.Empty():
		query.period.End = calendar.MonthOf(query.period.From).AddDate(0, 1, 0)
	}
	if req.Currency != nil {
		query.currency = request.ParseCurrency(&problems, "currency", req.GetCurrency()).Code()
	}
	query.daily, query.tags = parseInclude(&problems, req.GetInclude())
	if !problems.Has(request.ErrInvalidDate) {
		problems.Field(problem(query))
	}
	return query, problems.Err()
}

func problem(query summaryQuery) *apierr.Field {
	switch period := query.period; {
	case period.Empty():
		return &apierr.Field{Name: "from", Message: "must not be after to"}
	case period.End.After(period.From.AddDate(maxYears, 0, 0)):
		return &apierr.Field{Name: "to", Message: "must be at most 10 years after from"}
	case query.daily && period.End.After(period.From.AddDate(0, 0, maxDays)):
		return &apierr.Field{
			Name:    "to",
			Message: "must be at most 399 days after from with include=daily",
		}
	}
	return nil
}

// trend returns the twelve calendar months that end with the last month of a period. They are whole
// months, also beyond the period, so the monthly totals suffice.
func trend(p calendar.Period) calendar.Period {
	return calendar.Months(calendar.MonthOf(p.LastDay()).AddDate(0, 1-trendMonths, 0), trendMonths)
}

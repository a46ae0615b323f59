package budget

import (
	"context"
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

// optionalTimeout limits the wait for parts that a response may omit: progress, and the names of
// members.
const optionalTimeout = 1500 * time.Millisecond

type standing struct {
	// progress is nil if the wallet was deleted or the ledger is unavailable: a budget without
	// progress is better than an error.
	progress *budgetv1.Progress
	// today is the current day in the time zone of the owner. If the ledger is unavailable, it is
	// the day in UTC.
	today time.Time
}

// standings returns the standings of budgets in their windows of a day, in the same order, with one
// call to the ledger. Without a day, the window is the current one. Only the ledger knows the time
// zone that decides which one this is. So the call asks for the windows of all days that are today
// somewhere: these are one window except near its border.
func (s *server) standings(ctx context.Context, at *time.Time, budgets []budget) []standing {
	now := s.now()
	found, days := make([]standing, len(budgets)), calendar.Todays(now)
	if at != nil {
		days = []time.Time{*at}
	}
	var queries []spending.Query
	begin := make([]int, len(budgets)+1)
	for i, b := range budgets {
		found[i].today = calendar.DayOf(now)
		for _, w := range b.timeframe().Windows(days...) {
			queries = append(queries, b.query(w))
		}
		begin[i+1] = len(queries)
	}
	if len(queries) == 0 {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	spendings, err := spending.Sum(ctx, s.ledger, queries)
	if err != nil {
		s.log.WarnContext(ctx, "failed to read spending, so progress is omitted",
			"budgets", len(budgets), "error", err)
		return found
	}
	for i, budget := range budgets {
		found[i].today = calendar.Today(now, spendings[begin[i]].GetTimeZone())
		day := found[i].today
		if at != nil {
			day = *at
		}
		wanted := budget.timeframe().At(day)
		for j := begin[i]; j < begin[i+1]; j++ {
			if spendings[j].GetFound() && queries[j].Window.From.Equal(wanted.From) {
				found[i].progress = budget.progress(wanted, spendings[j].GetAmounts())
			}
		}
	}
	return found
}

func (b budget) query(w calendar.Period) spending.Query {
	return spending.Query{
		Owner: b.OwnerID, Wallet: b.WalletID, Categories: b.CategoryIDs, Window: w,
	}
}

// progress returns the budget's progress for the spending in a window. The limit is the present
// one, also for an earlier window (ADR 95). The amounts of spending are positive, in the minor unit
// of their currency.
func (b budget) progress(w calendar.Period, amounts []*ledgerv1.SpentAmount) *budgetv1.Progress {
	currency := b.currency()
	progress := &budgetv1.Progress{
		WindowStart: w.From.Format(calendar.DateLayout),
		WindowEnd:   w.LastDay().Format(calendar.DateLayout),
	}
	spent := spending.AmountIn(amounts, b.Currency)
	// Amounts in other currencies are listed, and not converted.
	for _, a := range amounts {
		if a.GetCurrency() == b.Currency {
			continue
		}
		if other, ok := money.ParseCurrency(a.GetCurrency()); ok {
			progress.OtherCurrencies = append(progress.OtherCurrencies, &budgetv1.OtherCurrency{
				Currency: other.Code(), Spent: other.Format(a.GetSpentMinor()),
			})
		}
	}
	progress.Spent = currency.Format(spent)
	progress.Remaining = currency.Format(b.LimitMinor - spent)
	progress.Percentage = money.Percentage(spent, b.LimitMinor)
	progress.State = state(spent, b.LimitMinor)
	return progress
}

// state compares the exact amounts, because the percentage is rounded: 100.001 % is over.
func state(spent, limit int64) string {
	switch {
	case spent > limit:
		return "over"
	case spent > 0 && spent*5 >= limit*4:
		return "near"
	}
	return "ok"
}

// farFuture is after the days of all limits.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// ListLimits returns the present limit of a budget and the former ones, newest first (ADR 95).
// Progress of an earlier window uses the present limit; with this list, a client can compare the
// window with the limit that was in force. The position of a page is the first day of a limit.
// It is unique, because a day has at most one former limit.
func (s *server) ListLimits(
	ctx context.Context, req *budgetv1.ListLimitsRequest,
) (*budgetv1.ListLimitsResponse, error) {
	id, err := s.members.ParseID(req.GetBudgetId())
	if err != nil {
		return nil, err
	}
	limits, pagination, err := page.List(s.cursors, page.Query[limitPeriod, time.Time]{
		Scope: "limits " + caller.ID(ctx).String() + " " + id.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: farFuture,
		Position: func(l limitPeriod) time.Time { return l.FirstDay },
		Select: func(before time.Time, limit int) ([]limitPeriod, error) {
			if _, err := s.budgetFor(ctx, s.db, id, sharing.Read); err != nil {
				return nil, err
			}
			return selectLimits(ctx, s.db, id, before, limit)
		},
	})
	if err != nil {
		return nil, err
	}
	resp := &budgetv1.ListLimitsResponse{Pagination: pagination}
	for _, l := range limits {
		resp.Limits = append(resp.Limits, l.proto())
	}
	return resp, nil
}

// proto converts the limit. Stored currencies are valid.
func (l limitPeriod) proto() *budgetv1.BudgetLimit {
	currency, _ := money.ParseCurrency(l.Currency)
	m := &budgetv1.BudgetLimit{
		Limit: currency.Format(l.LimitMinor), Currency: l.Currency,
		From: l.FirstDay.Format(calendar.DateLayout),
	}
	if l.LastDay != nil {
		m.To = new(l.LastDay.Format(calendar.DateLayout))
	}
	return m
}

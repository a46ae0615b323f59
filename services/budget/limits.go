package budget

import (
	"context"
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// ListLimits returns the present limit of a budget and the former ones, newest first (ADR 95).
// Progress of an earlier window uses the present limit; with this list, a client can compare the
// window with the limit that was in force. The position of a page is the first day of a limit.
// It is unique, because a day has at most one former limit.
func (s *server) ListLimits(
	ctx context.Context, req *budgetv1.ListLimitsRequest,
) (*budgetv1.ListLimitsResponse, error) {
	id, err := parseBudgetID(req.GetBudgetId())
	if err != nil {
		return nil, err
	}
	limits, pagination, err := page.List(s.cursors, page.Query[limitPeriod, time.Time]{
		Scope: "limits " + caller.ID(ctx).String() + " " + id.String(),
		Limit: req.Limit, Cursor: req.GetCursor(), First: newest.At,
		Position: func(l limitPeriod) time.Time { return l.FirstDay },
		Select: func(before time.Time, limit int) ([]limitPeriod, error) {
			if _, err := s.budgetFor(ctx, s.db, id, readBudget); err != nil {
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

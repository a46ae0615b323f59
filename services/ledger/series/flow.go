package series

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// allGroups is a limit that no number of groups exceeds.
const allGroups = math.MaxInt32 - 1

// GetFlow returns the income and the spending of a period by category. Errors: as GetSeries.
func (s *Reports) GetFlow(
	ctx context.Context, req *ledgerv1.GetFlowRequest,
) (*ledgerv1.GetFlowResponse, error) {
	asked, leave, err := s.enter(ctx, &ledgerv1.GetSeriesRequest{
		From: req.From, To: req.To, Currency: req.Currency, GroupBy: new(byCategory),
		WalletId: req.GetWalletId(), CategoryId: req.GetCategoryId(), Tag: req.GetTag(),
		Payee: req.Payee, Q: req.Q,
	}, 1)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := read(ctx, s.DB, asked.whole())
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetFlowResponse{Flow: asked.flow(rows)}, nil
}

// whole returns the query of the sums of the whole period by group.
func (q query) whole() query {
	q.intervals, q.top = []calendar.Period{q.period}, allGroups
	return q
}

// flow returns the flow of the rows of one interval.
func (q query) flow(rows []row) *ledgerv1.Flow {
	code := q.currencyOf(rows)
	c, saved := money.CurrencyOf(code), int64(0)
	flow := &ledgerv1.Flow{Currency: code, Period: periodProto(q.period)}
	var categories []row
	for _, found := range rows {
		switch {
		case found.Place > 0:
			categories = append(categories, found)
		case found.Bucket > 0:
			saved = found.Income - found.Expense
		}
	}
	flow.Saved = c.Format(saved)
	flow.Income = amounts(categories, c, func(r row) int64 { return r.Income })
	flow.Expense = amounts(categories, c, func(r row) int64 { return r.Expense })
	return flow
}

// amounts returns the amounts of the categories that have one, the largest first.
func amounts(rows []row, c money.Currency, of func(row) int64) []*ledgerv1.FlowAmount {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return of(r) == 0 })
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(of(b), of(a)) })
	var out []*ledgerv1.FlowAmount
	for _, r := range rows {
		out = append(out,
			&ledgerv1.FlowAmount{CategoryId: r.Key, Name: r.Name, Amount: c.Format(of(r))})
	}
	return out
}

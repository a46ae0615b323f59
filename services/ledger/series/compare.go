package series

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// GetComparison returns the numbers of a period and of an earlier one by group. Both are read on
// one snapshot. Errors: as GetSeries.
func (s *Reports) GetComparison(
	ctx context.Context, req *ledgerv1.GetComparisonRequest,
) (*ledgerv1.GetComparisonResponse, error) {
	comparison, err := s.comparison(ctx, req)
	if err != nil {
		return nil, err
	}
	return &ledgerv1.GetComparisonResponse{Comparison: comparison}, nil
}

// comparison returns the comparison of a request.
func (s *Reports) comparison(
	ctx context.Context, req *ledgerv1.GetComparisonRequest,
) (*ledgerv1.Comparison, error) {
	groupBy := byCategory
	if req.GroupBy != nil {
		groupBy = req.GetGroupBy()
	}
	switch {
	case groupBy == byNone:
		return nil, apierr.Invalid("groupBy", "must be category, wallet, payee or tag")
	case req.With != nil && req.GetWith() != "previous" && req.GetWith() != "year":
		return nil, apierr.Invalid("with", "must be previous or year")
	}
	now, leave, err := s.enter(ctx, &ledgerv1.GetSeriesRequest{
		From: req.From, To: req.To, Currency: req.Currency, GroupBy: &groupBy, Top: req.Top,
		WalletId: req.GetWalletId(), CategoryId: req.GetCategoryId(), Tag: req.GetTag(),
		Payee: req.Payee, Q: req.Q,
	}, 1)
	if err != nil {
		return nil, err
	}
	defer leave()
	before := now
	before.period = now.period.Previous()
	if req.GetWith() == "year" {
		before.period = calendar.Period{
			From: now.period.From.AddDate(-1, 0, 0), End: now.period.End.AddDate(-1, 0, 0),
		}
		if before.period.From.Day() != now.period.From.Day() {
			// The year before has no February 29.
			before.period.From = before.period.From.AddDate(0, 0, -1)
		}
	}
	if before.period.From.Year() < calendar.MinYear {
		return nil, apierr.Invalid("from", "must be later: the earlier period begins before 1900")
	}
	before.filter = now.filter.Within(before.period)
	var rows [2][]row
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.DB, snapshot, func(tx pgx.Tx) error {
		for i, asked := range []query{now, before} {
			found, err := read(ctx, tx, asked.whole())
			if i == 1 {
				err = earlierTooLarge(err)
			}
			if err != nil {
				return err
			}
			rows[i] = found
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	both := row{Currencies: slices.Concat(rows[0][0].Currencies, rows[1][0].Currencies)}
	slices.Sort(both.Currencies)
	both.Currencies = slices.Compact(both.Currencies)
	if err := now.check(both); err != nil {
		return nil, err
	}
	code := now.currencyOf([]row{both})
	comparison := &ledgerv1.Comparison{
		Currency: code, Now: periodProto(now.period), Before: periodProto(before.period),
	}
	groups := compared(rows)
	comparison.Totals = groups[0].proto(code)
	for _, g := range groups[1:min(len(groups), now.top+1)] {
		comparison.Groups = append(comparison.Groups, g.proto(code))
	}
	return comparison, nil
}

// pair contains the sums of a group in both periods.
type pair struct {
	key, name   string
	now, before row
}

// compared returns the totals, and then the groups with the largest difference first.
func compared(rows [2][]row) []pair {
	totals, groups := pair{}, map[string]*pair{}
	for i, found := range rows {
		for _, r := range found {
			into := &totals
			switch {
			case r.Bucket == 0:
				continue
			case r.Place > 0 && groups[r.Key] == nil:
				groups[r.Key] = &pair{key: r.Key, name: r.Name}
				fallthrough
			case r.Place > 0:
				into = groups[r.Key]
			}
			if i == 0 {
				into.now = r
			} else {
				into.before = r
			}
		}
	}
	var sorted []pair
	for _, g := range groups {
		sorted = append(sorted, *g)
	}
	slices.SortFunc(sorted, func(a, b pair) int {
		return cmp.Or(b.difference().CmpAbs(a.difference()), cmp.Compare(a.name, b.name),
			cmp.Compare(a.key, b.key))
	})
	return append([]pair{totals}, sorted...)
}

// difference returns how the net has changed. It may exceed an int64.
func (p pair) difference() *big.Int {
	net := func(r row) *big.Int {
		return new(big.Int).Sub(big.NewInt(r.Income), big.NewInt(r.Expense))
	}
	return new(big.Int).Sub(net(p.now), net(p.before))
}

func (p pair) proto(code string) *ledgerv1.ComparedGroup {
	c := money.CurrencyOf(code)
	numbers := func(r row) *ledgerv1.ComparedNumbers {
		return &ledgerv1.ComparedNumbers{
			Income: c.Format(r.Income), Expense: c.Format(r.Expense),
			Net: c.Format(r.Income - r.Expense),
		}
	}
	return &ledgerv1.ComparedGroup{
		Key: p.key, Name: p.name, Now: numbers(p.now), Before: numbers(p.before),
		Difference: numbers(row{
			Income: p.now.Income - p.before.Income, Expense: p.now.Expense - p.before.Expense,
		}),
	}
}

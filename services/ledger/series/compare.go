package series

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
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
	problems := choices(req)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	orderBy := posting.Expense
	if req.OrderBy != nil {
		orderBy = req.GetOrderBy()
	}
	now, leave, err := s.enter(ctx, presentOf(req), 1)
	if err != nil {
		return nil, err
	}
	defer leave()
	before, err := now.earlier(req.GetWith())
	if err != nil {
		return nil, err
	}
	rows, err := s.readBoth(ctx, now, before)
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
	totals, groups := compared(rows, orderBy)
	comparison.Totals = totals.proto(code)
	shown := min(len(groups), now.top)
	for _, g := range groups[:shown] {
		comparison.Groups = append(comparison.Groups, g.proto(code))
	}
	if rest := groups[shown:]; len(rest) > 0 {
		comparison.Other, err = other(rest, code)
	}
	return comparison, err
}

// choices returns the problems of the parameters that only a comparison has.
func choices(req *ledgerv1.GetComparisonRequest) (problems apierr.Problems) {
	if req.GetGroupBy() == byNone {
		problems.Invalid("groupBy", "must be category, wallet, payee or tag")
	}
	if req.With != nil && req.GetWith() != "previous" && req.GetWith() != "year" {
		problems.Invalid("with", "must be previous or year")
	}
	orders := []string{posting.Expense, posting.Income, byNet}
	if req.OrderBy != nil && !slices.Contains(orders, req.GetOrderBy()) {
		problems.Invalid("orderBy", "must be expense, income or net")
	}
	return problems
}

// presentOf returns the parameters of the report of the later period.
func presentOf(req *ledgerv1.GetComparisonRequest) *ledgerv1.GetSeriesRequest {
	groupBy := byCategory
	if req.GroupBy != nil {
		groupBy = req.GetGroupBy()
	}
	return &ledgerv1.GetSeriesRequest{
		From: req.From, To: req.To, Currency: req.Currency, GroupBy: &groupBy, Top: req.Top,
		WalletId: req.GetWalletId(), CategoryId: req.GetCategoryId(), Tag: req.GetTag(),
		Payee: req.Payee, Q: req.Q,
	}
}

// CheckComparison returns the problems of the parameters of a comparison, like Check.
func CheckComparison(req *ledgerv1.GetComparisonRequest, today time.Time) apierr.Problems {
	problems := choices(req)
	if problems.Err() == nil {
		_, problems = parse(presentOf(req), today, 1)
	}
	return problems
}

// readBoth returns the sums of the groups of both periods, which it reads on one snapshot.
func (s *Reports) readBoth(ctx context.Context, now, before query) (rows [2][]row, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.DB, snapshot, func(tx pgx.Tx) error {
		if rows[0], err = read(ctx, tx, now.whole()); err != nil {
			return err
		}
		rows[1], err = read(ctx, tx, before.whole())
		return earlierTooLarge(err)
	})
	return rows, err
}

// earlier returns the query of the period with which a comparison compares.
func (q query) earlier(with string) (query, error) {
	before := q
	before.period = q.period.Previous()
	if with == "year" {
		before.period = calendar.Period{
			From: q.period.From.AddDate(-1, 0, 0), End: q.period.End.AddDate(-1, 0, 0),
		}
		if before.period.From.Day() != q.period.From.Day() {
			// The year before has no February 29.
			before.period.From = before.period.From.AddDate(0, 0, -1)
		}
	}
	if before.period.From.Year() < calendar.MinYear {
		return query{}, apierr.Invalid("from",
			"must be later: the earlier period begins before 1900")
	}
	before.filter = q.filter.Within(before.period)
	return before, nil
}

// pair contains the sums of a group in both periods.
type pair struct {
	key, name   string
	now, before row
}

// compared returns the totals, and the groups with the largest difference of a number first.
func compared(rows [2][]row, orderBy string) (totals pair, sorted []pair) {
	groups := map[string]*pair{}
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
	for _, g := range groups {
		sorted = append(sorted, *g)
	}
	slices.SortFunc(sorted, func(a, b pair) int {
		return cmp.Or(b.difference(orderBy).CmpAbs(a.difference(orderBy)),
			cmp.Compare(a.name, b.name), cmp.Compare(a.key, b.key))
	})
	return totals, sorted
}

// other returns the sum of groups. It returns an error if an int64 cannot hold it: a transaction
// with several tags counts in several groups.
func other(groups []pair, code string) (*ledgerv1.ComparedOther, error) {
	var sum pair
	for _, g := range groups {
		for _, number := range []struct {
			sum   *int64
			minor int64
		}{
			{&sum.now.Income, g.now.Income},
			{&sum.now.Expense, g.now.Expense},
			{&sum.before.Income, g.before.Income},
			{&sum.before.Expense, g.before.Expense},
		} {
			// On overflow, after wraps around to the wrong side of the sum.
			after := *number.sum + number.minor
			if (number.minor > 0) != (after > *number.sum) {
				return nil, errOverflow
			}
			*number.sum = after
		}
	}
	numbers := sum.proto(code)
	return &ledgerv1.ComparedOther{
		Groups: int32(len(groups)), Now: numbers.GetNow(), Before: numbers.GetBefore(),
		Difference: numbers.GetDifference(),
	}, nil
}

// byNet orders a comparison by income minus expense.
const byNet = "net"

// difference returns how a number has changed. It may exceed an int64.
func (p pair) difference(of string) *big.Int {
	number := func(r row) *big.Int {
		switch of {
		case posting.Income:
			return big.NewInt(r.Income)
		case byNet:
			return new(big.Int).Sub(big.NewInt(r.Income), big.NewInt(r.Expense))
		}
		return big.NewInt(r.Expense)
	}
	return new(big.Int).Sub(number(p.now), number(p.before))
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

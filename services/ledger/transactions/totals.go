package transactions

import (
	"context"
	"math"
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/request"
)

const (
	includeTotals = "totals"
	includeEtags  = "etags"
)

func checkInclude(p *apierr.Problems, include []string) {
	for _, part := range include {
		if part != includeTotals && part != includeEtags {
			p.Invalid("include", "must be totals or etags")
			return
		}
	}
}

// addTotals adds the totals of all pages of a list to the response. Totals that no stored totals
// have are limited to the newest rows (see totaled), and the fields capped and cappedAt say so. The
// caller has checked that the list's wallets and categories belong to the owner.
func (s *Transactions) addTotals(
	ctx context.Context, list transactionList, resp *ledgerv1.ListTransactionsResponse,
) error {
	leave, err := s.reads.Enter(ctx, list.owner)
	if err != nil {
		return err
	}
	defer leave()
	add := totalTransactions
	if list.wholeMonths() {
		add = totalMonths
	}
	rows, err := add(ctx, s.DB, list)
	if pg.IsOutOfRange(err) {
		return errTotalsOverflow
	}
	if err != nil {
		return err
	}
	capped := false
	for _, totals := range rows {
		capped = capped || totals.Capped
		if !totals.Matching || totals.Count == 0 {
			continue
		}
		c := money.CurrencyOf(totals.Currency)
		resp.Totals = append(resp.Totals, &ledgerv1.FilterTotals{
			Currency: totals.Currency, Count: int32(min(totals.Count, math.MaxInt32)),
			Income: c.Format(totals.Income), Expense: c.Format(totals.Expense),
		})
	}
	resp.Capped = &capped
	if capped {
		resp.CappedAt = new(int32(list.totaled()))
	}
	return nil
}

// wholeMonths reports whether the stored totals of months have the totals of the list: it has no
// other filters than wallets, a currency, counted transactions and whole months. They have no
// number of transactions by type or category.
func (l transactionList) wholeMonths() bool {
	starts := func(at *time.Time) bool { return at == nil || at.Equal(calendar.MonthOf(*at)) }
	return len(l.categories)+len(l.tagNames) == 0 && l.kind+l.substring+l.payee == "" &&
		!l.untagged && l.cleared == nil && l.Origin == (request.Origin{}) &&
		!l.excluded.unindexed() &&
		l.minE4 == nil && l.maxE4 == nil &&
		starts(l.from) && starts(l.end)
}

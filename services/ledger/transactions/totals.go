package transactions

import (
	"context"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// includeTotals is the value of parameter include that requests the totals of a list.
const includeTotals = "totals"

// checkInclude adds a problem for an unknown value of parameter include.
func checkInclude(p *apierr.Problems, include []string) {
	for _, part := range include {
		if part != includeTotals {
			p.Field(&apierr.Field{Name: "include", Message: "must be totals"})
			return
		}
	}
}

// addTotals adds the totals of all pages of a list to the response. If they would require more than totaledRows rows, they are lower
// bounds, and the field capped says so. The caller has checked that the list's wallets and categories belong to the owner.
func (s *Transactions) addTotals(ctx context.Context, l transactionList, resp *ledgerv1.ListTransactionsResponse) error {
	leave, err := s.reads.Enter(ctx, l.owner)
	if err != nil {
		return err
	}
	defer leave()
	rows, err := totalTransactions(ctx, s.DB, l)
	if pg.IsOutOfRange(err) {
		return errTotalsOverflow
	}
	if err != nil {
		return err
	}
	examined := int64(0)
	for _, r := range rows {
		examined += r.Count
		if !r.Matching {
			continue
		}
		c := money.CurrencyOf(r.Currency)
		resp.Totals = append(resp.Totals, &ledgerv1.FilterTotals{
			Currency: r.Currency, Count: int32(r.Count), Income: c.Format(r.Income), Expense: c.Format(r.Expense),
		})
	}
	resp.Capped = new(examined > totaledRows)
	return nil
}

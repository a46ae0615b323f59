package booking

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// ruledTransfer reports whether a rule makes a transfer of a ready row. Rules run only on rows that
// the file and the user leave ordinary.
func ruledTransfer(r *staging.Row) bool {
	return r.Status == staging.Ready && r.Ruled != nil && r.TransferWalletID != nil &&
		r.WalletID != nil && r.AmountMinor != nil
}

// addRuled adds the transactions of rows that rules make transfers. If the other wallet has the
// other leg as an ordinary transaction, another one would change its balance twice. Then the row
// becomes an ordinary transaction with the same category, and match makes a transfer of the two.
// The row keeps the category, which the undo gives back to the existing transaction.
func (c *chunk) addRuled(ctx context.Context, tx pgx.Tx, rows []*staging.Row) error {
	legs := make([]posting.Transaction, len(rows))
	for i, r := range rows {
		legs[i] = c.otherLeg(r, c.transaction(r))
	}
	existing, err := transfers.LockCounterparts(ctx, tx, c.OwnerID, legs)
	if err != nil {
		return err
	}
	for i, r := range rows {
		other, ok := existing[i]
		if !ok {
			if err := c.add(r); err != nil {
				return err
			}
			continue
		}
		t := c.transaction(r)
		r.CategoryID, t.CategoryID = other.CategoryID, other.CategoryID
		c.pairs[len(c.transactions)] = other
		c.put(r, t)
	}
	return nil
}

// match makes transfers of inserted transactions and of the existing ones that are their other
// legs. Both legs get the time of creation of the inserted one as updated_at, by which the undo
// recognizes that the user has not changed them since.
func (c *chunk) match(ctx context.Context, tx pgx.Tx, l *posting.Ledger) error {
	for i, t := range c.transactions {
		other, ok := c.pairs[i]
		if !ok {
			continue
		}
		if _, err := transfers.Match(ctx, tx, l, transfers.Of(t, other), c.now); err != nil {
			return err
		}
	}
	return nil
}

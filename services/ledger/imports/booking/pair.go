package booking

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transfers"
)

// mayExist reports whether the other leg of a ready row's transfer may exist as a transaction:
//
//   - A rule makes the transfer, which neither the file nor the user does.
//   - The file has no rows of the other account. Another file may have had them.
//   - The other side is a row whose transaction exists.
func (c *chunk) mayExist(row *staging.Row) bool {
	if row.Status != staging.Ready || row.TransferWalletID == nil || row.WalletID == nil ||
		row.AmountMinor == nil {
		return false
	}
	if row.Ruled != nil {
		return true
	}
	if row.Transfer != nil && row.Transfer.ID == "" && row.PairN == nil &&
		row.ChosenWalletID == nil {
		return !slices.ContainsFunc(c.details.GetAccounts(), func(a *ledgerv1.ImportAccount) bool {
			return a.GetKey() == row.Transfer.Account && a.GetCount() > 0
		})
	}
	return exists(c.partner(row))
}

// exists reports whether the transaction of a row exists without the import.
func exists(r *staging.Row) bool {
	return r != nil && (r.Status == staging.Duplicate || r.Status == staging.Matched)
}

// addToExisting adds the transactions of rows whose other leg may exist. If the other wallet has
// the other leg as an ordinary transaction, another one would change its balance twice. Then the
// row becomes an ordinary transaction with the same category, and match makes a transfer of the
// two. The row keeps the category, which the undo gives back to the existing transaction.
func (c *chunk) addToExisting(ctx context.Context, tx pgx.Tx, rows []*staging.Row) error {
	legs := make([]posting.Transaction, len(rows))
	for i, r := range rows {
		legs[i] = c.otherLeg(r, c.transaction(r))
	}
	existing, err := transfers.LockCounterparts(ctx, tx, c.OwnerID, legs)
	if err != nil {
		return err
	}
	for i, row := range rows {
		other, ok := existing[i]
		if !ok {
			if err := c.add(row); err != nil {
				return err
			}
			continue
		}
		t := c.transaction(row)
		row.CategoryID, t.CategoryID = other.CategoryID, other.CategoryID
		c.pairs[len(c.transactions)] = other
		c.put(row, t)
	}
	return nil
}

// match makes transfers of inserted transactions and of the existing ones that are their other
// legs. Both legs get the time of creation of the inserted one as updated_at, by which the undo
// recognizes that the user has not changed them since.
func (c *chunk) match(ctx context.Context, tx pgx.Tx, ledger *posting.Ledger) error {
	for i, t := range c.transactions {
		other, ok := c.pairs[i]
		if !ok {
			continue
		}
		if _, err := transfers.Match(ctx, tx, ledger, transfers.Of(t, other), c.now); err != nil {
			return err
		}
	}
	return nil
}

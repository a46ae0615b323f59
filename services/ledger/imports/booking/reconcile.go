package booking

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/reconciliations"
)

// reconcile restores the next reconciliation of the file, and reports whether there was one. It
// follows the last row, because the transactions of a reconciliation may stand anywhere in the
// file. Wallets that the user had before keep their own reconciliations only.
func (x *executor) reconcile(
	ctx context.Context, tx pgx.Tx, imp staging.Import,
) (found bool, err error) {
	wallets, err := createdWallets(ctx, tx, imp)
	if err != nil || len(wallets) == 0 {
		return false, err
	}
	next, found, err := staging.NextReconciliation(ctx, tx, imp.OwnerID, imp.ID,
		slices.Collect(maps.Keys(wallets)))
	if err != nil || !found {
		return false, err
	}
	unchanged, err := staging.SelectUnchanged(ctx, tx, imp.OwnerID, imp.ID, next)
	if err != nil {
		return false, err
	}
	id, err := reconciliations.Restore(ctx, tx, x.Ledger, reconciliations.Restored{
		Owner: imp.OwnerID, Wallet: wallets[next.Account], Currency: next.Currency,
		Date: next.Date, BalanceMinor: next.BalanceMinor, Locked: next.Locked,
		Differs: next.Differs, Transactions: unchanged,
	})
	if err != nil {
		return false, err
	}
	err = staging.SetReconciliation(ctx, tx, imp.OwnerID, imp.ID, next.N, &id)
	if err != nil {
		return false, err
	}
	return true, addProgress(ctx, tx, imp, staging.Counts{}, 0, x.Now())
}

// createdWallets returns the wallets that the commit has created, by the keys of their accounts.
func createdWallets(
	ctx context.Context, tx pgx.Tx, imp staging.Import,
) (map[string]uuid.UUID, error) {
	created, err := staging.SelectCreatedWallets(ctx, tx, imp.OwnerID, imp.ID)
	if err != nil || len(created) == 0 {
		return nil, err
	}
	details, err := imp.ReadDetails()
	if err != nil {
		return nil, err
	}
	wallets := map[string]uuid.UUID{}
	for _, a := range details.GetAccounts() {
		id := staging.ParseID(a.GetWalletId())
		if id != nil && slices.Contains(created, *id) {
			wallets[a.GetKey()] = *id
		}
	}
	return wallets, nil
}

// unreconcile deletes the last reconciliation that the commit has restored, and reports whether
// there was one. Those before a later one of the user stay, and so do the transactions that they
// lock.
func (x *executor) unreconcile(
	ctx context.Context, job jobs.Job, progress *progress,
) (found bool, err error) {
	considered := progress.unreconciled
	err = x.inChunk(ctx, job, func(tx pgx.Tx, imp staging.Import) error {
		var last staging.Reconciliation
		last, found, err = staging.LastReconciliation(ctx, tx, imp.OwnerID, imp.ID,
			progress.unreconciled)
		if err != nil || !found {
			return err
		}
		considered = last.N
		removed, err := reconciliations.Remove(ctx, tx, x.Ledger, imp.OwnerID,
			*last.ReconciliationID)
		if err != nil {
			return err
		}
		if removed {
			err = staging.SetReconciliation(ctx, tx, imp.OwnerID, imp.ID, last.N, nil)
			if err != nil {
				return err
			}
		}
		return addProgress(ctx, tx, imp, staging.Counts{}, 0, x.Now())
	})
	if err == nil {
		progress.unreconciled = considered
	}
	return found, err
}

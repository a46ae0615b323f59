package reconciliations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// Restored is a reconciliation of an export that an import creates again.
type Restored struct {
	Owner, Wallet uuid.UUID
	Currency      string
	Date          time.Time
	BalanceMinor  int64
	// Locked and Differs are those of the export.
	Locked  int32
	Differs bool
	// Transactions are the transactions that it locks.
	Transactions []uuid.UUID
}

// Restore inserts a reconciliation, and locks its transactions. It differs if it did in the export,
// or if it locks another number of transactions than before. The balance is that of the export: it
// does not depend on transactions that were entered later. The caller holds the owner's lock.
func Restore(
	ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, r Restored,
) (uuid.UUID, error) {
	restored := reconciliation{
		ID: ledger.NewID(), OwnerID: r.Owner, WalletID: r.Wallet, Currency: r.Currency,
		Date: r.Date, BalanceMinor: r.BalanceMinor, Locked: r.Locked, CreatedAt: ledger.Now(),
	}
	var err error
	restored.Differs, err = insertRestored(ctx, tx, restored, r.Differs, r.Transactions)
	if err != nil {
		return uuid.Nil, err
	}
	return restored.ID, ledger.Publish(ctx, tx, r.Owner, &ledgerv1.WalletReconciled{
		OwnerId: r.Owner.String(), Reconciliation: restored.proto(),
	})
}

// Remove deletes a reconciliation that Restore has inserted, and unlocks its transactions. removed
// is false if the reconciliation stays because its wallet has a later one. The caller holds the
// owner's lock.
func Remove(
	ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, owner, id uuid.UUID,
) (removed bool, err error) {
	found, err := selectReconciliation(ctx, tx, owner, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	if err != nil || !found.Latest {
		return false, err
	}
	return true, remove(ctx, tx, ledger, found.reconciliation)
}

// remove deletes a reconciliation, unlocks its transactions, and adds the event.
func remove(ctx context.Context, tx pgx.Tx, ledger *posting.Ledger, r reconciliation) error {
	if err := deleteReconciliation(ctx, tx, r); err != nil {
		return err
	}
	return ledger.Publish(ctx, tx, r.OwnerID, &ledgerv1.ReconciliationDeleted{
		OwnerId: r.OwnerID.String(), Reconciliation: r.proto(),
	})
}

package posting

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// errReconciled is the error for a change of a transaction that a reconciliation locks.
var errReconciled = apierr.New(restv1.Reason_TRANSACTION_RECONCILED)

// Unlocking decides about changes and deletions of transactions that reconciliations lock. The
// caller holds the locks of the rows.
type Unlocking struct {
	// Allowed is set if the request asks for such changes.
	Allowed bool
	// broken are the reconciliations whose transactions are changed or deleted.
	broken []uuid.UUID
}

// Change checks the change of a transaction. A locked one keeps its amount, currency, day, wallet
// and state cleared. Another change returns TRANSACTION_RECONCILED, or unlocks after if it is
// allowed. All other fields can be changed.
func (u *Unlocking) Change(before Transaction, after *Transaction) error {
	if before.ReconciliationID == nil ||
		before.AmountMinor == after.AmountMinor && before.Currency == after.Currency &&
			before.Date.Equal(after.Date) && before.WalletID == after.WalletID &&
			before.Cleared == after.Cleared {
		return nil
	}
	after.ReconciliationID = nil
	return u.Delete(before)
}

// Delete checks the deletion of a transaction, like Change.
func (u *Unlocking) Delete(t Transaction) error {
	switch {
	case t.ReconciliationID == nil:
		return nil
	case !u.Allowed:
		return errReconciled
	}
	u.broken = append(u.broken, *t.ReconciliationID)
	return nil
}

// Write records in the reconciliations of the changed and deleted transactions that they differ.
// Without any it runs no query.
func (u *Unlocking) Write(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	if len(u.broken) == 0 {
		return nil
	}
	return pg.Exec(ctx, q,
		`UPDATE reconciliations SET differs = true WHERE owner_id = $1 AND id = ANY($2)`,
		owner, u.broken)
}

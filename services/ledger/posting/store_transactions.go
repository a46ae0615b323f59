package posting

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Select returns one of the owner's transactions without its splits, or pgx.ErrNoRows.
func Select(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (Transaction, error) {
	return pg.One[Transaction](ctx, q,
		`SELECT `+TransactionColumns+` FROM transactions t WHERE t.owner_id = $1 AND t.id = $2`,
		owner, id)
}

// IsOfAnother reports whether an id that the owner does not have is another owner's transaction. It
// reads rows of all owners, so call it only after a statement that names the owner has found
// nothing. The primary key is (id, owner_id), so an id is sufficient for an index lookup, unlike in
// the other tables (ADR 14).
func IsOfAnother(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q,
		`SELECT EXISTS (SELECT FROM transactions WHERE id = $1 AND owner_id <> $2)`, id, owner)
}

// Lock locks one of the owner's transactions until the database transaction ends, and returns it
// without its splits. If it is a leg of a transfer, Lock also locks and returns the other leg. The
// rows are in the order of their ids, in which all writes lock them. Without the transaction the
// result is empty. The caller shares or holds the owner's lock, so that no transaction becomes a
// leg or stops being one meanwhile.
func Lock(ctx context.Context, q pg.Querier, owner, id uuid.UUID) ([]Transaction, error) {
	return pg.All[Transaction](ctx, q, `
		SELECT `+TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id IN (
			SELECT $2::uuid
			UNION
			SELECT leg.id
			FROM transactions named
			JOIN transactions leg ON leg.transfer_id = named.transfer_id
			WHERE named.owner_id = $1 AND named.id = $2 AND leg.owner_id = $1)
		ORDER BY t.id
		FOR UPDATE`, owner, id)
}

// LockAll locks transactions of an owner until the database transaction ends, and returns them
// without their splits, in the order of their ids. It omits unknown ids and transactions of other
// owners.
func LockAll(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]Transaction, error) {
	return pg.All[Transaction](ctx, q, `
		SELECT `+TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id = ANY($2)
		ORDER BY t.id
		FOR UPDATE`, owner, ids)
}

// Update writes the changed fields and the version of transaction, except its splits. The caller
// corrects balances and totals with Replace.
func Update(ctx context.Context, q pg.Querier, transaction Transaction) error {
	return pg.Exec(ctx, q, `
		UPDATE transactions
		SET wallet_id = $3, category_id = $4, currency = $5, amount_minor = $6, amount_e4 = $7,
			description = $8, date = $9, version = $10, updated_at = $11, payee = $12, notes = $13,
			tags = $14, split_count = $15, transfer_id = $16
		WHERE id = $1 AND owner_id = $2`,
		transaction.ID, transaction.OwnerID, transaction.WalletID, transaction.CategoryID,
		transaction.Currency, transaction.AmountMinor, transaction.AmountE4(),
		transaction.Description, transaction.Date, transaction.Version, transaction.UpdatedAt,
		transaction.Payee, transaction.Notes, transaction.Tags, len(transaction.Splits),
		transaction.TransferID)
}

// Delete deletes the rows of transactions of one owner. The caller corrects balances and totals
// with Remove.
func Delete(ctx context.Context, q pg.Querier, ts ...Transaction) error {
	ids := make([]uuid.UUID, len(ts))
	for i, t := range ts {
		ids[i] = t.ID
	}
	return pg.Exec(ctx, q, `DELETE FROM transactions WHERE owner_id = $1 AND id = ANY($2)`,
		ts[0].OwnerID, ids)
}

// DeleteUnusedReceipt deletes a receipt with its images after tx has deleted one of its
// transactions, if no other transaction uses it. The lock serializes the deletions of a receipt's
// transactions. The second statement's snapshot is newer than the lock, so it sees the deletions
// before it. The images are deleted by ON DELETE CASCADE.
func DeleteUnusedReceipt(ctx context.Context, tx pgx.Tx, owner, receipt uuid.UUID) error {
	err := pg.Exec(ctx, tx, `SELECT FROM receipts WHERE owner_id = $1 AND id = $2 FOR UPDATE`,
		owner, receipt)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, tx, `
		DELETE FROM receipts r
		WHERE r.owner_id = $1 AND r.id = $2
			AND NOT EXISTS (
				SELECT FROM transactions t WHERE t.owner_id = $1 AND t.receipt_id = r.id)`,
		owner, receipt)
}

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

// selectOfOthers returns those of ids that are transactions of other owners. It reads rows of all
// owners, so call it only with ids that a statement that names the owner has not found. The primary
// key is (id, owner_id), so an id is sufficient for an index lookup, unlike in the other tables
// (ADR 14).
func selectOfOthers(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q,
		`SELECT id FROM transactions WHERE id = ANY($1) AND owner_id <> $2`, ids, owner)
}

// Lock locks transactions of an owner until the database transaction ends, and returns them without
// their splits. With a leg of a transfer, it also locks and returns the other leg. The rows are in
// the order of their ids, in which all writes lock them. It omits unknown ids and transactions of
// other owners. The caller shares or holds the owner's lock, so that no transaction becomes a leg
// or stops being one meanwhile.
func Lock(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids ...uuid.UUID,
) ([]Transaction, error) {
	return pg.All[Transaction](ctx, q, `
		SELECT `+TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id IN (
			SELECT unnest($2::uuid[])
			UNION
			SELECT leg.id
			FROM transactions named
			JOIN transactions leg ON leg.transfer_id = named.transfer_id
			WHERE named.owner_id = $1 AND named.id = ANY($2) AND leg.owner_id = $1)
		ORDER BY t.id
		FOR UPDATE`, owner, ids)
}

// LockAll is Lock without the other legs of transfers.
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

var updateSQL = `
		UPDATE transactions t
		SET wallet_id = c.wallet_id, category_id = c.category_id, currency = c.currency,
			amount_minor = c.amount_minor, amount_e4 = c.amount_e4, description = c.description,
			date = c.date, version = c.version, updated_at = c.updated_at, payee = c.payee,
			notes = c.notes, tags = string_to_array(c.tags, ','), split_count = c.split_count,
			transfer_id = c.transfer_id, cleared = c.cleared,
			reconciliation_id = c.reconciliation_id, seq = (SELECT taken_seq($1))
		FROM unnest(` + changedColumns.parameters(2) + `) AS c (` + changedColumns.names() + `)
		WHERE t.owner_id = $1 AND t.id = c.id`

// Update writes the changed fields and the versions of transactions of one owner, except their
// splits. The caller corrects balances and totals with Replace.
func Update(ctx context.Context, q pg.Querier, ts ...Transaction) error {
	rows := insertion{transactions: ts}
	return pg.Exec(ctx, q, updateSQL, changedColumns.values([]any{ts[0].OwnerID}, rows)...)
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

// DeleteUnusedReceipts deletes receipts with their images after tx has deleted transactions of
// them, if no other transaction uses them. The locks serialize the deletions of a receipt's
// transactions. The second statement's snapshot is newer than the locks, so it sees the deletions
// before it. The images are deleted by ON DELETE CASCADE. Without receipts it runs no query.
func DeleteUnusedReceipts(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID, receipts []uuid.UUID,
) error {
	if len(receipts) == 0 {
		return nil
	}
	err := pg.Exec(ctx, tx, `
		SELECT FROM receipts WHERE owner_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`,
		owner, receipts)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, tx, `
		DELETE FROM receipts r
		WHERE r.owner_id = $1 AND r.id = ANY($2)
			AND NOT EXISTS (
				SELECT FROM transactions t WHERE t.owner_id = $1 AND t.receipt_id = r.id)`,
		owner, receipts)
}

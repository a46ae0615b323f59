package booking

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// unlinkTransactions removes the external ids and texts that a commit gave to matched transactions,
// and the clearing of those that it cleared, and releases up to limit rows, except those that
// replaced a pending payment. It returns the number of rows. A text that the user has changed
// stays. An external id that the transaction has received since stays, too.
func unlinkTransactions(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, limit int, now time.Time,
) (int32, error) {
	type result struct{ Released int32 }
	found, err := pg.One[result](ctx, q, `
		WITH next AS MATERIALIZED (
			SELECT n
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND status = 'matched'
				AND transaction_id IS NOT NULL AND replaced IS NULL
			ORDER BY n
			LIMIT $4
		), released AS (
			UPDATE import_rows r
			SET transaction_id = NULL
			FROM next
			WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = next.n
				AND r.n BETWEEN (SELECT min(n) FROM next) AND (SELECT max(n) FROM next)
			RETURNING r.duplicate_of, r.external_id, r.filled_payee, r.filled_notes,
				r.filled_cleared
		), unlinked AS (
			UPDATE transactions t
			SET external_id = nullif(t.external_id, r.external_id),
				payee = coalesce(nullif(t.payee, r.filled_payee), ''),
				notes = coalesce(nullif(t.notes, r.filled_notes), ''),
				cleared = t.reconciliation_id IS NOT NULL OR t.cleared AND NOT r.filled_cleared,
				version = t.version + 1,
				updated_at = $3, seq = (SELECT taken_seq($1))
			FROM released r
			WHERE t.owner_id = $1 AND t.id = r.duplicate_of
				AND (t.external_id = r.external_id OR t.payee = r.filled_payee
					OR t.notes = r.filled_notes OR t.cleared AND r.filled_cleared
						AND t.reconciliation_id IS NULL)
		)
		SELECT count(*)::integer AS released FROM released`, owner, id, now, limit)
	if err != nil {
		return 0, err
	}
	return found.Released, nil
}

type bookedRow struct {
	N             int32
	TransactionID uuid.UUID `db:"transaction_id"`
	// CategoryID follows merges. It is nil if the row has no category, or if it was deleted.
	CategoryID *uuid.UUID `db:"category_id"`
}

// selectBooked returns up to limit booked rows before row after, the last first.
func selectBooked(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, after int32, limit int,
) ([]bookedRow, error) {
	return pg.All[bookedRow](ctx, q, `
		SELECT r.n, r.transaction_id, c.id AS category_id
		FROM (
			SELECT n, transaction_id, category_id
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND status = 'booked' AND n < $3
			ORDER BY n DESC
			LIMIT $4
		) AS r
		LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = r.category_id
		LEFT JOIN categories c ON c.owner_id = $1 AND c.id = coalesce(m.category_id, r.category_id)
		ORDER BY r.n DESC`, owner, id, after, limit)
}

// lockOtherLegs locks the legs of the same transfers that are not among ts.
func lockOtherLegs(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ts []posting.Transaction,
) ([]posting.Transaction, error) {
	var transfers, known []uuid.UUID
	for _, t := range ts {
		if t.TransferID != nil {
			transfers, known = append(transfers, *t.TransferID), append(known, t.ID)
		}
	}
	if len(transfers) == 0 {
		return nil, nil
	}
	return pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.transfer_id = ANY($2) AND t.id <> ALL($3)
		ORDER BY t.id DESC
		FOR UPDATE`, owner, transfers, known)
}

// undoOutcome holds the numbers of the rows of a chunk of an undo, from first to last: undone rows,
// and those whose transactions are kept, with the reasons at the same positions.
type undoOutcome struct {
	first, last  int32
	undone, kept []int32
	reasons      []string
}

// setUndone marks booked rows as undone, and those whose transactions are kept as skipped. It
// returns how the counts change.
func setUndone(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, rows undoOutcome,
) (staging.Counts, error) {
	type outcome struct{ Undone, Skipped int32 }
	found, err := pg.One[outcome](ctx, q, `
		WITH undone AS (
			UPDATE import_rows
			SET status = 'undone', transaction_id = NULL
			WHERE owner_id = $1 AND import_id = $2 AND n = ANY($3) AND n BETWEEN $5 AND $6
			RETURNING n
		), kept AS (
			UPDATE import_rows r
			SET status = 'skipped', problem = k.problem
			FROM unnest($4::integer[], $7::text[]) AS k (n, problem)
			WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = k.n AND r.n BETWEEN $5 AND $6
			RETURNING r.n
		)
		SELECT (SELECT count(*) FROM undone)::integer AS undone,
			(SELECT count(*) FROM kept)::integer AS skipped`,
		owner, id, rows.undone, rows.kept, rows.first, rows.last, rows.reasons)
	if err != nil {
		return staging.Counts{}, err
	}
	return staging.Counts{
		Undone: found.Undone, Skipped: found.Skipped, Booked: -found.Undone - found.Skipped,
	}, nil
}

// deleteTags deletes the tags that a commit created together with deleted transactions, unless the
// user has given them a color or uses them. A chunk gives its transactions and new tags the same
// time of creation.
func deleteTags(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ts []posting.Transaction,
) error {
	var keys []string
	var created []time.Time
	for _, t := range ts {
		for _, key := range t.Tags {
			keys, created = append(keys, key), append(created, t.CreatedAt)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return pg.Exec(ctx, q, `
		DELETE FROM tags
		WHERE owner_id = $1
			AND (key, created_at) IN (SELECT * FROM unnest($2::text[], $3::timestamptz[]))
			AND color = ''
			AND NOT EXISTS (
				SELECT FROM transactions t
				WHERE t.owner_id = $1 AND t.tags <> '{}' AND t.tags @> ARRAY[tags.key])`,
		owner, keys, created)
}

// detachTransactions removes the id of an import from up to limit of its transactions, and returns
// their number.
func detachTransactions(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, limit int,
) (int64, error) {
	tag, err := q.Exec(ctx, `
		UPDATE transactions
		SET import_id = NULL, seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND id IN (
			SELECT id FROM transactions
			WHERE owner_id = $1 AND import_id = $2 ORDER BY id LIMIT $3)`,
		owner, id, limit)
	if err != nil {
		return 0, fmt.Errorf("detaching the transactions of import %s: %w", id, err)
	}
	return tag.RowsAffected(), nil
}

// deleteRows deletes up to limit rows, and returns their number.
func deleteRows(ctx context.Context, q pg.Querier, owner, id uuid.UUID, limit int) (int64, error) {
	tag, err := q.Exec(ctx, `
		DELETE FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND n IN (
			SELECT n FROM import_rows WHERE owner_id = $1 AND import_id = $2 ORDER BY n LIMIT $3)`,
		owner, id, limit)
	if err != nil {
		return 0, fmt.Errorf("deleting rows of import %s: %w", id, err)
	}
	return tag.RowsAffected(), nil
}

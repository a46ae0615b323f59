package booking

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

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

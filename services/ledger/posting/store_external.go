package posting

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// External is a stored transaction with a wallet and an external id that were looked up.
type External struct {
	// Position is the place of the wallet and the external id, from 1.
	Position int
	ID       uuid.UUID
	ImportID *uuid.UUID `db:"import_id"`
}

// SelectExternal returns the transactions of an owner that have an external id in the wallet at the
// same position, in the order of the positions. A nil external id finds none.
//
// The lookup in order, without a sort, makes PostgreSQL read the index transactions_external. While
// it has no statistics of a new ledger, it would otherwise read all rows of the wallet for each id.
func SelectExternal(
	ctx context.Context, q pg.Querier, owner uuid.UUID, wallets []uuid.UUID, ids []*string,
) (found []External, err error) {
	// Outside of a transaction, the batch is one, so the setting ends with it.
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	lookup := batch.Queue(`
		SELECT e.position, t.id, t.import_id
		FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS e (wallet_id, external_id, position)
		CROSS JOIN LATERAL (
			SELECT id, external_id, import_id
			FROM transactions
			WHERE owner_id = $1 AND wallet_id = e.wallet_id AND external_id >= e.external_id
			ORDER BY external_id
			LIMIT 1
		) AS t
		WHERE t.external_id = e.external_id
		ORDER BY e.position`, owner, wallets, ids)
	lookup.Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[External])
		return err
	})
	batch.Queue(`SELECT set_config('enable_sort', 'on', true)`)
	if err := q.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("selecting transactions by external id: %w", err)
	}
	return found, nil
}

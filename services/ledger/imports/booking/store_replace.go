package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// lockPending locks those of the transactions that are still pending, in the order of their ids.
func lockPending(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]posting.Transaction, error) {
	return pg.All[posting.Transaction](ctx, q, `
		SELECT `+posting.TransactionColumns+`
		FROM transactions t
		WHERE t.owner_id = $1 AND t.id = ANY($2) AND t.external_id LIKE 'pending:%'
		ORDER BY t.id
		FOR UPDATE`, owner, ids)
}

// setExternalIDs writes the external ids of transactions of one owner.
func setExternalIDs(ctx context.Context, q pg.Querier, ts []posting.Transaction) error {
	ids := make([]uuid.UUID, len(ts))
	externals := make([]*string, len(ts))
	for i, t := range ts {
		ids[i], externals[i] = t.ID, t.ExternalID
	}
	return pg.Exec(ctx, q, `
		UPDATE transactions t
		SET external_id = e.external_id, seq = (SELECT taken_seq($1))
		FROM unnest($2::uuid[], $3::text[]) AS e (id, external_id)
		WHERE t.owner_id = $1 AND t.id = e.id`, ts[0].OwnerID, ids, externals)
}

// replacedRow is a row that has replaced a pending payment.
type replacedRow struct {
	DuplicateOf uuid.UUID `db:"duplicate_of"`
	ExternalID  string    `db:"external_id"`
	Currency    string
	AmountMinor int64 `db:"amount_minor"`
	Date        time.Time
	FilledPayee *string `db:"filled_payee"`
	FilledNotes *string `db:"filled_notes"`
	// FilledCleared is set if the row has cleared the transaction.
	FilledCleared bool `db:"filled_cleared"`
	Replaced      staging.Replaced
}

// releaseReplaced releases up to limit rows that replaced a pending payment, and returns them.
func releaseReplaced(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, limit int,
) ([]replacedRow, error) {
	return pg.All[replacedRow](ctx, q, `
		WITH next AS MATERIALIZED (
			SELECT n
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND status = 'matched'
				AND transaction_id IS NOT NULL AND replaced IS NOT NULL
			ORDER BY n
			LIMIT $3
		)
		UPDATE import_rows r
		SET transaction_id = NULL
		FROM next
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = next.n
			AND r.n BETWEEN (SELECT min(n) FROM next) AND (SELECT max(n) FROM next)
		RETURNING r.duplicate_of, r.external_id, r.booked_currency AS currency, r.amount_minor,
			r.date, r.filled_payee, r.filled_notes, r.filled_cleared, r.replaced`, owner, id, limit)
}

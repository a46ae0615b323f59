package verify

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Detail is a stored value of a transaction that differs from the value that follows from other
// rows. Amounts are in minor units. There are four kinds:
//
//   - the parts: their number is stored, and they must add up to the amount
//   - the wallet, currency and date of the parts, which are copies of the transaction's, so that
//     reports read parts alone
//   - the number of attachments
//   - the legs of the transfer, which must be one out and one in
type Detail struct {
	TransactionID    uuid.UUID `db:"transaction_id"`
	Name             string
	Stored, Computed string
}

// String describes the detail, for operators.
func (d Detail) String() string {
	return fmt.Sprintf("%s of transaction %s: stored %s, computed %s",
		d.Name, d.TransactionID, d.Stored, d.Computed)
}

// selectDetails returns the details of an owner's transactions that differ. Like selectDifferences
// it is one statement, so concurrent writes cause no differences. The FULL JOINs also find parts
// and attachments that their transaction does not count. Files that are still being uploaded do not
// count.
func selectDetails(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]Detail, error) {
	return pg.All[Detail](ctx, q, `
		WITH detailed AS MATERIALIZED (
			SELECT id, wallet_id, currency, date, amount_minor, split_count, attachment_count,
				transfer_id
			FROM transactions
			WHERE owner_id = $1 AND (split_count > 0 OR attachment_count > 0
				OR transfer_id IS NOT NULL)
		), parts AS (
			SELECT transaction_id AS id, count(*) AS split_count, sum(amount_minor) AS amount_minor
			FROM splits
			WHERE owner_id = $1
			GROUP BY transaction_id
		), files AS (
			SELECT transaction_id AS id, count(*) AS attachment_count
			FROM attachments
			WHERE owner_id = $1 AND status = 'ready'
			GROUP BY transaction_id
		)
		SELECT *
		FROM (
			SELECT id AS transaction_id, 'parts' AS name,
				format('%s of %s', coalesce(d.split_count, 0),
					coalesce(d.amount_minor, 0)) AS stored,
				format('%s of %s', coalesce(p.split_count, 0),
					coalesce(p.amount_minor, 0)) AS computed
			FROM (SELECT * FROM detailed WHERE split_count > 0) AS d
			FULL JOIN parts p USING (id)
			WHERE (d.split_count, d.amount_minor) IS DISTINCT FROM (p.split_count, p.amount_minor)
			UNION ALL
			SELECT DISTINCT d.id, 'wallet, currency and date of the parts',
				format('%s %s %s', s.wallet_id, s.currency, s.date),
				format('%s %s %s', d.wallet_id, d.currency, d.date)
			FROM detailed d
			JOIN splits s ON s.owner_id = $1 AND s.transaction_id = d.id
			WHERE (s.wallet_id, s.currency, s.date) <> (d.wallet_id, d.currency, d.date)
			UNION ALL
			SELECT id, 'number of attachments', coalesce(d.attachment_count, 0)::text,
				coalesce(f.attachment_count, 0)::text
			FROM (SELECT * FROM detailed WHERE attachment_count > 0) AS d
			FULL JOIN files f USING (id)
			WHERE d.attachment_count IS DISTINCT FROM f.attachment_count
			UNION ALL
			SELECT (array_agg(id ORDER BY id))[1], 'legs of the transfer',
				array_agg(amount_minor ORDER BY id)::text, 'one out and one in'
			FROM detailed
			WHERE transfer_id IS NOT NULL
			GROUP BY transfer_id
			HAVING count(*) <> 2 OR min(amount_minor) > 0 OR max(amount_minor) < 0
		) AS d
		WHERE NOT EXISTS (SELECT FROM erasures WHERE owner_id = $1)`, owner)
}

// repairDetails replaces the copies in the parts and the numbers of attachments of an owner. The
// caller holds the owner's lock. The transactions get the owner's number, so that the owner's
// devices receive the new numbers of attachments. Missing parts and legs cannot be derived from
// other rows.
func repairDetails(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	err := pg.Exec(ctx, q, `
		UPDATE splits s
		SET wallet_id = t.wallet_id, currency = t.currency, date = t.date
		FROM transactions t
		WHERE s.owner_id = $1 AND t.owner_id = $1 AND t.id = s.transaction_id
			AND (s.wallet_id, s.currency, s.date) <> (t.wallet_id, t.currency, t.date)`, owner)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, q, `
		WITH files AS MATERIALIZED (
			SELECT transaction_id AS id, count(*) AS attachment_count
			FROM attachments
			WHERE owner_id = $1 AND status = 'ready'
			GROUP BY transaction_id
		)
		UPDATE transactions t
		SET attachment_count = coalesce((
				SELECT f.attachment_count FROM files f WHERE f.id = t.id), 0),
			seq = (SELECT taken_seq($1))
		WHERE t.owner_id = $1 AND t.attachment_count <> coalesce((
			SELECT f.attachment_count FROM files f WHERE f.id = t.id), 0)`, owner)
}

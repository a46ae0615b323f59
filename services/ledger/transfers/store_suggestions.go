package transfers

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// selectPairs returns pairs of transactions in a window that look like one transfer: opposite
// amounts in one currency, in two wallets, at most maxDaysApart days apart. Pairs with the fewest
// days between them come first, because choose prefers them.
//
// The work of a request is limited. The CTE examined has the newest examinedRows transactions, and
// candidate at most examinedPerDay of those with the same day and amount. Both are MATERIALIZED, so
// that the join reads them by equality of currency, amount and day: the series of days turns a
// range of days into equalities, for which PostgreSQL uses a hash.
func selectPairs(
	ctx context.Context, q pg.Querier, owner uuid.UUID, from, end time.Time,
) ([]pair, error) {
	return pg.All[pair](ctx, q, fmt.Sprintf(`
		WITH examined AS MATERIALIZED (
			SELECT id, wallet_id, currency, amount_minor, date,
				(date AT TIME ZONE 'UTC')::date AS day
			FROM transactions
			WHERE owner_id = $1 AND date >= $2 AND date < $3
				AND transfer_id IS NULL AND receipt_id IS NULL AND split_count = 0
				AND NOT adjustment
			ORDER BY date DESC, id DESC
			LIMIT %[1]d
		), candidate AS MATERIALIZED (
			SELECT *
			FROM (
				SELECT *, row_number() OVER (
					PARTITION BY currency, amount_minor, day ORDER BY id) AS place
				FROM examined
			) AS e
			WHERE place <= %[2]d
		)
		SELECT o.id AS out_id, i.id AS in_id, o.date
		FROM candidate o
		CROSS JOIN generate_series(-%[3]d, %[3]d) AS apart
		JOIN candidate i ON i.currency = o.currency AND i.amount_minor = -o.amount_minor
			AND i.day = o.day + apart
		WHERE o.amount_minor < 0 AND i.wallet_id <> o.wallet_id
		ORDER BY abs(apart), o.id, i.id
		LIMIT %[1]d`, examinedRows, examinedPerDay, maxDaysApart), owner, from, end)
}

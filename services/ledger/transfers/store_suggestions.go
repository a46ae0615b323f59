package transfers

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
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

// counterpart is a transaction that may be the leg at a position, from 1.
type counterpart struct {
	Position int64
	ID       uuid.UUID
}

// selectCounterparts returns the transactions that may be the given legs: they have the wallet, the
// currency and the amount of a leg, are at most maxDaysApart days apart from it, and fulfill the
// conditions of a match (see unfit). The nearest days come first. A leg has at most as many
// counterparts as there are legs, because the other legs cannot take more of them.
func selectCounterparts(
	ctx context.Context, q pg.Querier, owner uuid.UUID, legs []posting.Transaction,
) ([]counterpart, error) {
	wallets, currencies := make([]uuid.UUID, len(legs)), make([]string, len(legs))
	amounts, days := make([]int64, len(legs)), make([]time.Time, len(legs))
	for i, t := range legs {
		wallets[i], currencies[i] = t.WalletID, t.Currency
		amounts[i], days[i] = t.AmountMinor, t.Date.UTC()
	}
	return pg.All[counterpart](ctx, q, fmt.Sprintf(`
		SELECT l.position, c.id
		FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::date[]) WITH ORDINALITY
			AS l (wallet_id, currency, amount_minor, day, position)
		CROSS JOIN LATERAL (
			SELECT t.id, abs((t.date AT TIME ZONE 'UTC')::date - l.day) AS apart
			FROM transactions t
			WHERE t.owner_id = $1 AND t.wallet_id = l.wallet_id AND t.currency = l.currency
				AND t.amount_minor = l.amount_minor
				AND t.date >= (l.day - %[1]d)::timestamp AT TIME ZONE 'UTC'
				AND t.date < (l.day + %[1]d + 1)::timestamp AT TIME ZONE 'UTC'
				AND t.transfer_id IS NULL AND t.receipt_id IS NULL AND t.split_count = 0
			ORDER BY apart, t.id
			LIMIT cardinality($2)
		) AS c
		ORDER BY c.apart, l.position, c.id`, maxDaysApart),
		owner, wallets, currencies, amounts, days)
}

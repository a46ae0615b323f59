package transfers

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// nearbySQL selects transactions t of the owner $1 in periods ($2 to $4) that have one of the
// amounts $5, in the order of date and id. It has places for other columns and conditions.
//
// The periods are read in order, without a sort. That makes PostgreSQL read the index
// transactions_wallet_date, also while it has no statistics of a new ledger (see
// posting.SelectExternal).
const nearbySQL = `
	SELECT t.id, t.wallet_id, t.currency, t.amount_minor, t.date, %s AS other_wallet_id
	FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[])
		WITH ORDINALITY AS p (wallet_id, first, "end", position)
	CROSS JOIN LATERAL (
		SELECT id, wallet_id, currency, amount_minor, date, transfer_id
		FROM transactions
		WHERE owner_id = $1 AND wallet_id = p.wallet_id AND date >= p.first AND date < p."end"
			AND amount_minor = ANY($5) AND %s
		ORDER BY date, id
	) AS t
	ORDER BY p.position`

// selectCounterparts adds the transactions that may be the legs and fulfill the conditions of a
// match (see unfit).
func selectCounterparts(
	ctx context.Context, q pg.Querier, owner uuid.UUID, nearby *nearby,
) error {
	sql := fmt.Sprintf(nearbySQL, "NULL::uuid",
		"transfer_id IS NULL AND receipt_id IS NULL AND split_count = 0 AND NOT adjustment")
	return selectNearby(ctx, q, nearby, sql, owner)
}

// selectLegs adds the legs of transfers that have no external id and that the import id has not
// created.
func selectLegs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, nearby *nearby,
) error {
	sql := fmt.Sprintf(nearbySQL, `(
			SELECT o.wallet_id
			FROM transactions o
			WHERE o.owner_id = $1 AND o.transfer_id = t.transfer_id AND o.id <> t.id
				AND o.import_id IS DISTINCT FROM $6
			LIMIT 1)`,
		`transfer_id IS NOT NULL AND external_id IS NULL AND import_id IS DISTINCT FROM $6`)
	return selectNearby(ctx, q, nearby, sql, owner, id)
}

// selectNearby runs nearbySQL, and adds its rows one by one: a day may have many.
func selectNearby(
	ctx context.Context, q pg.Querier, nearby *nearby, sql string, owner uuid.UUID, more ...any,
) error {
	periods := nearby.periods()
	if len(periods) == 0 {
		return nil
	}
	wallets := make([]uuid.UUID, len(periods))
	firsts, ends := make([]time.Time, len(periods)), make([]time.Time, len(periods))
	for i, p := range periods {
		wallets[i], firsts[i], ends[i] = p.wallet, p.first, p.end
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	arguments := append([]any{owner, wallets, firsts, ends, nearby.amounts()}, more...)
	batch.Queue(sql, arguments...).Query(func(rows pgx.Rows) error {
		var id uuid.UUID
		var l Leg
		var other *uuid.UUID
		_, err := pgx.ForEachRow(rows,
			[]any{&id, &l.WalletID, &l.Currency, &l.AmountMinor, &l.Date, &other}, func() error {
				l.OtherWalletID = uuid.Nil
				if other != nil {
					l.OtherWalletID = *other
				}
				nearby.add(id, l)
				return nil
			})
		return err
	})
	batch.Queue(`SELECT set_config('enable_sort', 'on', true)`)
	if err := q.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("selecting the transactions near legs: %w", err)
	}
	return nil
}

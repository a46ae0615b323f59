package balances

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
)

// statement returns the statement of selectBalances. rows are further movements, and read is the
// number of transactions that they read.
func statement(with, rows, read string) string {
	return `
		WITH ` + with + `moved AS (
			SELECT wallet_id, currency, width_bucket(month, $2::date[]) AS bucket,
				income_minor - expense_minor AS net
			FROM monthly_totals
			WHERE owner_id = $1 AND month >= $3 AND (month < $4 OR month >= $5)
				AND (cardinality($6::uuid[]) = 0 OR wallet_id = ANY($6))
				AND ($7 = '' OR currency = $7)
			UNION ALL
			SELECT wallet_id, currency, width_bucket(month, $2::date[]), in_minor - out_minor
			FROM monthly_transfers
			WHERE owner_id = $1 AND month >= $3 AND (month < $4 OR month >= $5)
				AND (cardinality($6::uuid[]) = 0 OR wallet_id = ANY($6))
				AND ($7 = '' OR currency = $7)` + rows + `
		), summed AS (
			SELECT wallet_id, currency, bucket, sum(net)::bigint AS net
			FROM moved
			GROUP BY wallet_id, currency, bucket
		), nets AS (
			SELECT wallet_id, currency, array_agg(bucket ORDER BY bucket) AS buckets,
				array_agg(net ORDER BY bucket) AS nets
			FROM summed
			GROUP BY wallet_id, currency
		)
		SELECT w.id AS wallet_id, w.name, w.kind, w.archived, b.currency,
			b.currency = w.currency AS own, w.initial_minor, w.opening_date, b.amount_minor,
			CASE WHEN w.archived THEN (
				SELECT max(t.date) FROM transactions t
				WHERE t.owner_id = $1 AND t.wallet_id = w.id) END AS last_date,
			n.buckets, n.nets, ` + read + ` AS read
		FROM wallets w
		JOIN wallet_balances b ON b.owner_id = w.owner_id AND b.wallet_id = w.id
		LEFT JOIN nets n ON n.wallet_id = b.wallet_id AND n.currency = b.currency
		WHERE w.owner_id = $1 AND (cardinality($6::uuid[]) = 0 OR w.id = ANY($6))
			AND ($7 = '' OR b.currency = $7)
		ORDER BY coalesce(w.position, 2147483647), w.id DESC, b.currency <> w.currency, b.currency`
}

// The statements of moments between months, and of all others. A transaction counts in the bucket
// of the last moment that is not after it.
var (
	ofMonths = statement("", "", "0::bigint")
	ofRows   = statement(`read AS MATERIALIZED (
			SELECT wallet_id, currency, date, amount_minor
			FROM transactions
			WHERE owner_id = $1 AND date >= $9 AND date < $10
				AND (cardinality($6::uuid[]) = 0 OR wallet_id = ANY($6))
				AND ($7 = '' OR currency = $7)
			LIMIT `+strconv.Itoa(maxRows+1)+`
		), `, `
			UNION ALL
			SELECT wallet_id, currency, width_bucket(date, $8::timestamptz[]), amount_minor
			FROM read`, "(SELECT count(*) FROM read)")
)

// selectBalances returns the current balances of the wallets with their later movements.
func selectBalances(ctx context.Context, q pg.Querier, query Query) ([]Balance, error) {
	type row struct {
		Balance
		Read int64
	}
	rows := query.rows()
	args := []any{
		query.Owner, query.Ends, calendar.MonthOf(query.Ends[0]), rows.From, rows.End,
		query.Wallets, query.Currency,
	}
	if query.Wallets == nil {
		args[5] = []uuid.UUID{}
	}
	sql := ofMonths
	if !rows.Empty() {
		args[3] = calendar.MonthOf(rows.From)
		sql, args = ofRows, append(args, query.Ends, rows.From, rows.End)
	}
	found, err := pg.All[row](ctx, q, sql, args...)
	if err != nil {
		return nil, err
	}
	balances := make([]Balance, len(found))
	for i, f := range found {
		if f.Read > maxRows {
			return nil, errTooLarge
		}
		balances[i] = f.Balance
	}
	return balances, nil
}

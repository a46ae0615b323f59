package posting

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

// MonthlyMovements are the columns of monthly_totals that all sums of income and expenses use (ADR
// 103): a part of a split counts with the type of its transaction. moved counts transactions and
// parts, and count counts transactions.
const MonthlyMovements = `income_minor - refund_minor AS income,
			expense_minor - refund_minor AS expense,
			transaction_count AS moved, transaction_count - further_parts AS count`

// applyPostingsSQL contains CTEs that add the rows of a CTE named posting to balances and totals.
// They lock rows in the order of their keys, so that statements that change the same rows wait for
// each other instead of deadlocking.
//
// The postings are grouped by row first, because ON CONFLICT cannot update a row twice in one
// statement. It adds the difference to the current version of the row, also if another transaction
// has committed that version after the statement's snapshot. PostgreSQL checks constraints on the
// proposed row before it detects the conflict, so monthly_totals and monthly_transfers must admit
// negative differences.
//
// The totals add up parts by their signs. Triggers on splits correct them for refunds, for the
// writes of all releases (ADR 103).
const applyPostingsSQL = `balance AS (
			INSERT INTO wallet_balances AS b (owner_id, wallet_id, currency, amount_minor)
			SELECT owner_id, wallet_id, currency, sum(sign * amount_minor)::bigint
			FROM posting
			GROUP BY owner_id, wallet_id, currency
			ORDER BY owner_id, wallet_id, currency
			ON CONFLICT (owner_id, wallet_id, currency) DO UPDATE
			SET amount_minor = b.amount_minor + EXCLUDED.amount_minor
		), total AS (
			INSERT INTO monthly_totals AS m (owner_id, month, wallet_id, category_id, currency,
				income_minor, expense_minor, transaction_count)
			SELECT owner_id, month, wallet_id, category_id, currency, ` + sumsSQL + `
			FROM posting
			WHERE category_id IS NOT NULL
			GROUP BY owner_id, month, wallet_id, category_id, currency
			ORDER BY owner_id, month, wallet_id, category_id, currency
			ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
			SET income_minor = m.income_minor + EXCLUDED.income_minor,
				expense_minor = m.expense_minor + EXCLUDED.expense_minor,
				transaction_count = m.transaction_count + EXCLUDED.transaction_count
		), transfer AS (
			INSERT INTO monthly_transfers AS m
				(owner_id, month, wallet_id, currency, in_minor, out_minor, transfer_count)
			SELECT owner_id, month, wallet_id, currency, ` + sumsSQL + `
			FROM posting
			WHERE category_id IS NULL
			GROUP BY owner_id, month, wallet_id, currency
			ORDER BY owner_id, month, wallet_id, currency
			ON CONFLICT (owner_id, month, wallet_id, currency) DO UPDATE
			SET in_minor = m.in_minor + EXCLUDED.in_minor,
				out_minor = m.out_minor + EXCLUDED.out_minor,
				transfer_count = m.transfer_count + EXCLUDED.transfer_count
		)`

// sumsSQL sums the positive and the negative amounts of postings, and counts them.
const sumsSQL = `sum(sign * greatest(amount_minor, 0))::bigint,
				sum(sign * greatest(-amount_minor, 0))::bigint, sum(sign)::bigint`

// insertSQL is the statement of Insert for transactions of several owners. insertOwnedSQL is the
// statement for a single owner, who is its last parameter: on a distributed database the planner
// must know the owner of each table that a statement reads (ADR 124).
var (
	insertSQL      = insertStatement("i.owner_id")
	insertOwnedSQL = insertStatement(
		"$" + strconv.Itoa(2+len(rowColumns)+len(partColumns)) + "::uuid")
)

// insertStatement returns the statement of Insert, which describes it. owner is the expression for
// the owner of the wallets and categories.
func insertStatement(owner string) string {
	return `
		WITH own AS MATERIALIZED (
			SELECT i.*
			FROM unnest(` + rowColumns.parameters(2) + `) WITH ORDINALITY
				AS i (` + rowColumns.names() + `, position),
				(SELECT set_config('lock_timeout', $1, true)) AS lock_timeout
			WHERE EXISTS (
				SELECT FROM wallets w WHERE w.owner_id = ` + owner + ` AND w.id = i.wallet_id)
				AND (i.category_id IS NULL OR EXISTS (
				SELECT FROM categories c WHERE c.owner_id = ` + owner + ` AND c.id = i.category_id))
		), claim AS (
			INSERT INTO idempotency_keys AS k (owner_id, scope, key_hash, request_mac, response)
			SELECT DISTINCT ON (owner_id, key_hash)
				owner_id, owner_id::text AS scope, key_hash, request_mac, response
			FROM own
			WHERE key_hash IS NOT NULL
			ORDER BY owner_id, key_hash, position
			ON CONFLICT ON CONSTRAINT idempotency_keys_pkey DO UPDATE
			SET request_mac = EXCLUDED.request_mac, response = EXCLUDED.response,
				created_at = EXCLUDED.created_at
			WHERE EXCLUDED.created_at - k.created_at > interval '24 hours'
			RETURNING response
		), accepted AS MATERIALIZED (
			SELECT *
			FROM own
			WHERE key_hash IS NULL OR response IN (SELECT response FROM claim)
		), locked AS MATERIALIZED (
			SELECT pg_advisory_xact_lock_shared(key)
			FROM (SELECT DISTINCT ` + ownerLock + ` AS key FROM accepted ORDER BY key) AS o
		), numbered AS (
			INSERT INTO owners AS o (owner_id, seq)
			SELECT DISTINCT owner_id, 1
			FROM accepted
			WHERE (SELECT count(*) FROM locked) > 0
			ORDER BY owner_id
			ON CONFLICT (owner_id) DO UPDATE
			SET seq = o.seq + 1
			RETURNING owner_id, seq
		), item AS MATERIALIZED (
			SELECT a.*, n.seq
			FROM accepted a FULL JOIN numbered n USING (owner_id)
		), part AS MATERIALIZED (
			SELECT i.owner_id, i.id AS transaction_id, p.position, p.category_id, i.wallet_id,
				i.currency, i.date, i.month, p.amount_minor, p.description
			FROM unnest(` + partColumns.parameters(2+len(rowColumns)) + `)
				AS p (` + partColumns.names() + `)
			JOIN item i ON i.position = p.item
		), posting AS (
			SELECT owner_id, wallet_id, category_id, currency, month, amount_minor, 1 AS sign
			FROM item
			WHERE split_count = 0
			UNION ALL
			SELECT owner_id, wallet_id, category_id, currency, month, amount_minor, 1
			FROM part
		), ` + applyPostingsSQL + `, event AS (
			INSERT INTO outbox (id, user_id, subject, data, traceparent)
			SELECT event_id, owner_id, subject, data, traceparent
			FROM item
			WHERE event_id IS NOT NULL
			ORDER BY position
		), split AS (
			INSERT INTO splits (` + splitColumns + `)
			SELECT ` + splitColumns + `
			FROM part
		)
		INSERT INTO transactions
			(` + transactionColumns.names() + `, tags, version, updated_at, seq)
		SELECT ` + transactionColumns.names() + `, string_to_array(tags, ','), 1, created_at, seq
		FROM item
		RETURNING id`
}

// Insert inserts the transactions whose wallet and category belong to their owner, with splits,
// balances, totals, events and idempotency records, in one statement, and returns their ids. events
// and records are parallel to ts, or empty. A transaction whose key was used before is not
// inserted; of several with the same key, only the first one is. A category of a split that is not
// the owner's violates transactions_category_fkey.
//
// The CTEs run in this order, because each reads the previous one:
//
//   - own: the rows whose wallet and category belong to their owner
//   - claim: inserts the idempotency records, or replaces those older than 24 hours. The unique
//     index decides between requests
//   - accepted: the rows without a key, and those whose record was inserted
//   - locked: shares the owners' locks
//   - numbered: takes the next number of each owner (see takeSeq)
//   - item: the accepted rows with their numbers, after the locks
//   - part: the parts of the items that are split transactions
//   - posting, balance, total, transfer, event, split: the effects of the items
//
// lockTimeout applies to each lock; 0 means no timeout. The statement takes the locks of the
// idempotency keys first, then shared locks of the owners (see ownerLock), then the locks of their
// rows, each in the order of their keys. Its snapshot is older than these locks: a wallet or
// category that was deleted meanwhile violates a foreign key.
//
// Four details are easy to miss:
//
//   - own reads set_config, and everything else reads own, so the timeout is set before the first
//     lock
//   - accepted compares responses, because RETURNING cannot return the position of a row.
//     Encryption with a random nonce makes each response unique
//   - numbered counts the rows of locked, because PostgreSQL does not run a SELECT in a CTE that
//     nothing reads. A condition without columns is computed once, a joined count for each row
//   - item uses a full join, although each row has a match: PostgreSQL expects few rows, and would
//     otherwise compare each row with each owner (BenchmarkInsert)
func Insert(
	ctx context.Context, q pg.Querier, lockTimeout time.Duration,
	ts []Transaction, events outbox.Rows, records []idem.Record,
) (map[uuid.UUID]bool, error) {
	type row struct{ ID uuid.UUID }
	in := insertion{ts, events, records, partsOf(ts)}
	sql, args := insertSQL, insertArgs(lockTimeout, in)
	if owner, ok := singleOwner(ts); ok {
		sql, args = insertOwnedSQL, append(args, owner)
	}
	written, err := pg.All[row](ctx, q, sql, args...)
	if err != nil {
		return nil, err
	}
	ids := make(map[uuid.UUID]bool, len(written))
	for _, r := range written {
		ids[r.ID] = true
	}
	return ids, nil
}

// singleOwner returns the owner of all transactions, if it is one.
func singleOwner(ts []Transaction) (owner uuid.UUID, ok bool) {
	for i := range ts {
		if ts[i].OwnerID != ts[0].OwnerID {
			return uuid.Nil, false
		}
		owner = ts[i].OwnerID
	}
	return owner, true
}

// insertArgs returns the parameters of insertSQL. They are positional, because pgx would parse the
// statement for each execution to find named ones. The timeout is text with a unit, as set_config
// takes it.
func insertArgs(lockTimeout time.Duration, in insertion) []any {
	args := make([]any, 0, 2+len(rowColumns)+len(partColumns))
	args = append(args, fmt.Sprintf("%dms", lockTimeout.Milliseconds()))
	return partColumns.values(rowColumns.values(args, in), in)
}

func partsOf(ts []Transaction) []part {
	n := 0
	for i := range ts {
		n += len(ts[i].Splits)
	}
	if n == 0 {
		return nil
	}
	parts := make([]part, 0, n)
	for i := range ts {
		for j, s := range ts[i].Splits {
			parts = append(parts, part{int64(i + 1), int16(j), s})
		}
	}
	return parts
}

var applyPostingsStatement = `
		WITH posting AS (
			SELECT *
			FROM unnest(` + postingColumns.parameters(1) + `) AS p (` + postingColumns.names() + `)
		), ` + applyPostingsSQL + `
		SELECT`

// applyPostings adds postings to balances and totals with one statement. The caller shares the
// owner's lock. It violates wallet_balances_amount_range or monthly_totals_amount_range if a sum
// would be out of range.
func applyPostings(ctx context.Context, q pg.Querier, postings []posting) error {
	return pg.Exec(ctx, q, applyPostingsStatement, postingColumns.values(nil, postings)...)
}

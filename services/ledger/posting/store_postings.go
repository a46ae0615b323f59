package posting

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

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
			INSERT INTO monthly_totals AS m
				(owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count)
			SELECT owner_id, month, wallet_id, category_id, currency,
				sum(sign * greatest(amount_minor, 0))::bigint, sum(sign * greatest(-amount_minor, 0))::bigint, sum(sign)::bigint
			FROM posting
			WHERE category_id IS NOT NULL
			GROUP BY owner_id, month, wallet_id, category_id, currency
			ORDER BY owner_id, month, wallet_id, category_id, currency
			ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
			SET income_minor = m.income_minor + EXCLUDED.income_minor, expense_minor = m.expense_minor + EXCLUDED.expense_minor,
				transaction_count = m.transaction_count + EXCLUDED.transaction_count
		), transfer AS (
			INSERT INTO monthly_transfers AS m (owner_id, month, wallet_id, currency, in_minor, out_minor, transfer_count)
			SELECT owner_id, month, wallet_id, currency,
				sum(sign * greatest(amount_minor, 0))::bigint, sum(sign * greatest(-amount_minor, 0))::bigint, sum(sign)::bigint
			FROM posting
			WHERE category_id IS NULL
			GROUP BY owner_id, month, wallet_id, currency
			ORDER BY owner_id, month, wallet_id, currency
			ON CONFLICT (owner_id, month, wallet_id, currency) DO UPDATE
			SET in_minor = m.in_minor + EXCLUDED.in_minor, out_minor = m.out_minor + EXCLUDED.out_minor,
				transfer_count = m.transfer_count + EXCLUDED.transfer_count
		)`

// insertSQL is the statement of Insert, which describes it.
const insertSQL = `
		WITH own AS MATERIALIZED (
			SELECT i.*
			FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::bigint[], $8::bigint[],
				$9::text[], $10::timestamptz[], $11::date[], $12::timestamptz[], $13::text[], $14::text[], $15::text[],
				$16::uuid[], $17::text[], $18::uuid[], $19::smallint[], $20::uuid[], $21::text[], $22::bytea[], $23::text[],
				$24::bytea[], $25::bytea[], $26::bytea[]) WITH ORDINALITY
				AS i (id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description, date,
					month, created_at, payee, notes, tags, transfer_id, external_id, import_id, split_count,
					event_id, subject, data, traceparent, key_hash, request_mac, response, position),
				(SELECT set_config('lock_timeout', $27, true)) AS lock_timeout
			WHERE EXISTS (SELECT FROM wallets w WHERE w.owner_id = i.owner_id AND w.id = i.wallet_id)
				AND (i.category_id IS NULL OR EXISTS (SELECT FROM categories c WHERE c.owner_id = i.owner_id AND c.id = i.category_id))
		), claim AS (
			INSERT INTO idempotency_keys AS k (scope, key_hash, request_mac, response)
			SELECT DISTINCT ON (owner_id, key_hash) owner_id::text, key_hash, request_mac, response
			FROM own
			WHERE key_hash IS NOT NULL
			ORDER BY owner_id, key_hash, position
			ON CONFLICT (scope, key_hash) DO UPDATE
			SET request_mac = EXCLUDED.request_mac, response = EXCLUDED.response, created_at = now()
			WHERE k.created_at < now() - interval '24 hours'
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
			FROM accepted, (SELECT count(*) FROM locked) AS l
			ORDER BY owner_id
			ON CONFLICT (owner_id) DO UPDATE
			SET seq = o.seq + 1
			RETURNING owner_id, seq
		), item AS MATERIALIZED (
			SELECT a.*, n.seq
			FROM accepted a
			JOIN numbered n USING (owner_id)
		), part AS MATERIALIZED (
			SELECT i.owner_id, i.id AS transaction_id, p.position, p.category_id, i.wallet_id, i.currency, i.date, i.month,
				p.amount_minor, p.description
			FROM unnest($28::bigint[], $29::smallint[], $30::uuid[], $31::bigint[], $32::text[])
				AS p (item, position, category_id, amount_minor, description)
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
			INSERT INTO splits (owner_id, transaction_id, position, category_id, wallet_id, currency, date, amount_minor, description)
			SELECT owner_id, transaction_id, position, category_id, wallet_id, currency, date, amount_minor, description
			FROM part
		)
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description,
			date, payee, notes, tags, transfer_id, external_id, import_id, split_count, version, created_at, updated_at, seq)
		SELECT id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description, date,
			payee, notes, string_to_array(tags, ','), transfer_id, external_id, import_id, split_count, 1, created_at, created_at, seq
		FROM item
		RETURNING id`

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
// Three details are easy to miss:
//
//   - own reads set_config, and everything else reads own, so the timeout is set before the first
//     lock
//   - accepted compares responses, because RETURNING cannot return the position of a row.
//     Encryption with a random nonce makes each response unique
//   - numbered counts the rows of locked, because PostgreSQL does not run a SELECT in a CTE that
//     nothing reads
func Insert(ctx context.Context, q pg.Querier, lockTimeout time.Duration, ts []Transaction, events outbox.Rows, records []idem.Record) (map[uuid.UUID]bool, error) {
	type row struct{ ID uuid.UUID }
	written, err := pg.All[row](ctx, q, insertSQL, insertArgs(lockTimeout, ts, events, records)...)
	if err != nil {
		return nil, fmt.Errorf("inserting %d transactions: %w", len(ts), err)
	}
	ids := make(map[uuid.UUID]bool, len(written))
	for _, r := range written {
		ids[r.ID] = true
	}
	return ids, nil
}

// insertArgs converts rows to arrays, one per column, in the order of the statement's parameters.
// The parameters are positional, because pgx would parse the statement for each execution to find
// named ones. A transaction without an idempotency key has a nil key hash, which becomes NULL;
// unnest fills the columns of missing events and records with NULL. Tags contain no comma, so that
// the tags of a transaction fit into one text. The timeout is text with a unit, as set_config takes
// it.
func insertArgs(lockTimeout time.Duration, ts []Transaction, events outbox.Rows, records []idem.Record) []any {
	ids, owners := make([]uuid.UUID, len(ts)), make([]uuid.UUID, len(ts))
	wallets, categories, receipts := make([]uuid.UUID, len(ts)), make([]*uuid.UUID, len(ts)), make([]*uuid.UUID, len(ts))
	currencies, descriptions := make([]string, len(ts)), make([]string, len(ts))
	amounts, scaled := make([]int64, len(ts)), make([]int64, len(ts))
	dates, months, created := make([]time.Time, len(ts)), make([]time.Time, len(ts)), make([]time.Time, len(ts))
	payees, notes, tags := make([]string, len(ts)), make([]string, len(ts)), make([]string, len(ts))
	transfers, externals, imports := make([]*uuid.UUID, len(ts)), make([]*string, len(ts)), make([]*uuid.UUID, len(ts))
	splitCounts := make([]int16, len(ts))
	var partItems, partAmounts []int64
	var partPositions []int16
	var partCategories []uuid.UUID
	var partDescriptions []string
	keys, macs, responses := make([][]byte, len(records)), make([][]byte, len(records)), make([][]byte, len(records))
	for i, r := range records {
		keys[i], macs[i], responses[i] = r.KeyHash, r.RequestMAC, r.Response
	}
	for i, t := range ts {
		ids[i], owners[i] = t.ID, t.OwnerID
		wallets[i], categories[i], receipts[i] = t.WalletID, t.CategoryID, t.ReceiptID
		currencies[i], descriptions[i] = t.Currency, t.Description
		amounts[i], scaled[i] = t.AmountMinor, t.AmountE4()
		dates[i], months[i], created[i] = t.Date, calendar.MonthOf(t.Date), t.CreatedAt
		payees[i], notes[i], tags[i] = t.Payee, t.Notes, strings.Join(t.Tags, ",")
		transfers[i], externals[i], imports[i], splitCounts[i] = t.TransferID, t.ExternalID, t.ImportID, int16(len(t.Splits))
		for j, s := range t.Splits {
			partItems, partPositions = append(partItems, int64(i+1)), append(partPositions, int16(j))
			partCategories = append(partCategories, s.CategoryID)
			partAmounts, partDescriptions = append(partAmounts, s.AmountMinor), append(partDescriptions, s.Description)
		}
	}
	return []any{
		ids, owners, wallets, categories, receipts, currencies, amounts, scaled, descriptions, dates, months, created,
		payees, notes, tags, transfers, externals, imports, splitCounts,
		events.IDs, events.Subjects, events.Data, events.Traceparents, keys, macs, responses,
		fmt.Sprintf("%dms", lockTimeout.Milliseconds()),
		partItems, partPositions, partCategories, partAmounts, partDescriptions,
	}
}

// applyPostings adds postings to balances and totals with one statement. The caller shares the
// owner's lock. It violates wallet_balances_amount_range or monthly_totals_amount_range if a sum
// would be out of range.
func applyPostings(ctx context.Context, q pg.Querier, postings []posting) error {
	owners, wallets, categories := make([]uuid.UUID, len(postings)), make([]uuid.UUID, len(postings)), make([]*uuid.UUID, len(postings))
	currencies, months := make([]string, len(postings)), make([]time.Time, len(postings))
	amounts, signs := make([]int64, len(postings)), make([]int64, len(postings))
	for i, p := range postings {
		owners[i], wallets[i], categories[i] = p.owner, p.wallet, p.category
		currencies[i], months[i], amounts[i], signs[i] = p.currency, p.month, p.amount, p.sign
	}
	_, err := q.Exec(ctx, `
		WITH posting AS (
			SELECT *
			FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::date[], $6::bigint[], $7::bigint[])
				AS p (owner_id, wallet_id, category_id, currency, month, amount_minor, sign)
		), `+applyPostingsSQL+`
		SELECT`, owners, wallets, categories, currencies, months, amounts, signs)
	if err != nil {
		return fmt.Errorf("applying %d postings: %w", len(postings), err)
	}
	return nil
}

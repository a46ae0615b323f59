package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
)

// transaction is a row of table transactions.
type transaction struct {
	ID      uuid.UUID
	OwnerID uuid.UUID `db:"owner_id"`
	// AmountMinor is in minor units and negative for an expense.
	AmountMinor int64 `db:"amount_minor"`
	Description string
	Date        time.Time
	Currency    string
	WalletID    uuid.UUID `db:"wallet_id"`
	CategoryID  uuid.UUID `db:"category_id"`
	// ReceiptID is nil unless the transaction was created from a receipt.
	ReceiptID *uuid.UUID `db:"receipt_id"`
	// Version starts at 1 and increases with each change. The ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// transactionColumns are the columns of a transaction t, in a form that pg.One and pg.All map to the struct.
const transactionColumns = `t.id, t.owner_id, t.amount_minor, t.description, t.date, t.currency, t.wallet_id, t.category_id,
	t.receipt_id, t.version, t.created_at, t.updated_at`

// amountE4 returns the amount in ten-thousandths of the major unit. Lists of several currencies are filtered and sorted by it.
func (t transaction) amountE4() int64 {
	n := t.AmountMinor
	for range mostDecimals - currencyOf(t.Currency).Decimals() {
		n *= 10
	}
	return n
}

// posting is the effect of a transaction on balances and totals. Sign 1 adds the transaction and -1 removes it.
type posting struct {
	transaction
	sign int64
}

// posting returns the posting that adds t.
func (t transaction) posting() posting { return posting{transaction: t, sign: 1} }

// inverse returns the posting that removes t.
func (t transaction) inverse() posting { return posting{transaction: t, sign: -1} }

// postsLike reports whether t and u have the same effect on balances and totals, so that a change from t to u needs no postings.
func (t transaction) postsLike(u transaction) bool {
	return t.WalletID == u.WalletID && t.CategoryID == u.CategoryID && t.Currency == u.Currency &&
		t.AmountMinor == u.AmountMinor && monthOf(t.Date).Equal(monthOf(u.Date))
}

// applyPostingsSQL contains CTEs that add the rows of a CTE named posting to balances and totals. They lock rows in the order of their
// keys, so that statements that change the same rows wait for each other instead of deadlocking.
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
			SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id, category_id, currency,
				sum(sign * greatest(amount_minor, 0))::bigint, sum(sign * greatest(-amount_minor, 0))::bigint, sum(sign)::bigint
			FROM posting
			GROUP BY owner_id, month, wallet_id, category_id, currency
			ORDER BY owner_id, month, wallet_id, category_id, currency
			ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
			SET income_minor = m.income_minor + EXCLUDED.income_minor, expense_minor = m.expense_minor + EXCLUDED.expense_minor,
				transaction_count = m.transaction_count + EXCLUDED.transaction_count
		)`

// insertTransactions inserts the transactions whose wallet and category belong to their owner, with balances, totals, events
// and idempotency records, in one statement, and returns their ids. events and records are parallel to ts. A transaction
// whose key was used before is not inserted; of several with the same key, only the first one is.
//
// The CTEs run in this order, because each reads the previous one:
//
//   - own: the rows whose wallet and category belong to their owner
//   - claim: inserts the idempotency records, or replaces those older than 24 hours. The unique index decides between requests
//   - accepted: the rows without a key, and those whose record was inserted
//   - locked: shares the owners' locks
//   - item: the accepted rows, after the locks
//   - posting, balance, total, event: the effects of the items
//
// lockTimeout applies to each lock; 0 means no timeout. The statement takes the locks of the idempotency keys first,
// then shares those of the owners (see ownerLock), each in the order of their keys. Its snapshot is older than these locks:
// a wallet or category that was deleted meanwhile violates a foreign key.
func insertTransactions(ctx context.Context, q pg.Querier, lockTimeout time.Duration, ts []transaction, events outbox.Rows, records []idem.Record) (map[uuid.UUID]bool, error) {
	type row struct{ ID uuid.UUID }
	written, err := pg.All[row](ctx, q, `
		WITH own AS MATERIALIZED (
			SELECT i.*
			FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::bigint[], $8::bigint[],
				$9::text[], $10::timestamptz[], $11::timestamptz[], $12::uuid[], $13::text[], $14::bytea[], $15::text[],
				$16::bytea[], $17::bytea[], $18::bytea[]) WITH ORDINALITY
				AS i (id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description, date,
					created_at, event_id, subject, data, traceparent, key_hash, request_mac, response, position),
				(SELECT set_config('lock_timeout', $19, true)) AS lock_timeout
			WHERE EXISTS (SELECT FROM wallets w WHERE w.owner_id = i.owner_id AND w.id = i.wallet_id)
				AND EXISTS (SELECT FROM categories c WHERE c.owner_id = i.owner_id AND c.id = i.category_id)
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
			FROM (SELECT DISTINCT `+ownerLock+` AS key FROM accepted ORDER BY key) AS o
		), item AS MATERIALIZED (
			SELECT accepted.*
			FROM accepted, (SELECT count(*) FROM locked) AS l
		), posting AS (
			SELECT owner_id, wallet_id, category_id, currency, date, amount_minor, 1 AS sign
			FROM item
		), `+applyPostingsSQL+`, event AS (
			INSERT INTO outbox (id, user_id, subject, data, traceparent)
			SELECT event_id, owner_id, subject, data, traceparent
			FROM item
			ORDER BY position
		)
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description,
			date, version, created_at, updated_at)
		SELECT id, owner_id, wallet_id, category_id, receipt_id, currency, amount_minor, amount_e4, description, date, 1,
			created_at, created_at
		FROM item
		RETURNING id`, insertArgs(lockTimeout, ts, events, records)...)
	if err != nil {
		return nil, fmt.Errorf("inserting %d transactions: %w", len(ts), err)
	}
	ids := make(map[uuid.UUID]bool, len(written))
	for _, r := range written {
		ids[r.ID] = true
	}
	return ids, nil
}

// insertArgs converts rows to arrays, one per column, in the order of the statement's parameters. The parameters are positional,
// because pgx would parse the statement for each execution to find named ones.
func insertArgs(lockTimeout time.Duration, ts []transaction, events outbox.Rows, records []idem.Record) []any {
	ids, owners := make([]uuid.UUID, len(ts)), make([]uuid.UUID, len(ts))
	wallets, categories, receipts := make([]uuid.UUID, len(ts)), make([]uuid.UUID, len(ts)), make([]*uuid.UUID, len(ts))
	currencies, descriptions := make([]string, len(ts)), make([]string, len(ts))
	amounts, scaled := make([]int64, len(ts)), make([]int64, len(ts))
	dates, created := make([]time.Time, len(ts)), make([]time.Time, len(ts))
	keys, macs, responses := make([][]byte, len(ts)), make([][]byte, len(ts)), make([][]byte, len(ts))
	for i, t := range ts {
		keys[i], macs[i], responses[i] = records[i].KeyHash, records[i].RequestMAC, records[i].Response
		ids[i], owners[i] = t.ID, t.OwnerID
		wallets[i], categories[i], receipts[i] = t.WalletID, t.CategoryID, t.ReceiptID
		currencies[i], descriptions[i] = t.Currency, t.Description
		amounts[i], scaled[i] = t.AmountMinor, t.amountE4()
		dates[i], created[i] = t.Date, t.CreatedAt
	}
	return []any{
		ids, owners, wallets, categories, receipts, currencies, amounts, scaled, descriptions, dates, created,
		events.IDs, events.Subjects, events.Data, events.Traceparents, keys, macs, responses,
		fmt.Sprintf("%dms", lockTimeout.Milliseconds()),
	}
}

// selectTransaction returns a transaction of any owner, or pgx.ErrNoRows. The caller checks the owner.
func selectTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (transaction, error) {
	t, err := pg.One[transaction](ctx, q, `SELECT `+transactionColumns+` FROM transactions t WHERE t.id = $1`, id)
	if err != nil {
		return transaction{}, fmt.Errorf("selecting transaction %s: %w", id, err)
	}
	return t, nil
}

// lockTransaction is selectTransaction with a lock that prevents changes until the transaction ends.
func lockTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (transaction, error) {
	t, err := pg.One[transaction](ctx, q, `SELECT `+transactionColumns+` FROM transactions t WHERE t.id = $1 FOR UPDATE`, id)
	if err != nil {
		return transaction{}, fmt.Errorf("locking transaction %s: %w", id, err)
	}
	return t, nil
}

// updateTransaction writes the changed fields and the version of t. The caller corrects balances and totals with applyPostings.
func updateTransaction(ctx context.Context, q pg.Querier, t transaction) error {
	_, err := q.Exec(ctx, `
		UPDATE transactions
		SET wallet_id = $3, category_id = $4, currency = $5, amount_minor = $6, amount_e4 = $7, description = $8, date = $9,
			version = $10, updated_at = $11
		WHERE id = $1 AND owner_id = $2`,
		t.ID, t.OwnerID, t.WalletID, t.CategoryID, t.Currency, t.AmountMinor, t.amountE4(), t.Description, t.Date, t.Version,
		t.UpdatedAt)
	if err != nil {
		return fmt.Errorf("updating transaction %s: %w", t.ID, err)
	}
	return nil
}

// deleteTransaction deletes the row of t. The caller corrects balances and totals with applyPostings.
func deleteTransaction(ctx context.Context, q pg.Querier, t transaction) error {
	_, err := q.Exec(ctx, `DELETE FROM transactions WHERE id = $1 AND owner_id = $2`, t.ID, t.OwnerID)
	if err != nil {
		return fmt.Errorf("deleting transaction %s: %w", t.ID, err)
	}
	return nil
}

// applyPostings adds postings to balances and totals with one statement. It violates wallet_balances_amount_range or
// monthly_totals_amount_range if a sum would be out of range.
func applyPostings(ctx context.Context, q pg.Querier, postings ...posting) error {
	owners, wallets, categories := make([]uuid.UUID, len(postings)), make([]uuid.UUID, len(postings)), make([]uuid.UUID, len(postings))
	currencies, dates := make([]string, len(postings)), make([]time.Time, len(postings))
	amounts, signs := make([]int64, len(postings)), make([]int64, len(postings))
	for i, p := range postings {
		owners[i], wallets[i], categories[i] = p.OwnerID, p.WalletID, p.CategoryID
		currencies[i], dates[i], amounts[i], signs[i] = p.Currency, p.Date, p.AmountMinor, p.sign
	}
	_, err := q.Exec(ctx, `
		WITH posting AS (
			SELECT *
			FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::bigint[], $7::bigint[])
				AS p (owner_id, wallet_id, category_id, currency, date, amount_minor, sign)
		), `+applyPostingsSQL+`
		SELECT`, owners, wallets, categories, currencies, dates, amounts, signs)
	if err != nil {
		return fmt.Errorf("applying %d postings: %w", len(postings), err)
	}
	return nil
}

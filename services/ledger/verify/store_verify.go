package verify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Difference is a stored sum that differs from the recomputed one. Amounts are in minor units.
// There are three kinds:
//
//   - a balance of a wallet: Month is nil. Income holds the amount, which may be negative. The
//     other values are zero
//   - a monthly total: Month is its first day, and CategoryID is set. Only these have refunds and
//     further parts
//   - the transfers of a month: Month is its first day, and CategoryID is nil. Income is the amount
//     moved into the wallet, and Expense the amount moved out of it
type Difference struct {
	WalletID   uuid.UUID  `db:"wallet_id"`
	CategoryID *uuid.UUID `db:"category_id"`
	Month      *time.Time
	Currency   string
	// The stored fields are the values in the tables, and the computed fields the values that
	// follow from the transactions.
	StoredIncome    int64 `db:"stored_income"`
	StoredExpense   int64 `db:"stored_expense"`
	StoredCount     int64 `db:"stored_count"`
	ComputedIncome  int64 `db:"computed_income"`
	ComputedExpense int64 `db:"computed_expense"`
	ComputedCount   int64 `db:"computed_count"`
	// Refund and Further are the corrections of a total for its parts: the columns refund_minor and
	// further_parts (ADR 103).
	StoredRefund    int64 `db:"stored_refund"`
	StoredFurther   int64 `db:"stored_further"`
	ComputedRefund  int64 `db:"computed_refund"`
	ComputedFurther int64 `db:"computed_further"`
}

// computedSums contains CTEs with the balances, the monthly totals and the monthly transfers of the
// owner $1, recomputed from opening balances, transactions and splits. The copies of the
// transaction in its splits are not used, because they may be wrong. The expressions must agree
// with applyPostingsSQL and the triggers on splits, for example the month in UTC: otherwise correct
// sums would be reported, and a repair would damage them.
const computedSums = `computed_balances AS MATERIALIZED (
			SELECT owner_id, wallet_id, currency, sum(amount_minor)::bigint AS amount_minor
			FROM (
				SELECT owner_id, id AS wallet_id, currency, initial_minor AS amount_minor
				FROM wallets
				WHERE owner_id = $1
				UNION ALL
				SELECT owner_id, wallet_id, currency, amount_minor
				FROM transactions
				WHERE owner_id = $1
			) AS m
			GROUP BY owner_id, wallet_id, currency
		), computed_totals AS MATERIALIZED (
			SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id,
				category_id, currency,
				sum(greatest(amount_minor, 0))::bigint AS income_minor,
				sum(greatest(-amount_minor, 0))::bigint AS expense_minor,
				count(*) AS transaction_count,
				coalesce(sum(abs(amount_minor)) FILTER (WHERE refund), 0)::bigint AS refund_minor,
				sum(further)::bigint AS further_parts
			FROM (
				SELECT owner_id, wallet_id, category_id, currency, date, amount_minor,
					false AS refund, 0 AS further
				FROM transactions
				WHERE owner_id = $1 AND category_id IS NOT NULL
				UNION ALL
				SELECT t.owner_id, t.wallet_id, s.category_id, t.currency, t.date, s.amount_minor,
					sign(s.amount_minor) <> sign(t.amount_minor),
					CASE WHEN s.position > 0 THEN 1 ELSE 0 END
				FROM splits s
				JOIN transactions t ON t.owner_id = $1 AND t.id = s.transaction_id
				WHERE s.owner_id = $1
			) AS m
			GROUP BY owner_id, month, wallet_id, category_id, currency
		), computed_transfers AS MATERIALIZED (
			SELECT owner_id, date_trunc('month', date AT TIME ZONE 'UTC')::date AS month, wallet_id,
				currency,
				sum(greatest(amount_minor, 0))::bigint AS in_minor,
				sum(greatest(-amount_minor, 0))::bigint AS out_minor,
				count(*) AS transfer_count
			FROM transactions
			WHERE owner_id = $1 AND (transfer_id IS NOT NULL OR adjustment)
			GROUP BY owner_id, month, wallet_id, currency
		)`

// selectDifferences returns the balances and totals of an owner that differ from recomputed ones.
// It is one statement and so has one snapshot: a write commits a transaction together with its
// sums, so concurrent writes cause no differences. A total without transactions may be zero or
// absent, because deletions leave rows of zero. The FULL JOINs also find sums that are stored
// without transactions, and transactions without a stored sum. An owner whose rows are being erased
// has none, because each transaction of an erasure deletes some rows only.
func selectDifferences(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]Difference, error) {
	return pg.All[Difference](ctx, q, `
		WITH `+computedSums+`
		SELECT *
		FROM (
			SELECT wallet_id, NULL::uuid AS category_id, NULL::date AS month, currency,
				coalesce(b.amount_minor, 0) AS stored_income, 0::bigint AS stored_expense,
				0::bigint AS stored_count,
				coalesce(c.amount_minor, 0) AS computed_income, 0::bigint AS computed_expense,
				0::bigint AS computed_count,
				0::bigint AS stored_refund, 0::bigint AS stored_further,
				0::bigint AS computed_refund, 0::bigint AS computed_further
			FROM (SELECT * FROM wallet_balances WHERE owner_id = $1) AS b
			FULL JOIN computed_balances c USING (owner_id, wallet_id, currency)
			WHERE b.amount_minor IS DISTINCT FROM coalesce(c.amount_minor, 0)
			UNION ALL
			SELECT wallet_id, category_id, month, currency,
				coalesce(m.income_minor, 0), coalesce(m.expense_minor, 0),
				coalesce(m.transaction_count, 0),
				coalesce(c.income_minor, 0), coalesce(c.expense_minor, 0),
				coalesce(c.transaction_count, 0),
				coalesce(m.refund_minor, 0), coalesce(m.further_parts, 0),
				coalesce(c.refund_minor, 0), coalesce(c.further_parts, 0)
			FROM (SELECT * FROM monthly_totals WHERE owner_id = $1) AS m
			FULL JOIN computed_totals c USING (owner_id, month, wallet_id, category_id, currency)
			WHERE (m.income_minor, m.expense_minor,
					m.transaction_count, m.refund_minor, m.further_parts)
				IS DISTINCT FROM (coalesce(c.income_minor, 0), coalesce(c.expense_minor, 0),
					coalesce(c.transaction_count, 0),
					coalesce(c.refund_minor, 0), coalesce(c.further_parts, 0))
			UNION ALL
			SELECT wallet_id, NULL, month, currency,
				coalesce(m.in_minor, 0), coalesce(m.out_minor, 0), coalesce(m.transfer_count, 0),
				coalesce(c.in_minor, 0), coalesce(c.out_minor, 0), coalesce(c.transfer_count, 0),
				0, 0, 0, 0
			FROM (SELECT * FROM monthly_transfers WHERE owner_id = $1) AS m
			FULL JOIN computed_transfers c USING (owner_id, month, wallet_id, currency)
			WHERE (m.in_minor, m.out_minor, m.transfer_count)
				IS DISTINCT FROM (coalesce(c.in_minor, 0), coalesce(c.out_minor, 0),
					coalesce(c.transfer_count, 0))
		) AS d
		WHERE NOT EXISTS (SELECT FROM erasures WHERE owner_id = $1)`, owner)
}

// repairBalances replaces the balances of an owner with recomputed ones. The caller holds the
// owner's lock. The two writes of balances concern different rows: surplus rows have no recomputed
// balance, and the inserted ones do. The wallets get the owner's number, so that the owner's
// devices receive the new balances.
func repairBalances(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH `+computedSums+`, surplus AS (
			DELETE FROM wallet_balances b
			WHERE owner_id = $1 AND NOT EXISTS (
				SELECT FROM computed_balances c
				WHERE c.wallet_id = b.wallet_id AND c.currency = b.currency)
			RETURNING wallet_id
		), repaired AS (
			INSERT INTO wallet_balances AS b (owner_id, wallet_id, currency, amount_minor)
			SELECT owner_id, wallet_id, currency, amount_minor
			FROM computed_balances
			ON CONFLICT (owner_id, wallet_id, currency) DO UPDATE
			SET amount_minor = EXCLUDED.amount_minor
			WHERE b.amount_minor <> EXCLUDED.amount_minor
			RETURNING wallet_id
		)
		UPDATE wallets
		SET seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND id IN (
			SELECT wallet_id FROM surplus UNION SELECT wallet_id FROM repaired)`, owner)
}

// repairTransfers replaces the monthly transfers of an owner with recomputed ones. The caller holds
// the owner's lock. The condition of the update leaves correct rows unwritten, so a repair of one
// sum does not rewrite all of them.
func repairTransfers(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH `+computedSums+`, surplus AS (
			DELETE FROM monthly_transfers m
			WHERE owner_id = $1 AND NOT EXISTS (
				SELECT FROM computed_transfers c
				WHERE (c.month, c.wallet_id, c.currency) = (m.month, m.wallet_id, m.currency))
		)
		INSERT INTO monthly_transfers AS m
			(owner_id, month, wallet_id, currency, in_minor, out_minor, transfer_count)
		SELECT owner_id, month, wallet_id, currency, in_minor, out_minor, transfer_count
		FROM computed_transfers
		ON CONFLICT (owner_id, month, wallet_id, currency) DO UPDATE
		SET in_minor = EXCLUDED.in_minor, out_minor = EXCLUDED.out_minor,
			transfer_count = EXCLUDED.transfer_count
		WHERE (m.in_minor, m.out_minor, m.transfer_count)
			<> (EXCLUDED.in_minor, EXCLUDED.out_minor, EXCLUDED.transfer_count)`, owner)
}

// repairTotals replaces the monthly totals of an owner with recomputed ones, like repairTransfers.
// The caller holds the owner's lock, and has repaired the parts, because a change of a part also
// changes the totals.
func repairTotals(ctx context.Context, q pg.Querier, owner uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH `+computedSums+`, surplus AS (
			DELETE FROM monthly_totals m
			WHERE owner_id = $1 AND NOT EXISTS (
				SELECT FROM computed_totals c
				WHERE (c.month, c.wallet_id, c.category_id, c.currency)
					= (m.month, m.wallet_id, m.category_id, m.currency))
		)
		INSERT INTO monthly_totals AS m
			(owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor,
			transaction_count, refund_minor, further_parts)
		SELECT owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor,
			transaction_count, refund_minor, further_parts
		FROM computed_totals
		ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
		SET income_minor = EXCLUDED.income_minor, expense_minor = EXCLUDED.expense_minor,
			transaction_count = EXCLUDED.transaction_count, refund_minor = EXCLUDED.refund_minor,
			further_parts = EXCLUDED.further_parts
		WHERE (m.income_minor, m.expense_minor,
				m.transaction_count, m.refund_minor, m.further_parts)
			<> (EXCLUDED.income_minor, EXCLUDED.expense_minor,
				EXCLUDED.transaction_count, EXCLUDED.refund_minor, EXCLUDED.further_parts)`, owner)
}

// selectOwnerAfter returns the owner with the next greater id that has wallets, totals or
// transfers, or pgx.ErrNoRows after the last one. Each branch reads one row of a primary key.
// Owners of transactions have wallets, and totals without wallets are differences.
func selectOwnerAfter(ctx context.Context, q pg.Querier, owner uuid.UUID) (uuid.UUID, error) {
	return pg.Value[uuid.UUID](ctx, q, `
		SELECT owner_id
		FROM (
			(SELECT owner_id FROM wallets WHERE owner_id > $1 ORDER BY owner_id LIMIT 1)
			UNION ALL
			(SELECT owner_id FROM monthly_totals WHERE owner_id > $1 ORDER BY owner_id LIMIT 1)
			UNION ALL
			(SELECT owner_id FROM monthly_transfers WHERE owner_id > $1 ORDER BY owner_id LIMIT 1)
		) AS o
		ORDER BY owner_id
		LIMIT 1`, owner)
}

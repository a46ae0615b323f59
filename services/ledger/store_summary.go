package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// selectFigures reads all parts of a summary in one round trip and on one snapshot, so that they agree.
func selectFigures(ctx context.Context, db *pgxpool.Pool, q summaryQuestion) (figures, error) {
	var f figures
	batch := &pgx.Batch{}
	queueMovements(batch, q, &f)
	queuePrevious(batch, q, &f.previous)
	queueTrend(batch, q, &f.trend)
	queueBalances(batch, q, &f.balances)
	queueLargest(batch, q, &f.largest)
	queueRecent(batch, q, &f.recent)
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, db, snapshot, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		return figures{}, fmt.Errorf("selecting a summary: %w", err)
	}
	return f, nil
}

// movementsOf is what moved in a window: kept totals for its whole months, and the transactions of what is left before
// and after them, so that the cost depends on neither the window's length nor the history's.
const movementsOf = `(
		SELECT wallet_id, category_id, currency, income_minor, expense_minor, transaction_count
		FROM monthly_totals
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, category_id, currency, greatest(amount_minor, 0), greatest(-amount_minor, 0), 1
		FROM transactions
		WHERE owner_id = @owner AND date >= @head_from AND date < @head_end AND (@currency = '' OR currency = @currency)
		UNION ALL
		SELECT wallet_id, category_id, currency, greatest(amount_minor, 0), greatest(-amount_minor, 0), 1
		FROM transactions
		WHERE owner_id = @owner AND date >= @tail_from AND date < @tail_end AND (@currency = '' OR currency = @currency)
	)`

// args name the bounds of a window of the question.
func (q summaryQuestion) args(w window) pgx.NamedArgs {
	head, months, tail := w.parts()
	touched := w.touchedMonths()
	return pgx.NamedArgs{
		"owner": q.owner, "currency": q.currency, "from": w.from, "end": w.end,
		"head_from": head.from, "head_end": head.end, "tail_from": tail.from, "tail_end": tail.end,
		"months_from": months.from, "months_end": months.end, "touched_from": touched.from, "touched_end": touched.end,
	}
}

// queueMovements adds up the window by currency, by category and by wallet in one pass.
func queueMovements(batch *pgx.Batch, q summaryQuestion, f *figures) {
	type row struct {
		movement
		WalletID   *uuid.UUID `db:"wallet_id"`
		CategoryID *uuid.UUID `db:"category_id"`
	}
	batch.Queue(`
		SELECT s.wallet_id, s.category_id, coalesce(c.name, '') AS name, s.currency, s.income, s.expense, s.count
		FROM (
			SELECT wallet_id, category_id, currency,
				sum(income_minor)::bigint AS income, sum(expense_minor)::bigint AS expense, sum(transaction_count)::bigint AS count
			FROM `+movementsOf+` AS m
			GROUP BY GROUPING SETS ((currency), (category_id, currency), (wallet_id, currency))
		) AS s
		LEFT JOIN categories c ON c.owner_id = @owner AND c.id = s.category_id
		WHERE s.count > 0`, q.args(q.window)).Query(func(rows pgx.Rows) error {
		moved, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[row])
		for _, r := range moved {
			switch {
			case r.CategoryID != nil:
				r.ID = *r.CategoryID
				f.categories = append(f.categories, r.movement)
			case r.WalletID != nil:
				r.ID = *r.WalletID
				f.wallets = append(f.wallets, r.movement)
			default:
				f.totals = append(f.totals, r.movement)
			}
		}
		return err
	})
}

func queuePrevious(batch *pgx.Batch, q summaryQuestion, into *[]movement) {
	batch.Queue(`
		SELECT currency,
			sum(income_minor)::bigint AS income, sum(expense_minor)::bigint AS expense, sum(transaction_count)::bigint AS count
		FROM `+movementsOf+` AS m
		GROUP BY currency
		HAVING sum(transaction_count) > 0`, q.args(q.window.previous())).Query(collect(into))
}

func queueTrend(batch *pgx.Batch, q summaryQuestion, into *[]movement) {
	batch.Queue(`
		SELECT month, currency,
			sum(income_minor)::bigint AS income, sum(expense_minor)::bigint AS expense, sum(transaction_count)::bigint AS count
		FROM monthly_totals
		WHERE owner_id = @owner AND month >= @months_from AND month < @months_end AND (@currency = '' OR currency = @currency)
		GROUP BY month, currency
		HAVING sum(transaction_count) > 0`, q.args(q.window.trend())).Query(collect(into))
}

// queueBalances leaves out what a wallet has no transaction in any more, unless it is its own currency.
func queueBalances(batch *pgx.Batch, q summaryQuestion, into *[]walletBalance) {
	batch.Queue(`
		SELECT w.id AS wallet_id, w.name, b.currency, b.amount_minor AS balance,
			(sum(b.amount_minor) OVER (PARTITION BY b.currency))::bigint AS together
		FROM wallets w
		JOIN wallet_balances b ON b.owner_id = w.owner_id AND b.wallet_id = w.id
		WHERE w.owner_id = @owner AND (@currency = '' OR b.currency = @currency)
			AND (b.currency = w.currency OR b.amount_minor <> 0 OR EXISTS (
				SELECT FROM monthly_totals m
				WHERE m.owner_id = b.owner_id AND m.wallet_id = b.wallet_id AND m.currency = b.currency AND m.transaction_count > 0
			))`, q.args(q.window)).Query(collect(into))
}

// queueLargest takes the largest expenses of each currency and month; currencies can only be compared once their decimals are
// known. The interval keeps the planner, which does not know whose months are long, from the index by date.
func queueLargest(batch *pgx.Batch, q summaryQuestion, into *[]transaction) {
	batch.Queue(`
		SELECT t.*
		FROM (
			SELECT DISTINCT month::timestamp AS month, currency
			FROM monthly_totals
			WHERE owner_id = @owner AND month >= @touched_from AND month < @touched_end AND expense_minor > 0
				AND (@currency = '' OR currency = @currency)
		) AS m
		CROSS JOIN LATERAL (
			SELECT `+transactionColumns+`
			FROM transactions t
			WHERE t.owner_id = @owner AND date_trunc('month', t.date AT TIME ZONE 'UTC') = m.month AND t.currency = m.currency
				AND t.date + interval '0' >= @from AND t.date + interval '0' < @end AND t.amount_minor < 0
			ORDER BY t.amount_minor, t.date DESC, t.id DESC
			LIMIT 5
		) AS t`, q.args(q.window)).Query(collect(into))
}

func queueRecent(batch *pgx.Batch, q summaryQuestion, into *[]transaction) {
	batch.Queue(`
		SELECT `+transactionColumns+`
		FROM transactions t
		WHERE t.owner_id = @owner AND t.date >= @from AND t.date < @end AND (@currency = '' OR t.currency = @currency)
		ORDER BY t.date DESC, t.id DESC
		LIMIT 5`, q.args(q.window)).Query(collect(into))
}

func collect[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var err error
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
		return err
	}
}

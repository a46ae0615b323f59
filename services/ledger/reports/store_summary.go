package reports

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/calendar"
)

// selectFigures reads all parts of a summary in one round trip and on one snapshot, so that they
// agree with each other. If a sum does not fit into a bigint, it returns an error that
// pg.IsOutOfRange recognizes.
func selectFigures(ctx context.Context, db *pgxpool.Pool, query summaryQuery) (figures, error) {
	var result figures
	batch := &pgx.Batch{}
	queueMovements(batch, query, &result)
	queuePrevious(batch, query, &result.previous)
	queueTrend(batch, query, &result.trend)
	queueBalances(batch, query, &result.balances)
	queueTransfers(batch, query, &result.transfers)
	queueLargest(batch, query, &result.largest)
	queueRecent(batch, query, &result.recent)
	if query.daily {
		queueDays(batch, query, &result.days)
	}
	if query.tags {
		queueTags(batch, query, &result.tags)
	}
	if query.distributed {
		// A distributed database selects the shard by the owner before it plans a statement.
		for _, queued := range batch.QueuedQueries {
			queued.SQL = strings.ReplaceAll(queued.SQL, hidden.Replace("@owner"), "@owner::uuid")
		}
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	send := func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() }
	err := pgx.BeginTxFunc(ctx, db, snapshot, send)
	if err != nil {
		return figures{}, fmt.Errorf("selecting a summary: %w", err)
	}
	return result, nil
}

// hidden makes a subquery of each argument of a statement. With the values themselves, PostgreSQL
// may plan the statement for each request, which takes longer than its execution: the windows
// without rows, such as the time after the current month, are expected to cost less than average
// ones. The values in subqueries are unknown to the planner. The casts are necessary, because a
// parameter that is a subquery's only expression would have the type text.
var hidden = func() *strings.Replacer {
	types := map[string]string{
		"owner": "uuid", "currency": "text", "months_from": "date", "months_end": "date",
		"touched_from": "date", "touched_end": "date", "later_months": "date",
	}
	var pairs []string
	for name := range (summaryQuery{}).args(calendar.Period{}) {
		sqlType := cmp.Or(types[name], "timestamptz")
		pairs = append(pairs, "@"+name, "(SELECT @"+name+"::"+sqlType+")")
	}
	return strings.NewReplacer(pairs...)
}()

// args returns the arguments of the statements for a period.
func (q summaryQuery) args(p calendar.Period) pgx.NamedArgs {
	head, months, tail := p.Parts()
	touched, later := p.TouchedMonths(), laterMonths(p)
	return pgx.NamedArgs{
		"owner": q.owner, "currency": q.currency, "from": p.From, "end": p.End,
		"head_from": head.From, "head_end": head.End, "tail_from": tail.From, "tail_end": tail.End,
		"months_from": months.From, "months_end": months.End,
		"touched_from": touched.From, "touched_end": touched.End,
		"later_from": later, "later_months": later,
	}
}

// laterMonths returns the first day of the first calendar month that begins at the end of a period
// or later.
func laterMonths(p calendar.Period) time.Time {
	month := calendar.MonthOf(p.End)
	if month.Before(p.End) {
		month = month.AddDate(0, 1, 0)
	}
	return month
}

// movementsStatements return the sums by currency, by category and by wallet. In each row, the
// columns that it is not grouped by are NULL. Totals whose transactions were all deleted remain in
// the table with a count of zero, and are omitted.
var movementsStatements = byParts(func(p parts) string {
	return `
	SELECT s.wallet_id, s.category_id, coalesce(c.name, '') AS name, s.currency, s.income,
		s.expense, s.count
	FROM (
		SELECT wallet_id, category_id, currency,
			sum(income)::bigint AS income, sum(expense)::bigint AS expense,
			sum(count)::bigint AS count, sum(moved) AS moved
		FROM ` + p.movements() + ` AS m
		GROUP BY GROUPING SETS ((currency), (category_id, currency), (wallet_id, currency))
	) AS s
	LEFT JOIN categories c ON c.owner_id = @owner AND c.id = s.category_id
	WHERE s.moved > 0`
})

// queueMovements adds up the window by currency, by category and by wallet in one pass.
func queueMovements(batch *pgx.Batch, query summaryQuery, into *figures) {
	type row struct {
		movement
		WalletID   *uuid.UUID `db:"wallet_id"`
		CategoryID *uuid.UUID `db:"category_id"`
	}
	sql := movementsStatements[partsOf(query.period)]
	batch.Queue(sql, query.args(query.period)).Query(func(rows pgx.Rows) error {
		groups, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[row])
		for _, found := range groups {
			switch {
			case found.CategoryID != nil:
				found.ID = *found.CategoryID
				into.categories = append(into.categories, found.movement)
			case found.WalletID != nil:
				found.ID = *found.WalletID
				into.wallets = append(into.wallets, found.movement)
			default:
				into.totals = append(into.totals, found.movement)
			}
		}
		return err
	})
}

// previousStatements return the sums by currency of a window. Balances are not read:
// openingBalances computes them.
var previousStatements = byParts(func(p parts) string {
	return `
	SELECT currency, sum(income)::bigint AS income, sum(expense)::bigint AS expense,
		sum(count)::bigint AS count
	FROM ` + p.movements() + ` AS m
	GROUP BY currency
	HAVING sum(moved) > 0`
})

// queuePrevious adds up the window that ends where the requested one starts.
func queuePrevious(batch *pgx.Batch, q summaryQuery, into *[]movement) {
	previous := q.period.Previous()
	sql := previousStatements[partsOf(previous)]
	batch.Queue(sql, q.args(previous)).Query(collect(into))
}

// trendStatement reads monthly totals only, because a trend consists of whole months.
var trendStatement = hidden.Replace(`
	SELECT month, currency, sum(income_minor - refund_minor)::bigint AS income,
		sum(expense_minor - refund_minor)::bigint AS expense,
		sum(transaction_count - further_parts)::bigint AS count
	FROM monthly_totals
	WHERE owner_id = @owner AND month >= @months_from AND month < @months_end
		AND (@currency = '' OR currency = @currency)
	GROUP BY month, currency
	HAVING sum(transaction_count) > 0`)

// queueTrend adds up the months of the trend by currency.
func queueTrend(batch *pgx.Batch, q summaryQuery, into *[]movement) {
	batch.Queue(trendStatement, q.args(trend(q.period))).Query(collect(into))
}

// balancesStatement returns a row per wallet and currency. The window function adds the total of
// all wallets in the currency. An opening balance is a movement at the start of its opening day: in
// the window it is opened, and after the window the balance excludes it. A wallet without an
// opening day has always had its opening balance. days selects the transactions of the days between
// the window and the later months.
func balancesStatement(days string) string {
	return hidden.Replace(`
	SELECT wallet_id, name, currency, own, opened, balance::bigint AS balance,
		(sum(balance) OVER (PARTITION BY currency))::bigint AS total
	FROM (
		SELECT w.id AS wallet_id, w.name, b.currency, b.currency = w.currency AS own,
			CASE WHEN opened.at >= @from AND opened.at < @end
				THEN w.initial_minor ELSE 0 END AS opened,
			b.amount_minor - coalesce(later.net, 0)
				- CASE WHEN opened.at >= @end THEN w.initial_minor ELSE 0 END AS balance
		FROM wallets w
		JOIN wallet_balances b ON b.owner_id = w.owner_id AND b.wallet_id = w.id
		LEFT JOIN LATERAL (SELECT w.opening_date::timestamp AT TIME ZONE 'UTC' AS at) AS opened
			ON b.currency = w.currency
		LEFT JOIN (
			SELECT wallet_id, currency, sum(net) AS net
			FROM (
				SELECT wallet_id, currency, income_minor - expense_minor AS net
				FROM monthly_totals
				WHERE owner_id = @owner AND month >= @later_months
				UNION ALL
				SELECT wallet_id, currency, in_minor - out_minor
				FROM monthly_transfers
				WHERE owner_id = @owner AND month >= @later_months` + days + `
			) AS m
			GROUP BY wallet_id, currency
		) AS later ON later.wallet_id = b.wallet_id AND later.currency = b.currency
		WHERE w.owner_id = @owner AND (@currency = '' OR b.currency = @currency)
	) AS held`)
}

// The statements of windows that end with a month, and of all others.
var (
	balancesOfMonth = balancesStatement("")
	balancesOfDays  = balancesStatement(`
				UNION ALL
				SELECT wallet_id, currency, amount_minor
				FROM transactions
				WHERE owner_id = @owner AND date >= @end AND date < @later_from`)
)

// queueBalances reads the balances at the end of the window: the current balances minus the later
// movements. The movements are the opening balances, the totals and transfers of whole months, and
// the transactions in the rest of the window's last month. So the default window, which usually has
// nothing after it, costs two index lookups.
func queueBalances(batch *pgx.Batch, q summaryQuery, into *[]walletBalance) {
	sql := balancesOfDays
	if q.period.End.Equal(laterMonths(q.period)) {
		sql = balancesOfMonth
	}
	batch.Queue(sql, q.args(q.period)).Query(collect(into))
}

// collect returns a function that reads the rows of a queued statement into a slice.
func collect[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var err error
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[T])
		return err
	}
}

package reports

import (
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// largestStatement orders its subquery like the index transactions_month_expense. The condition on
// the month must contain the indexed expression. Its type is timestamp, so the month is cast to
// timestamp.
var largestStatement = hidden.Replace(`
	SELECT ` + posting.TransactionColumns + `
	FROM (
		SELECT t.*, row_number() OVER (
			PARTITION BY t.currency ORDER BY t.amount_minor, t.date DESC, t.id DESC) AS place
		FROM (
			SELECT DISTINCT month::timestamp AS month, currency
			FROM monthly_totals
			WHERE owner_id = @owner AND month >= @touched_from AND month < @touched_end
				AND expense_minor > 0
				AND (@currency = '' OR currency = @currency)
		) AS m
		CROSS JOIN LATERAL (
			SELECT ` + posting.TransactionColumns + `
			FROM transactions t
			WHERE t.owner_id = @owner AND date_trunc('month', t.date AT TIME ZONE 'UTC') = m.month
				AND t.currency = m.currency
				AND t.date + interval '0' >= @from AND t.date + interval '0' < @end
				AND t.amount_minor < 0
				AND t.transfer_id IS NULL AND NOT t.adjustment
			ORDER BY t.amount_minor, t.date DESC, t.id DESC
			LIMIT 5
		) AS t
	) AS t
	WHERE t.place <= 5
	ORDER BY t.currency, t.place`)

// queueLargest selects the largest expenses of each currency among the largest of each of its
// months. The interval keeps the planner, which does not know which users have long months, from
// the index by date.
func queueLargest(batch *pgx.Batch, q summaryQuery, into *[]posting.Transaction) {
	batch.Queue(largestStatement, q.args(q.period)).Query(collect(into))
}

// recentStatement can read the index transactions_owner_date backwards and stop after five rows.
var recentStatement = hidden.Replace(`
	SELECT ` + posting.TransactionColumns + `
	FROM transactions t
	WHERE t.owner_id = @owner AND t.date >= @from AND t.date < @end
		AND (@currency = '' OR t.currency = @currency)
		AND t.transfer_id IS NULL AND NOT t.adjustment
	ORDER BY t.date DESC, t.id DESC
	LIMIT 5`)

func queueRecent(batch *pgx.Batch, q summaryQuery, into *[]posting.Transaction) {
	batch.Queue(recentStatement, q.args(q.period)).Query(collect(into))
}

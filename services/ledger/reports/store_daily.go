package reports

import (
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// day contains the totals of a day (UTC) in one currency, both positive and in minor units.
type day struct {
	Day             time.Time
	Currency        string
	Income, Expense int64
	Count           int64
}

// dailyStatement reads the transactions of a window, except transfers and adjustments, from the
// index transactions_owner_date, in its order, so that PostgreSQL groups them by day without
// sorting all of them. It reads one more than a window may have. It includes all currencies, so
// that the limit applies to the rows that are read.
var dailyStatement = hidden.Replace(`
	SELECT day, currency, sum(greatest(amount_minor, 0))::bigint AS income,
		sum(greatest(-amount_minor, 0))::bigint AS expense,
		count(*) AS count
	FROM (
		SELECT (date AT TIME ZONE 'UTC')::date AS day, currency, amount_minor
		FROM transactions
		WHERE owner_id = @owner AND date >= @from AND date < @end AND transfer_id IS NULL
			AND NOT adjustment
		ORDER BY date, id
		LIMIT ` + strconv.Itoa(maxReadTransactions+1) + `
	) AS t
	GROUP BY day, currency
	ORDER BY day, currency`)

func queueDays(batch *pgx.Batch, q summaryQuery, into *[]day) {
	batch.Queue(dailyStatement, q.args(q.period)).Query(collect(into))
}

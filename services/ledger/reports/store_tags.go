package reports

import (
	"strconv"

	"github.com/jackc/pgx/v5"
)

// tagged contains the totals of a tag in one currency, both positive and in minor units. The row of
// an empty name has the transactions without tags.
type tagged struct {
	Name, Currency  string
	Income, Expense int64
	Count           int64
	// Read is the number of transactions whose first tag is this one. A transaction with several
	// tags is in several rows of Count and in one of Read, so the numbers of Read add up to the
	// transactions that were read.
	Read int64
}

// tagsStatement reads the transactions of a window, except transfers and adjustments, from the
// index transactions_owner_date. It reads one more than a window may have. It includes those
// without tags and all currencies, so that the limit applies to the rows that are read.
var tagsStatement = hidden.Replace(`
	SELECT coalesce(g.name, t.key, '') AS name, t.currency, t.income, t.expense, t.count, t.read
	FROM (
		SELECT u.key, t.currency, sum(greatest(t.amount_minor, 0))::bigint AS income,
			sum(greatest(-t.amount_minor, 0))::bigint AS expense,
			count(*) AS count, count(*) FILTER (WHERE u.place IS NULL OR u.place = 1) AS read
		FROM (
			SELECT tags, currency, amount_minor
			FROM transactions
			WHERE owner_id = @owner AND date >= @from AND date < @end AND transfer_id IS NULL
				AND NOT adjustment
			ORDER BY date, id
			LIMIT ` + strconv.Itoa(maxReadTransactions+1) + `
		) AS t
		LEFT JOIN LATERAL unnest(t.tags) WITH ORDINALITY AS u (key, place) ON true
		GROUP BY u.key, t.currency
	) AS t
	LEFT JOIN tags g ON g.owner_id = @owner AND g.key = t.key`)

func queueTags(batch *pgx.Batch, q summaryQuery, into *[]tagged) {
	batch.Queue(tagsStatement, q.args(q.period)).Query(collect(into))
}

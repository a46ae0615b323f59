package series

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// maxRows is the maximum number of transactions that a report reads. Adding up so many takes about
// 0.1 s.
const maxRows = 100_000

// row contains the sums of an interval in minor units: of all transactions, or of a group.
type row struct {
	// Beyond is the date of the newest transaction that the report does not read, or nil if it
	// reads all, and Currencies are those of its transactions. They are the same in all rows.
	Beyond     *time.Time
	Currencies []string
	// Bucket is the number of the interval, from 1. A report without transactions has one row, with
	// the bucket 0.
	Bucket int
	// Place is the place of the group, from 1. It is 0 for all transactions, and the number after
	// that of the last group for the sum of all others.
	Place int
	// Groups is the number of all groups.
	Groups                 int64
	Key, Name              string
	Income, Expense, Count int64
}

// selectSeries returns the sums of a report, by place. The totals come first. If a sum does not fit
// into a bigint, it returns an error that pg.IsOutOfRange recognizes. The plan of a report that
// reads transactions depends on the values, as for the totals of a list.
func selectSeries(ctx context.Context, q pg.Querier, asked query) ([]row, error) {
	s := asked.source()
	return pg.All[row](ctx, q, s.statement(asked),
		slices.Insert(s.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
}

// source is the SQL of the movements of a report, with a row per transaction, part or monthly
// total, and per group. Its columns: the bucket, the key and a name of the group, first (false in
// further rows of a transaction with several tags), and those of posting.MonthlyMovements.
type source struct {
	movements, beyond string
	args              []any
	// owner is the parameter of the owner.
	owner string
}

// param adds an argument, and returns its parameter.
func (s *source) param(value any, sqlType string) string {
	s.args = append(s.args, value)
	return fmt.Sprintf("$%d::%s", len(s.args), sqlType)
}

func (q query) source() *source {
	s := &source{}
	starts := make([]time.Time, len(q.intervals))
	for i, interval := range q.intervals {
		starts[i] = interval.From
	}
	if q.months() {
		s.ofMonths(q, starts)
	} else {
		s.ofRows(q, starts)
	}
	return s
}

// ofMonths reads the monthly totals, whose cost does not depend on the number of transactions.
func (s *source) ofMonths(q query, starts []time.Time) {
	s.owner, s.beyond = s.param(q.owner, "uuid"), "NULL::timestamptz"
	key := "''"
	switch q.groupBy {
	case byCategory:
		key = "category_id::text"
	case byWallet:
		key = "wallet_id::text"
	}
	ids := q.filter.IDs()
	where := ""
	if len(ids.Wallets) > 0 {
		where += " AND wallet_id = ANY(" + s.param(ids.Wallets, "uuid[]") + ")"
	}
	if len(ids.Categories) > 0 {
		where += " AND category_id = ANY(" + s.param(ids.Categories, "uuid[]") + ")"
	}
	if q.currency != "" {
		where += " AND currency = " + s.param(q.currency, "text")
	}
	s.movements = fmt.Sprintf(`
		SELECT width_bucket(month, %s) AS bucket, %s AS key, '' AS name, true AS first, currency,
			`+posting.MonthlyMovements+`
		FROM monthly_totals
		WHERE owner_id = %s AND month >= %s AND month < %s AND transaction_count > 0%s`,
		s.param(starts, "date[]"), key, s.owner, s.param(q.period.From, "date"),
		s.param(q.period.End, "date"), where)
}

// ofRows reads the transactions of the filter, and the parts of those that are split if categories
// matter.
func (s *source) ofRows(q query, starts []time.Time) {
	rows := q.filter.Rows(maxRows)
	s.args, s.owner, s.beyond = slices.Clone(rows.Args), rows.Owner, rows.Beyond
	key, name, first := "''", "''", "true"
	switch q.groupBy {
	case byCategory:
		key = "coalesce(s.category_id, t.category_id)::text"
	case byWallet:
		key = "t.wallet_id::text"
	case byPayee:
		name = "t.payee"
	case byTag:
		key, first = "coalesce(u.key, '')", "coalesce(u.place, 1) = 1"
	}
	amount, moved, joins := "t.amount_minor", "1", ""
	if q.byParts() {
		amount = "coalesce(s.amount_minor, t.amount_minor)"
		moved = "CASE WHEN s.position > 0 THEN 0 ELSE 1 END"
		joins = `
		LEFT JOIN LATERAL (
			SELECT category_id, amount_minor, position
			FROM splits
			WHERE t.split_count > 0 AND owner_id = ` + s.owner + ` AND transaction_id = t.id
		) AS s ON true`
	}
	if q.groupBy == byTag {
		joins += `
		LEFT JOIN LATERAL unnest(t.tags) WITH ORDINALITY AS u (key, place) ON true`
	}
	wanted := ""
	if categories := q.filter.IDs().Categories; len(categories) > 0 {
		wanted = `
		WHERE coalesce(s.category_id, t.category_id) = ANY(` + s.param(categories, "uuid[]") + ")"
	}
	s.movements = fmt.Sprintf(`
		SELECT width_bucket(t.date, %s) AS bucket, %s AS key, %s AS name, %s AS first, t.currency,
			CASE WHEN t.amount_minor > 0 THEN %[5]s ELSE 0 END AS income,
			CASE WHEN t.amount_minor < 0 THEN -%[5]s ELSE 0 END AS expense,
			1 AS moved, %[6]s AS count
		FROM (SELECT t.* FROM %[7]s) AS t%[8]s%[9]s`,
		s.param(starts, "timestamptz[]"), key, name, first, amount, moved, rows.Rows, joins, wanted)
	if q.groupBy == byPayee {
		// There are fewer spellings than transactions, and lower is slow.
		s.movements = `
		SELECT bucket, lower(name COLLATE "und-x-icu") AS key, name, true AS first, currency,
			sum(income) AS income, sum(expense) AS expense, sum(moved) AS moved, sum(count) AS count
		FROM (` + s.movements + `) AS spelled
		GROUP BY bucket, name, currency`
	}
}

// byParts reports whether the parts of a split transaction count separately.
func (q query) byParts() bool {
	return q.groupBy == byCategory || len(q.filter.IDs().Categories) > 0
}

// statement returns the statement that adds up the movements. The places are those of one currency,
// because a report with several is rejected. No step joins the groups with each other: without
// statistics, PostgreSQL would compare each of them with all others.
func (s *source) statement(q query) string {
	all, group := "count", "count"
	if len(q.filter.IDs().Categories) > 0 {
		all = "moved"
	}
	if q.byParts() {
		group = "moved"
	}
	name := "s.name"
	switch q.groupBy {
	case byCategory:
		name = `(SELECT n.name FROM categories n WHERE n.owner_id = ` + s.owner +
			` AND n.id = s.key::uuid)`
	case byWallet:
		name = `(SELECT n.name FROM wallets n WHERE n.owner_id = ` + s.owner +
			` AND n.id = s.key::uuid)`
	case byTag:
		name = `(SELECT n.name FROM tags n WHERE n.owner_id = ` + s.owner +
			` AND n.key = s.key)`
	}
	return fmt.Sprintf(`
		WITH moved AS (%[1]s
		), grouped AS (
			SELECT bucket, key, currency, max(name) AS name, sum(income) AS income,
				sum(expense) AS expense, sum(%[2]s) AS count,
				coalesce(sum(income) FILTER (WHERE first), 0) AS all_income,
				coalesce(sum(expense) FILTER (WHERE first), 0) AS all_expense,
				coalesce(sum(%[3]s) FILTER (WHERE first), 0) AS all_count
			FROM moved
			GROUP BY bucket, key, currency
		), ranked AS (
			SELECT bucket, key, max(name) OVER of_key AS name, income, expense, count,
				sum(expense) OVER of_key AS key_expense, sum(income) OVER of_key AS key_income
			FROM grouped
			WINDOW of_key AS (PARTITION BY key)
		), placed AS (
			SELECT *, dense_rank() OVER (
				ORDER BY key_expense DESC, key_income DESC, key COLLATE "C") AS place
			FROM ranked
		), sums AS (
			SELECT bucket, 0 AS place, '' AS key, '' AS name,
				sum(all_income)::bigint AS income, sum(all_expense)::bigint AS expense,
				sum(all_count)::bigint AS count
			FROM grouped
			GROUP BY bucket
			UNION ALL
			SELECT bucket, least(place, %[4]d + 1),
				CASE WHEN place <= %[4]d THEN key ELSE '' END, max(name), sum(income)::bigint,
				sum(expense)::bigint, sum(count)::bigint
			FROM placed
			GROUP BY 1, 2, 3
		)
		SELECT %[5]s AS beyond,
			ARRAY(SELECT DISTINCT currency FROM grouped ORDER BY currency) AS currencies,
			coalesce((SELECT max(place) FROM placed), 0) AS groups, coalesce(s.bucket, 0) AS bucket,
			coalesce(s.place, 0) AS place, coalesce(s.key, '') AS key,
			coalesce(CASE WHEN s.place BETWEEN 1 AND %[4]d THEN %[6]s END, '') AS name,
			coalesce(s.income, 0) AS income, coalesce(s.expense, 0) AS expense,
			coalesce(s.count, 0) AS count
		FROM (SELECT) AS one
		LEFT JOIN sums s ON true
		ORDER BY s.place, s.bucket`,
		s.movements, group, all, q.top, s.beyond, name)
}

// selectWeekStart returns the first day of the week in the owner's settings.
func selectWeekStart(ctx context.Context, q pg.Querier, owner uuid.UUID) (time.Weekday, error) {
	day, err := pg.Value[string](ctx, q,
		`SELECT week_start FROM settings WHERE owner_id = $1`, owner)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	switch day {
	case "sunday":
		return time.Sunday, nil
	case "saturday":
		return time.Saturday, nil
	}
	return time.Monday, nil
}

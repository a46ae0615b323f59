package transactions

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// totaledRows is the maximum number of rows that the totals of a list add up, unless the stored
// totals of months have them.
const totaledRows = 20_000

// totaled returns the maximum for the list: totaledRows, or fewer for an expensive search.
func (l transactionList) totaled() int { return l.affordable(totaledRows) }

// listTotals contains the totals of rows of a list in one currency, in minor units. Income and
// Expense exclude the legs of transfers and adjustments. They are negative only in lists by
// category whose refunds exceed the other parts (ADR 103). Count includes both.
type listTotals struct {
	Currency string
	// Matching is false for rows that were examined and do not match, because no index supports the
	// list's search.
	Matching               bool
	Count, Income, Expense int64
	// Capped reports whether one more row was read, which is not in the totals.
	Capped bool
}

// totalTransactions returns the totals of the newest rows of a list (see totaled), by currency.
// Examined rows that do not match have separate totals. The plan depends on the values, as in
// collectTransactions. If a sum does not fit into a bigint, it returns an error that
// pg.IsOutOfRange recognizes.
func totalTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]listTotals, error) {
	// In this order, the dates are conditions on the rows that are read, not filters.
	l.after, l.sort = nil, newestFirst
	c := l.conditions()
	return pg.All[listTotals](ctx, q, c.total(l),
		slices.Insert(c.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
}

// total returns a statement that adds up the matching rows. Its subquery limits the rows that are
// read. These are the matching rows, which the best index finds. If no index supports the search,
// they are rows within the other bounds of the list, which may match or not. The search is
// evaluated once per row, because it takes longer than the rest.
func (c *conditions) total(list transactionList) string {
	known := func(c condition) string { return c.known }
	read, matching := slices.Concat(c.bounds, c.filters), "true"
	if list.unindexed() {
		read, matching = c.bounds, all(c.filters, known)
	}
	return fmt.Sprintf(`
		SELECT t.currency, %[1]s AS matching, count(*) FILTER (WHERE t.place <= %[2]d) AS count,
			bool_or(t.place > %[2]d) AS capped,
			coalesce(sum(%[3]s) FILTER (WHERE t.place <= %[2]d
				AND t.transfer_id IS NULL AND NOT t.adjustment
				AND t.amount_minor > 0), 0)::bigint AS income,
			coalesce(-sum(%[3]s) FILTER (WHERE t.place <= %[2]d
				AND t.transfer_id IS NULL AND NOT t.adjustment
				AND t.amount_minor < 0), 0)::bigint AS expense
		FROM (SELECT t.*, row_number() OVER (%[5]s) AS place
			FROM (SELECT * FROM %[4]s %[5]s LIMIT %[2]d + 1) t) t
		GROUP BY t.currency, matching
		ORDER BY t.currency`,
		matching, list.totaled(), c.added(), c.rows(all(read, known)), list.order())
}

// added returns the amount that a row t adds to the income or the expense of the totals. With a
// filter by category, a split transaction adds its parts in the selected categories only. They
// count with the type of the transaction.
func (c *conditions) added() string {
	selected := fmt.Sprintf("= ANY($%d::uuid[])", c.categories)
	if c.outside > 0 {
		selected = fmt.Sprintf("<> ALL($%d::uuid[])", c.outside)
	} else if c.categories == 0 {
		return "t.amount_minor"
	}
	return fmt.Sprintf(`CASE WHEN t.split_count = 0 THEN t.amount_minor ELSE (
		SELECT coalesce(sum(s.amount_minor), 0) FROM splits s
		WHERE s.owner_id = $%d::uuid AND s.transaction_id = t.id
			AND s.category_id %s) END`, c.owner, selected)
}

// totalMonths returns the totals of a list of whole months by currency, from the stored totals of
// the months. So they include all rows.
func totalMonths(ctx context.Context, q pg.Querier, list transactionList) ([]listTotals, error) {
	const months = `
		WHERE owner_id = $1 AND ($2::date IS NULL OR month >= $2)
			AND ($3::date IS NULL OR month < $3)
			AND (coalesce(cardinality($4::uuid[]), 0) = 0 OR wallet_id = ANY($4))
			AND ($5 = '' OR currency = $5)`
	return pg.All[listTotals](ctx, q, `
		SELECT currency, true AS matching, false AS capped,
			sum(count)::bigint AS count, sum(income)::bigint AS income,
			sum(expense)::bigint AS expense
		FROM (
			SELECT currency, transaction_count - further_parts AS count,
				income_minor - refund_minor AS income, expense_minor - refund_minor AS expense
			FROM monthly_totals`+months+`
			UNION ALL
			SELECT currency, transfer_count, 0, 0
			FROM monthly_transfers`+months+` AND NOT $6
		) AS m
		GROUP BY currency
		HAVING sum(count) > 0
		ORDER BY currency`, list.owner, list.from, list.end, list.wallets, list.currency,
		list.counted)
}

// FilteredRows holds the SQL of the rows of a filter.
type FilteredRows struct {
	// Rows is a FROM item t with conditions. It reads a limited number of rows, the newest ones.
	Rows string
	// Beyond is a subquery that returns the date of the newest row which Rows does not read, or
	// NULL if it reads all.
	Beyond string
	// Owner is the parameter of the owner in Args.
	Owner string
	Args  []any
}

// Rows returns the SQL that reads at most limit rows, or fewer for an expensive search (see
// affordable). Rows within the bounds of an index count, whether they match the other filters or
// not, so that the cost of any filter is limited.
func (f Filter) Rows(limit int) FilteredRows {
	c := f.list.conditions()
	known := func(c condition) string { return c.known }
	limit = f.list.affordable(limit)
	read, matching := all(c.bounds, known), "t.transfer_id IS NULL AND NOT t.adjustment"
	if len(c.filters) > 0 {
		matching += " AND " + all(c.filters, known)
	}
	return FilteredRows{
		Rows: fmt.Sprintf("(SELECT * FROM transactions t WHERE %s %s LIMIT %d) t WHERE %s", read,
			f.list.order(), limit, matching),
		Beyond: fmt.Sprintf("(SELECT t.date FROM transactions t WHERE %s %s OFFSET %d LIMIT 1)",
			read, f.list.order(), limit),
		Owner: fmt.Sprintf("$%d::uuid", c.owner), Args: c.args,
	}
}

package transactions

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// totaledRows is the maximum number of rows in exact totals of a list.
const totaledRows = 20_000

// listTotals contains the totals of rows of a list in one currency, in minor units. Income and Expense are positive and exclude the
// legs of transfers. Count includes them.
type listTotals struct {
	Currency string
	// Matching is false for rows that were examined and do not match, because no index supports the list's search.
	Matching               bool
	Count, Income, Expense int64
}

// totalTransactions returns the totals of the newest rows of a list, by currency. Examined rows that do not match have separate
// totals. It reads at most totaledRows+1 rows; if it reads so many, the totals are lower bounds. The plan depends on the values, as
// in collectTransactions. If a sum does not fit into a bigint, it returns an error that pg.IsOutOfRange recognizes.
func totalTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]listTotals, error) {
	// The order does not matter for the totals. In this one, the dates are conditions on the rows that are read, not filters.
	l.after, l.sort = nil, newestFirst
	c := l.conditions()
	totals, err := pg.All[listTotals](ctx, q, c.total(l), slices.Insert(c.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
	if err != nil {
		return nil, fmt.Errorf("adding up transactions: %w", err)
	}
	return totals, nil
}

// total returns a statement that adds up the matching rows. Its subquery limits the rows that are read. These are the matching
// rows, which the best index finds. If no index supports the search, they are rows within the other bounds of the list, which may
// match or not. The search is evaluated once per row, because it takes longer than the rest.
func (c *conditions) total(l transactionList) string {
	known := func(c condition) string { return c.known }
	read, matching := slices.Concat(c.bounds, c.filters), "true"
	if l.unindexed() {
		read, matching = c.bounds, all(c.filters, known)
	}
	return fmt.Sprintf(`
		SELECT t.currency, %s AS matching, count(*) AS count,
			coalesce(sum(%s) FILTER (WHERE t.transfer_id IS NULL), 0)::bigint AS income,
			coalesce(sum(%s) FILTER (WHERE t.transfer_id IS NULL), 0)::bigint AS expense
		FROM (SELECT * FROM %s %s LIMIT %d) t
		GROUP BY t.currency, matching
		ORDER BY t.currency`, matching, c.added("greatest(%s.amount_minor, 0)"), c.added("greatest(-%s.amount_minor, 0)"),
		c.rows(all(read, known)), l.order(), totaledRows+1)
}

// added returns the amount that a row t adds to the totals. amount is its expression for a table. With a filter by category, a split
// transaction adds its parts in these categories only.
func (c *conditions) added(amount string) string {
	whole := fmt.Sprintf(amount, "t")
	if c.categories == 0 {
		return whole
	}
	return fmt.Sprintf(`CASE WHEN t.split_count = 0 THEN %s ELSE (
		SELECT coalesce(sum(%s), 0) FROM splits s
		WHERE s.owner_id = t.owner_id AND s.transaction_id = t.id AND s.category_id = ANY($%d::uuid[])) END`,
		whole, fmt.Sprintf(amount, "s"), c.categories)
}

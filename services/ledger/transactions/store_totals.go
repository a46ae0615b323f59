package transactions

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// totaledRows is the maximum number of rows in exact totals of a list. Summing up so many takes about 20 ms.
const totaledRows = 20_000

// listTotals contains the totals of a list in one currency, in minor units. Income and Expense are positive.
type listTotals struct {
	Currency string
	// Examined is the number of rows that were read. It exceeds Count if the list's search is not supported by an index.
	Examined, Count int64
	Income, Expense int64
}

// totalTransactions returns the totals of a list by currency, from its beginning. It reads at most totaledRows+1 rows; if it
// reads so many, the totals are lower bounds. The plan depends on the values, as in collectTransactions. If a sum does not fit into
// a bigint, it returns an error that pg.IsOutOfRange recognizes.
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
// rows, which the best index finds. If no index supports the search, they are any rows within the other bounds of the list, and the
// matching ones among them are added up.
func (c *conditions) total(l transactionList) string {
	known := func(c condition) string { return c.known }
	read, counted := slices.Concat(c.bounds, c.filters), "true"
	if l.unindexed() {
		read, counted = c.bounds, all(c.filters, known)
	}
	return fmt.Sprintf(`
		SELECT t.currency, count(*) AS examined, count(*) FILTER (WHERE %[1]s) AS count,
			coalesce(sum(t.amount_minor) FILTER (WHERE %[1]s AND t.amount_minor > 0), 0)::bigint AS income,
			coalesce(-sum(t.amount_minor) FILTER (WHERE %[1]s AND t.amount_minor < 0), 0)::bigint AS expense
		FROM (SELECT * FROM transactions t WHERE %[2]s %[3]s LIMIT %[4]d) t
		GROUP BY t.currency
		ORDER BY t.currency`, counted, all(read, known), l.order(), totaledRows+1)
}

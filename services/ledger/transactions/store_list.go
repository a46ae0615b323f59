package transactions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// nearbyRows is the number of rows that a list examines in its order before the matching rows
	// are collected by other indexes.
	nearbyRows = 1000
	// scannedRows is the maximum number of rows that a page examines when no index can find the
	// matching ones. Most users have fewer.
	scannedRows = 10_000
)

// selectFilters returns the keys of the tags that a list names, and whether the owner has parts of
// split transactions in its categories. Lists without these filters need no query.
func selectFilters(
	ctx context.Context, q pg.Querier, list transactionList,
) (tags []string, parts bool, err error) {
	if len(list.tagNames)+len(list.categories) == 0 {
		return nil, false, nil
	}
	type row struct {
		Tags  []string
		Parts bool
	}
	found, err := pg.One[row](ctx, q, `
		SELECT ARRAY(
				SELECT `+posting.TagKeySQL("name")+` FROM unnest($2::text[]) AS n (name)) AS tags,
			EXISTS (
				SELECT FROM splits WHERE owner_id = $1 AND category_id = ANY($3::uuid[])) AS parts`,
		list.owner, list.tagNames, list.categories)
	if err != nil {
		return nil, false, err
	}
	return found.Tags, found.Parts, nil
}

// filtered reports whether the list has conditions that the index of its order does not support, so
// that it must examine rows that may not match.
func (l transactionList) filtered() bool { return len(l.conditions().filters) > 0 }

// walkTransactions reads rows by keyset: it starts at the first row of the page in an index, so
// that later pages cost no more. With filters it only examines the nearby rows, which fill a page
// if many rows match.
func walkTransactions(
	ctx context.Context, q pg.Querier, l transactionList,
) ([]posting.Transaction, error) {
	c := l.conditions()
	return pg.All[posting.Transaction](ctx, q, c.walk(l), c.args...)
}

// collectTransactions reads all matching rows and sorts them. There are few of them, because those
// nearby did not fill a page. The best index depends on the values, which the plan of a prepared
// statement would not take into account. CacheDescribe sends an unnamed statement instead, which
// PostgreSQL plans for the values of each execution.
func collectTransactions(
	ctx context.Context, q pg.Querier, l transactionList,
) ([]posting.Transaction, error) {
	c := l.conditions()
	return pg.All[posting.Transaction](ctx, q, c.collect(l),
		slices.Insert(c.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
}

// scanTransactions examines the next rows of the list and returns those that match, and the last
// examined row if there may be further rows behind it. Without the setting, PostgreSQL sorts the
// whole history when it expects a shorter one.
func scanTransactions(
	ctx context.Context, db *pgxpool.Pool, list transactionList,
) (matching []posting.Transaction, end *posting.Transaction, err error) {
	type row struct {
		posting.Transaction
		Last bool
	}
	var examined []row
	c := list.conditions()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	batch.Queue(c.scan(list), c.args...).Query(func(rows pgx.Rows) (err error) {
		examined, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[row])
		return err
	})
	readOnly := pgx.TxOptions{AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db, readOnly, func(tx pgx.Tx) error {
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, nil, fmt.Errorf("scanning transactions: %w", err)
	}
	for _, r := range examined {
		if r.Last {
			end = &r.Transaction
			continue
		}
		matching = append(matching, r.Transaction)
	}
	return matching, end, nil
}

// rows returns the FROM item t of the rows that fulfill conditions. If parts may match, it combines
// the rows that the index of categories finds with those that the index of the parts' categories
// finds: no index supports both at once.
func (c *conditions) rows(wanted string) string {
	if c.categories == 0 {
		return "transactions t WHERE " + wanted
	}
	return fmt.Sprintf(`(
		SELECT * FROM transactions t WHERE %[1]s AND t.category_id = ANY($%[3]d::uuid[])
		UNION ALL
		SELECT * FROM transactions t WHERE %[1]s AND t.split_count > 0 AND t.id = ANY(ARRAY(
			SELECT s.transaction_id
			FROM splits s
			WHERE s.owner_id = $%[2]d::uuid AND s.category_id = ANY($%[3]d::uuid[])))
		) t WHERE true`, wanted, c.owner, c.categories)
}

// walk returns a statement that reads an index in the list's order, and at most nearbyRows rows if
// there are filters. It uses hidden values, so that PostgreSQL has one generic plan for all values.
// With known values it would plan each execution, which takes as long as reading the page.
func (c *conditions) walk(l transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	from := "transactions t WHERE " + all(c.bounds, hidden)
	if len(c.filters) > 0 {
		from = fmt.Sprintf("(SELECT * FROM %s %s LIMIT %d) t WHERE %s", from, l.order(),
			l.affordable(nearbyRows), all(c.filters, hidden))
	}
	return fmt.Sprintf("SELECT %s FROM %s %s %s",
		posting.TransactionColumns, from, l.order(), l.limited())
}

// scan returns a statement that examines the next scannedRows rows, or fewer for an expensive
// search (see affordable). It selects the matching rows among them and the last one. OFFSET returns
// the last row only if there are that many. If the list ends before, no row is marked last.
func (c *conditions) scan(list transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	scanned := list.affordable(scannedRows)
	return fmt.Sprintf(`WITH examined AS MATERIALIZED (
			SELECT * FROM transactions t WHERE %s %s LIMIT %d)
		(SELECT %s, false AS last FROM examined t WHERE %s %s %s)
		UNION ALL
		(SELECT %s, true FROM examined t %s OFFSET %d LIMIT 1)`,
		all(c.bounds, hidden), list.order(), scanned,
		posting.TransactionColumns, all(c.filters, hidden), list.order(), list.limited(),
		posting.TransactionColumns, list.order(), scanned-1)
}

// collect returns a statement that finds all matching rows with the best index, and sorts them. The
// sort key is an expression that no index has, because PostgreSQL might otherwise read an index in
// the list's order, expecting to find enough rows soon.
func (c *conditions) collect(l transactionList) string {
	wanted := all(slices.Concat(c.bounds, c.filters), func(c condition) string { return c.known })
	unindexed := strings.NewReplacer(
		"t.date", "t.date + interval '0'", "t.amount_e4", "t.amount_e4 + 0")
	return fmt.Sprintf("SELECT %s FROM %s %s %s",
		posting.TransactionColumns, c.rows(wanted), unindexed.Replace(l.order()), l.limited())
}

// limited returns the LIMIT clause. The limit is a literal because PostgreSQL assumes that a
// parameterized LIMIT returns 10 % of the rows.
func (l transactionList) limited() string { return fmt.Sprintf("LIMIT %d", l.limit) }

func (l transactionList) order() string {
	key, direction := "t.date", ""
	if l.byAmount() {
		key = "t.amount_e4"
	}
	if l.descending() {
		direction = " DESC"
	}
	return "ORDER BY " + key + direction + ", t.id" + direction
}

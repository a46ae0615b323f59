package transactions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// nearbyRows is the number of rows that a list examines in its order before the matching rows are collected by other indexes.
	nearbyRows = 1000
	// scannedRows is the number of rows that a page examines when no index can find the matching ones. Most users have fewer.
	scannedRows = 10_000
)

// selectFilters returns the keys of the tags that a list names, and whether the owner has parts of split transactions in its
// categories. Lists without these filters need no query.
func selectFilters(ctx context.Context, q pg.Querier, l transactionList) (tags []string, parts bool, err error) {
	if len(l.tagNames)+len(l.categories) == 0 {
		return nil, false, nil
	}
	type row struct {
		Tags  []string
		Parts bool
	}
	r, err := pg.One[row](ctx, q, `
		SELECT ARRAY(SELECT `+posting.TagKeySQL("name")+` FROM unnest($2::text[]) AS n (name)) AS tags,
			EXISTS (SELECT FROM splits WHERE owner_id = $1 AND category_id = ANY($3::uuid[])) AS parts`, l.owner, l.tagNames, l.categories)
	if err != nil {
		return nil, false, fmt.Errorf("selecting the filters of a list: %w", err)
	}
	return r.Tags, r.Parts, nil
}

// filtered reports whether the list has conditions that the index of its order does not support, so that it must examine rows
// that may not match.
func (l transactionList) filtered() bool { return len(l.conditions().filters) > 0 }

// walkTransactions reads rows by keyset: it starts at the first row of the page in an index, so that later pages cost no more. With
// filters it only examines the nearby rows, which fill a page if many rows match.
func walkTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]posting.Transaction, error) {
	c := l.conditions()
	rows, err := pg.All[posting.Transaction](ctx, q, c.walk(l), c.args...)
	if err != nil {
		return nil, fmt.Errorf("selecting transactions nearby: %w", err)
	}
	return rows, nil
}

// collectTransactions reads all matching rows and sorts them. There are few of them, because those nearby did not fill a page.
// The best index depends on the values, which the plan of a prepared statement would not take into account. CacheDescribe
// sends an unnamed statement instead, which PostgreSQL plans for the values of each execution.
func collectTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]posting.Transaction, error) {
	c := l.conditions()
	rows, err := pg.All[posting.Transaction](ctx, q, c.collect(l), slices.Insert(c.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
	if err != nil {
		return nil, fmt.Errorf("collecting transactions: %w", err)
	}
	return rows, nil
}

// scanTransactions examines the next rows of the list and returns those that match, and the last examined row if there may
// be further rows behind it. Without the setting, PostgreSQL sorts the whole history when it expects a shorter one.
func scanTransactions(ctx context.Context, db *pgxpool.Pool, l transactionList) (matching []posting.Transaction, end *posting.Transaction, err error) {
	type row struct {
		posting.Transaction
		Last bool
	}
	var examined []row
	c := l.conditions()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	batch.Queue(c.scan(l), c.args...).Query(func(rows pgx.Rows) (err error) {
		examined, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[row])
		return err
	})
	readOnly := pgx.TxOptions{AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db, readOnly, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
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

// conditions holds the WHERE conditions of a list's statements. It omits absent filters, so that the planner can choose an index.
type conditions struct {
	// bounds limit the range of an index in the list's order. filters are evaluated for each row of that range.
	bounds, filters []condition
	args            []any
	// owner and categories are the numbers of their parameters. categories is 0 unless parts may match the filter by category.
	owner, categories int
}

// condition is an SQL condition in two forms: known has plain parameters, whose values the planner uses. hidden has the
// parameters in subqueries, whose values it does not know.
type condition struct{ known, hidden string }

// value is an argument with the SQL expression of its parameter. PostgreSQL evaluates the expression once per statement.
type value struct {
	of any
	as string
}

// add appends a condition to a list of conditions, and its values to the arguments. format has one %s per value.
func (c *conditions) add(to *[]condition, format string, values ...value) {
	known, hidden := make([]any, len(values)), make([]any, len(values))
	for i, v := range values {
		c.args = append(c.args, v.of)
		text := fmt.Sprintf(v.as, len(c.args))
		known[i], hidden[i] = text, "(SELECT "+text+")"
	}
	*to = append(*to, condition{fmt.Sprintf(format, known...), fmt.Sprintf(format, hidden...)})
}

// conditions returns the conditions of the list. In the order by date, conditions on the date are bounds and those on the amount are
// filters; in the order by amount it is the other way round.
func (l transactionList) conditions() *conditions {
	c := &conditions{}
	ofDate, ofAmount := &c.bounds, &c.filters
	if l.byAmount() {
		ofDate, ofAmount = ofAmount, ofDate
	}
	c.addIDs(l)
	c.addKind(l, ofAmount)
	if l.currency != "" {
		c.add(&c.filters, "t.currency = %s", value{l.currency, "$%d::text"})
	}
	if l.from != nil {
		c.add(ofDate, "t.date >= %s", value{*l.from, "$%d::timestamptz"})
	}
	if l.end != nil {
		c.add(ofDate, "t.date < %s", value{*l.end, "$%d::timestamptz"})
	}
	if l.minE4 != nil {
		c.add(ofAmount, "t.amount_e4 >= %s", value{*l.minE4, "$%d::bigint"})
	}
	if l.maxE4 != nil {
		c.add(ofAmount, "t.amount_e4 <= %s", value{*l.maxE4, "$%d::bigint"})
	}
	if l.substring != "" {
		c.add(&c.filters, searched+` LIKE %s`, value{"%" + likeEscaped(l.substring) + "%", `lower($%d COLLATE "und-x-icu")`})
	}
	c.addDetails(l)
	c.addPlace(l)
	return c
}

// addDetails adds the filters by payee and by tags. The payee begins the indexed text of searches.
func (c *conditions) addDetails(l transactionList) {
	if l.payee != "" {
		c.add(&c.filters, `lower(t.payee COLLATE "und-x-icu") = %s`, value{l.payee, `lower($%d COLLATE "und-x-icu")`})
		c.add(&c.filters, searched+` LIKE %s`, value{likeEscaped(l.payee) + " %", `lower($%d COLLATE "und-x-icu")`})
	}
	switch {
	case l.untagged:
		c.add(&c.filters, "t.tags = '{}'")
	case len(l.tags) > 0:
		c.add(&c.filters, "t.tags <> '{}'")
		c.add(&c.filters, "t.tags && %s::text[]", value{l.tags, "$%d::text[]"})
	}
}

// searched is the expression of the index of searches.
const searched = `lower((t.payee || ' ' || t.description || ' ' || t.notes) COLLATE "und-x-icu")`

// likeEscaped returns s as a pattern of LIKE that matches s only.
func likeEscaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// addKind adds the filter by type. The filters by expense and by income exclude the legs of transfers. A list of transfers by date
// reads the index transactions_transfers, unless a wallet or a category selects another one.
func (c *conditions) addKind(l transactionList, ofAmount *[]condition) {
	switch l.kind {
	case posting.Expense:
		c.add(ofAmount, "t.amount_e4 < 0")
		c.add(ofAmount, "t.transfer_id IS NULL")
	case posting.Income:
		c.add(ofAmount, "t.amount_e4 > 0")
		c.add(ofAmount, "t.transfer_id IS NULL")
	case posting.Transfer:
		to := &c.filters
		if !l.byAmount() && len(l.wallets) != 1 && len(l.categories) != 1 {
			to = &c.bounds
		}
		c.add(to, "t.transfer_id IS NOT NULL")
	}
}

// addPlace restricts the list to the owner, and to the rows after the previous page.
func (c *conditions) addPlace(l transactionList) {
	c.add(&c.bounds, "t.owner_id = %s", value{l.owner, "$%d::uuid"})
	c.owner = len(c.args)
	beyond := ">"
	if l.descending() {
		beyond = "<"
	}
	switch {
	case l.after == nil:
	case l.byAmount():
		c.add(&c.bounds, "(t.amount_e4, t.id) "+beyond+" (%s, %s)", value{l.after.AmountE4, "$%d::bigint"}, value{l.after.ID, "$%d::uuid"})
	default:
		c.add(&c.bounds, "(t.date, t.id) "+beyond+" (%s, %s)", value{l.after.Date, "$%d::timestamptz"}, value{l.after.ID, "$%d::uuid"})
	}
}

// addIDs adds the filters by wallet and category. In a list by date, a single wallet, or otherwise a single category, is a bound,
// because there is an index for each in that order.
func (c *conditions) addIDs(l transactionList) {
	ofWallet, ofCategory := &c.filters, &c.filters
	switch {
	case l.byAmount():
	case len(l.wallets) == 1:
		ofWallet = &c.bounds
	case len(l.categories) == 1 && !l.parts:
		ofCategory = &c.bounds
	}
	if l.parts {
		c.addParts(l)
		ofCategory = nil
	}
	for _, by := range []struct {
		to     *[]condition
		column string
		ids    []uuid.UUID
	}{{ofWallet, "t.wallet_id", l.wallets}, {ofCategory, "t.category_id", l.categories}} {
		switch {
		case by.to == nil, len(by.ids) == 0:
		case len(by.ids) == 1:
			c.add(by.to, by.column+" = %s", value{by.ids[0], "$%d::uuid"})
		default:
			// Without the second cast, ANY would compare with the rows of a subquery instead of the elements of an array.
			c.add(by.to, by.column+" = ANY(%s::uuid[])", value{by.ids, "$%d::uuid[]"})
		}
	}
}

// addParts adds the filter by category for an owner with parts in the categories.
func (c *conditions) addParts(l transactionList) {
	c.add(&c.filters, `EXISTS (SELECT FROM unnest(%s::uuid[]) AS n (id) WHERE n.id = t.category_id OR t.split_count > 0 AND EXISTS (
		SELECT FROM splits s WHERE s.owner_id = t.owner_id AND s.transaction_id = t.id AND s.category_id = n.id))`, value{l.categories, "$%d::uuid[]"})
	c.categories = len(c.args)
}

// rows returns the FROM item t of the rows that fulfill conditions. If parts may match, it combines the rows that the index of categories
// finds with those that the index of the parts' categories finds: no index supports both at once.
func (c *conditions) rows(wanted string) string {
	if c.categories == 0 {
		return "transactions t WHERE " + wanted
	}
	return fmt.Sprintf(`(
		SELECT * FROM transactions t WHERE %[1]s AND t.category_id = ANY($%[3]d::uuid[])
		UNION ALL
		SELECT * FROM transactions t WHERE %[1]s AND t.split_count > 0 AND t.id = ANY(ARRAY(
			SELECT s.transaction_id FROM splits s WHERE s.owner_id = $%[2]d::uuid AND s.category_id = ANY($%[3]d::uuid[])))
		) t WHERE true`, wanted, c.owner, c.categories)
}

// walk returns a statement that reads an index in the list's order, and at most nearbyRows rows if there are filters. It uses
// hidden values, so that PostgreSQL has one generic plan for all values. With known values it would plan each execution, which
// takes as long as reading the page.
func (c *conditions) walk(l transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	from := "transactions t WHERE " + all(c.bounds, hidden)
	if len(c.filters) > 0 {
		from = fmt.Sprintf("(SELECT * FROM %s %s LIMIT %d) t WHERE %s", from, l.order(), nearbyRows, all(c.filters, hidden))
	}
	return fmt.Sprintf("SELECT %s FROM %s %s %s", posting.TransactionColumns, from, l.order(), l.limited())
}

// scan returns a statement that selects the matching rows among the next scannedRows rows, and the last row examined. OFFSET
// returns the last row only if there are scannedRows rows. If the list ends before, no row is marked last.
func (c *conditions) scan(l transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	return fmt.Sprintf(`WITH examined AS MATERIALIZED (SELECT * FROM transactions t WHERE %s %s LIMIT %d)
		(SELECT %s, false AS last FROM examined t WHERE %s %s %s)
		UNION ALL
		(SELECT %s, true FROM examined t %s OFFSET %d LIMIT 1)`,
		all(c.bounds, hidden), l.order(), scannedRows,
		posting.TransactionColumns, all(c.filters, hidden), l.order(), l.limited(),
		posting.TransactionColumns, l.order(), scannedRows-1)
}

// collect returns a statement that finds all matching rows with the best index, and sorts them. The sort key is an expression
// that no index has, because PostgreSQL might otherwise read an index in the list's order, expecting to find enough rows soon.
func (c *conditions) collect(l transactionList) string {
	wanted := all(slices.Concat(c.bounds, c.filters), func(c condition) string { return c.known })
	order := strings.NewReplacer("t.date", "t.date + interval '0'", "t.amount_e4", "t.amount_e4 + 0").Replace(l.order())
	return fmt.Sprintf("SELECT %s FROM %s %s %s", posting.TransactionColumns, c.rows(wanted), order, l.limited())
}

// all joins one form of conditions with AND.
func all(conditions []condition, form func(condition) string) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = form(c)
	}
	return strings.Join(texts, " AND ")
}

// limited returns the LIMIT clause. The limit is a literal because PostgreSQL assumes that a parameterized LIMIT returns 10 %
// of the rows.
func (l transactionList) limited() string { return fmt.Sprintf("LIMIT %d", l.limit) }

// order returns the ORDER BY clause.
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

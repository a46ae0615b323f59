package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// nearby is the number of rows that a list examines in its order before the matching rows are collected by other indexes.
	nearby = 1000
	// scanned is the number of rows that a page examines when no index can find the matching ones. Most users have fewer.
	scanned = 10_000
)

// filtered reports whether rows must be examined that may not match.
func (l transactionList) filtered() bool { return len(l.conditions().filters) > 0 }

// walkTransactions reads rows by keyset: an index is entered at the start of the page, whatever the page. With filters it
// examines the nearby rows only, which fill a page of what matches often.
func walkTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]transaction, error) {
	c := l.conditions()
	rows, err := pg.All[transaction](ctx, q, c.walk(l), c.args...)
	if err != nil {
		return nil, fmt.Errorf("selecting transactions nearby: %w", err)
	}
	return rows, nil
}

// collectTransactions reads all matching rows and sorts them. There are few of them, because those nearby did not fill a page.
// The best index depends on the values, which the plan of a prepared statement would not take into account.
func collectTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]transaction, error) {
	c := l.conditions()
	rows, err := pg.All[transaction](ctx, q, c.collect(l), slices.Insert(c.args, 0, any(pgx.QueryExecModeCacheDescribe))...)
	if err != nil {
		return nil, fmt.Errorf("collecting transactions: %w", err)
	}
	return rows, nil
}

// scanTransactions examines the next rows of the list and returns those that match, and the last examined row if there may
// be further rows behind it. Without the setting, PostgreSQL sorts the whole history when it expects a shorter one.
func scanTransactions(ctx context.Context, db *pgxpool.Pool, l transactionList) (matching []transaction, end *transaction, err error) {
	type row struct {
		transaction
		Last bool
	}
	var examined []row
	c := l.conditions()
	batch := &pgx.Batch{}
	batch.Queue(`SELECT set_config('enable_sort', 'off', true)`)
	batch.Queue(c.scan(l), c.args...).Query(collect(&examined))
	readOnly := pgx.TxOptions{AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db, readOnly, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		return nil, nil, fmt.Errorf("scanning transactions: %w", err)
	}
	for _, r := range examined {
		if r.Last {
			end = &r.transaction
			continue
		}
		matching = append(matching, r.transaction)
	}
	return matching, end, nil
}

// conditions are what a list's statements ask for; only what is wanted is in them, so that the planner sees it.
type conditions struct {
	// bounds are those that an index in the list's order is entered with, and filters those asked of each of its rows.
	bounds, filters []condition
	args            []any
}

// condition is one with values that the planner knows, and with such that it does not.
type condition struct{ known, hidden string }

// value is an argument, and what is made of it for all rows at once.
type value struct {
	of any
	as string
}

func (c *conditions) add(to *[]condition, format string, values ...value) {
	known, hidden := make([]any, len(values)), make([]any, len(values))
	for i, v := range values {
		c.args = append(c.args, v.of)
		text := fmt.Sprintf(v.as, len(c.args))
		known[i], hidden[i] = text, "(SELECT "+text+")"
	}
	*to = append(*to, condition{fmt.Sprintf(format, known...), fmt.Sprintf(format, hidden...)})
}

func (l transactionList) conditions() *conditions {
	c := &conditions{}
	ofDate, ofAmount := &c.bounds, &c.filters
	if l.byAmount() {
		ofDate, ofAmount = ofAmount, ofDate
	}
	c.addIDs(l)
	switch l.kind {
	case expense:
		c.add(ofAmount, "t.amount_e4 < 0")
	case income:
		c.add(ofAmount, "t.amount_e4 > 0")
	}
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
	if l.part != "" {
		c.add(&c.filters, `lower(t.description COLLATE "und-x-icu") LIKE %s`,
			value{"%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(l.part) + "%", `lower($%d COLLATE "und-x-icu")`})
	}
	c.addPlace(l)
	return c
}

// addPlace has the list be the owner's, and begin behind the page before.
func (c *conditions) addPlace(l transactionList) {
	c.add(&c.bounds, "t.owner_id = %s", value{l.owner, "$%d::uuid"})
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

// addIDs has one wallet, or else one category, bound a list by date: there is an index of each in that order.
func (c *conditions) addIDs(l transactionList) {
	ofWallet, ofCategory := &c.filters, &c.filters
	switch {
	case l.byAmount():
	case len(l.wallets) == 1:
		ofWallet = &c.bounds
	case len(l.categories) == 1:
		ofCategory = &c.bounds
	}
	for _, by := range []struct {
		to     *[]condition
		column string
		ids    []uuid.UUID
	}{{ofWallet, "t.wallet_id", l.wallets}, {ofCategory, "t.category_id", l.categories}} {
		switch len(by.ids) {
		case 0:
		case 1:
			c.add(by.to, by.column+" = %s", value{by.ids[0], "$%d::uuid"})
		default:
			// Without the second cast it would be ANY of a subquery's rows.
			c.add(by.to, by.column+" = ANY(%s::uuid[])", value{by.ids, "$%d::uuid[]"})
		}
	}
}

// walk goes along the index, and no further than nearby where rows are left out. There is one plan for all values. Postgres
// would make it again and again for those that it knows, which takes as long as reading the page; what a subquery gives it
// does not know.
func (c *conditions) walk(l transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	from := "transactions t WHERE " + all(c.bounds, hidden)
	if len(c.filters) > 0 {
		from = fmt.Sprintf("(SELECT * FROM %s %s LIMIT %d) t WHERE %s", from, l.order(), nearby, all(c.filters, hidden))
	}
	return fmt.Sprintf("SELECT %s FROM %s %s %s", transactionColumns, from, l.order(), l.limited())
}

// scan selects the matching rows among the next scanned ones, and the last of these.
func (c *conditions) scan(l transactionList) string {
	hidden := func(c condition) string { return c.hidden }
	return fmt.Sprintf(`WITH examined AS MATERIALIZED (SELECT * FROM transactions t WHERE %s %s LIMIT %d)
		(SELECT %s, false AS last FROM examined t WHERE %s %s %s)
		UNION ALL
		(SELECT %s, true FROM examined t %s OFFSET %d LIMIT 1)`,
		all(c.bounds, hidden), l.order(), scanned,
		transactionColumns, all(c.filters, hidden), l.order(), l.limited(),
		transactionColumns, l.order(), scanned-1)
}

// collect finds all that match, by whatever index is best for that, and sorts them: by a key that is no index's, for else
// Postgres might walk along one in the hope of finding enough soon.
func (c *conditions) collect(l transactionList) string {
	wanted := all(slices.Concat(c.bounds, c.filters), func(c condition) string { return c.known })
	order := strings.NewReplacer("t.date", "t.date + interval '0'", "t.amount_e4", "t.amount_e4 + 0").Replace(l.order())
	return fmt.Sprintf("SELECT %s FROM transactions t WHERE %s %s %s", transactionColumns, wanted, order, l.limited())
}

func all(conditions []condition, form func(condition) string) string {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = form(c)
	}
	return strings.Join(texts, " AND ")
}

// limited has the number in the statement: of a parameter Postgres believes that it may be a tenth of the table.
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

package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// selectTransactions answers a list by keyset: whatever the page, an index is entered where the page begins.
func selectTransactions(ctx context.Context, q pg.Querier, l transactionList) ([]transaction, error) {
	sql, args := l.query()
	rows, err := pg.All[transaction](ctx, q, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("selecting transactions: %w", err)
	}
	return rows, nil
}

// query puts together what the filters ask for; only conditions that are wanted are in it, so that the planner sees them.
func (l transactionList) query() (sql string, args []any) {
	var where []string
	filter := func(condition string, values ...any) {
		places := make([]any, len(values))
		for i, v := range values {
			args = append(args, v)
			places[i] = len(args)
		}
		where = append(where, fmt.Sprintf(condition, places...))
	}
	filter("t.owner_id = $%d", l.owner)
	filterIDs(filter, "t.wallet_id", l.wallets)
	filterIDs(filter, "t.category_id", l.categories)
	switch l.kind {
	case expense:
		filter("t.amount_e4 < 0")
	case income:
		filter("t.amount_e4 > 0")
	}
	if l.currency != "" {
		filter("t.currency = $%d", l.currency)
	}
	if l.from != nil {
		filter("t.date >= $%d", *l.from)
	}
	if l.end != nil {
		filter("t.date < $%d", *l.end)
	}
	if l.minE4 != nil {
		filter("t.amount_e4 >= $%d", *l.minE4)
	}
	if l.maxE4 != nil {
		filter("t.amount_e4 <= $%d", *l.maxE4)
	}
	if l.part != "" {
		filter(`lower(t.description COLLATE "und-x-icu") LIKE lower($%d COLLATE "und-x-icu")`,
			"%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(l.part)+"%")
	}
	key, direction, beyond := "t.date", "", ">"
	if l.byAmount() {
		key = "t.amount_e4"
	}
	if l.descending() {
		direction, beyond = " DESC", "<"
	}
	switch {
	case l.after != nil && l.byAmount():
		filter("("+key+", t.id) "+beyond+" ($%d, $%d)", l.after.AmountE4, l.after.ID)
	case l.after != nil:
		filter("("+key+", t.id) "+beyond+" ($%d, $%d)", l.after.Date, l.after.ID)
	}
	args = append(args, l.limit)
	filtered := len(where) > 1
	sql = fmt.Sprintf("SELECT %s FROM transactions t WHERE %s ORDER BY %s%s, t.id%s LIMIT $%d",
		transactionColumns, strings.Join(where, " AND "), key, direction, direction, len(args))
	if filtered {
		// Which index is best depends on the values; a prepared statement's plan would forget them.
		args = slices.Insert(args, 0, any(pgx.QueryExecModeCacheDescribe))
	}
	return sql, args
}

// filterIDs compares with a single id directly: then the column's index also gives the order.
func filterIDs(filter func(string, ...any), column string, ids []uuid.UUID) {
	switch len(ids) {
	case 0:
	case 1:
		filter(column+" = $%d", ids[0])
	default:
		filter(column+" = ANY($%d)", ids)
	}
}

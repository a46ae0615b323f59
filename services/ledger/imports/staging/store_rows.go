package staging

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// PageRows is the number of rows that are staged or derived together.
const PageRows = 1000

// rowColumns are the columns of a row, in the order of values.
var rowColumns = []string{
	"n", "line", "status", "cells", "date", "amount", "currency", "payee", "description", "notes",
	"tags", "external_id", "account", "category", "splits", "transfer", "opening", "file_problem",
	"action", "chosen_category_id", "chosen_description", "chosen_payee", "chosen_wallet_id",
	"problem", "wallet_id", "booked_currency", "amount_minor", "category_id", "category_from",
	"transfer_wallet_id", "pair_n", "duplicate_of", "transaction_id", "filled_payee",
	"filled_notes", "ruled", "file_status", "date_assumed", "replaced", "adjustment",
	"uncleared", "filled_cleared",
}

func (r *Row) values() []any {
	return []any{
		r.N, r.Line, r.Status, list(r.Cells), r.Date, r.Amount, r.Currency, r.Payee, r.Description,
		r.Notes, list(r.Tags), r.ExternalID, r.Account, r.Category, r.Splits, r.Transfer, r.Opening,
		r.FileProblem, r.Action, r.ChosenCategoryID, r.ChosenDescription, r.ChosenPayee,
		r.ChosenWalletID, r.Problem, r.WalletID, r.BookedCurrency, r.AmountMinor, r.CategoryID,
		r.CategoryFrom, r.TransferWalletID, r.PairN, r.DuplicateOf, r.TransactionID, r.FilledPayee,
		r.FilledNotes, r.Ruled, r.FileStatus, r.DateAssumed, r.Replaced,
		r.Adjustment, r.Uncleared, r.FilledCleared,
	}
}

// list returns s, and an empty list for nil, which would be NULL.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// CopyRows inserts rows of an import with the COPY protocol, the fastest way for many columns and
// rows.
func CopyRows(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, rows []Row) error {
	columns := append([]string{"owner_id", "import_id"}, rowColumns...)
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"import_rows"}, columns,
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			return append([]any{owner, id}, rows[i].values()...), nil
		}))
	if err != nil {
		return fmt.Errorf("staging %d rows of import %s: %w", len(rows), id, err)
	}
	return nil
}

// ReplaceRows deletes rows and inserts them again with their new values. This is several times
// faster than an UPDATE of as many columns. The rows are in the order of their numbers.
//
// The statement has a range of numbers beside the list. PostgreSQL uses the range as an index
// condition even without statistics of a new import. With the list alone, it reads all rows of the
// import for each page. The other statements on a list of rows have the range for the same reason.
func ReplaceRows(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	ns := make([]int32, len(rows))
	for i, r := range rows {
		ns[i] = r.N
	}
	err := pg.Exec(ctx, tx, `
		DELETE FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND n BETWEEN $3 AND $4 AND n = ANY($5)`,
		owner, id, ns[0], ns[len(ns)-1], ns)
	if err != nil {
		return err
	}
	return CopyRows(ctx, tx, owner, id, rows)
}

// liveColumns replaces the columns that refer to wallets and categories. Each reader sees a merged
// category as the target of its merge, and no reference to a deleted wallet or category. So a merge
// or a deletion changes no staged rows, of which there may be 200 000.
var liveColumns = map[string]string{
	"chosen_category_id": liveCategory("chosen_category_id"),
	"category_id":        liveCategory("category_id"),
	// A row that has lost its category has none of any origin, and is not ready.
	"category_from": `CASE WHEN import_rows.category_id IS NOT NULL
		AND ` + liveCategory("category_id") + ` IS NULL THEN '' ELSE category_from END`,
	"chosen_wallet_id":   liveWallet("chosen_wallet_id"),
	"wallet_id":          liveWallet("wallet_id"),
	"transfer_wallet_id": liveWallet("transfer_wallet_id"),
}

// liveCategory returns the SQL of the existing category of owner $1 to which a column refers, or
// NULL.
func liveCategory(column string) string {
	column = "import_rows." + column
	return `CASE WHEN ` + column + ` IN (SELECT id FROM categories WHERE owner_id = $1)
		THEN ` + column + `
		ELSE (SELECT m.category_id FROM merged_categories m
			WHERE m.owner_id = $1 AND m.id = ` + column + `) END`
}

// liveWallet returns the SQL of the existing wallet of owner $1 to which a column refers, or NULL.
func liveWallet(column string) string {
	column = "import_rows." + column
	return `CASE WHEN ` + column + ` IN (SELECT id FROM wallets WHERE owner_id = $1)
		THEN ` + column + ` END`
}

// RowsWith starts a statement that selects rows of the import $2 of the owner $1.
var RowsWith = func() string {
	text := "SELECT "
	for i, c := range rowColumns {
		if i > 0 {
			text += ", "
		}
		if live, ok := liveColumns[c]; ok {
			text += live + " AS "
		}
		text += c
	}
	return text + " FROM import_rows WHERE owner_id = $1 AND import_id = $2"
}()

// SelectRowsAfter returns up to limit rows after row n, including hidden ones.
func SelectRowsAfter(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32, limit int,
) ([]Row, error) {
	return pg.All[Row](ctx, q, RowsWith+` AND n > $3 ORDER BY n LIMIT $4`,
		owner, id, n, limit)
}

// LastRow returns the number of the last row of an import, including hidden ones, or 0.
func LastRow(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (int32, error) {
	type row struct{ N int32 }
	r, err := pg.One[row](ctx, q, `
		SELECT coalesce(max(n), 0) AS n FROM import_rows WHERE owner_id = $1 AND import_id = $2`,
		owner, id)
	if err != nil {
		return 0, err
	}
	return r.N, nil
}

// Filter selects rows by their statuses and numbers. An empty list selects all.
type Filter struct {
	Statuses []string
	Numbers  []int32
}

// SelectVisible returns up to limit rows after row n that are not hidden and that a filter selects.
func SelectVisible(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, filter Filter, n int32, limit int,
) ([]Row, error) {
	from, to := n+1, int32(math.MaxInt32)
	if len(filter.Numbers) > 0 {
		from, to = max(from, slices.Min(filter.Numbers)), slices.Max(filter.Numbers)
	}
	return pg.All[Row](ctx, q, RowsWith+
		` AND n BETWEEN $3 AND $4 AND (cardinality($5::int[]) = 0 OR n = ANY($5))
		AND status <> 'hidden' AND (cardinality($6::text[]) = 0 OR status = ANY($6))
		ORDER BY n LIMIT $7`,
		owner, id, from, to, list(filter.Numbers), list(filter.Statuses), limit)
}

// SelectNumbered returns the rows with the given numbers that are not hidden.
func SelectNumbered(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns []int32,
) ([]Row, error) {
	if len(ns) == 0 {
		return nil, nil
	}
	return pg.All[Row](ctx, q,
		RowsWith+` AND n BETWEEN $4 AND $5 AND n = ANY($3) AND status <> 'hidden' ORDER BY n`,
		owner, id, ns, slices.Min(ns), slices.Max(ns))
}

// SelectUnfinished returns up to limit rows after row n that the commit has to write, in the order
// of the file: ready rows, and matched rows that are not linked yet. Rows of an earlier attempt are
// finished and not among them, so a commit can be continued.
func SelectUnfinished(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32, limit int,
) ([]Row, error) {
	return pg.All[Row](ctx, q, RowsWith+
		` AND n > $3 AND (status = 'ready' OR status = 'matched' AND transaction_id IS NULL)
		ORDER BY n LIMIT $4`, owner, id, n, limit)
}

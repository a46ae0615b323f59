package imports

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
)

// The values of a row's status.
const (
	hidden    = "hidden"
	ready     = "ready"
	duplicate = "duplicate"
	matched   = "matched"
	invalid   = "invalid"
	skipped   = "skipped"
	booked    = "booked"
)

// row is a row of import_rows.
type row struct {
	N, Line int32
	Status  string
	Cells   []string

	// What the file says.
	Date                      *time.Time
	Amount, Currency          string
	Payee, Description, Notes string
	Tags                      []string
	ExternalID                string `db:"external_id"`
	Account, Category         string
	Splits                    []formats.Split
	Transfer                  *formats.Transfer
	Opening                   bool
	FileProblem               string `db:"file_problem"`

	// What the user decided. Action is empty, book, skip or match, which DuplicateOf completes.
	Action            string
	ChosenCategoryID  *uuid.UUID `db:"chosen_category_id"`
	ChosenDescription *string    `db:"chosen_description"`
	ChosenPayee       *string    `db:"chosen_payee"`
	ChosenWalletID    *uuid.UUID `db:"chosen_wallet_id"`

	// What follows for the transaction.
	Problem          string
	WalletID         *uuid.UUID `db:"wallet_id"`
	BookedCurrency   string     `db:"booked_currency"`
	AmountMinor      *int64     `db:"amount_minor"`
	CategoryID       *uuid.UUID `db:"category_id"`
	CategoryFrom     string     `db:"category_from"`
	TransferWalletID *uuid.UUID `db:"transfer_wallet_id"`
	// PairN is the row of the same file that is the other side of the transfer.
	PairN         *int32     `db:"pair_n"`
	DuplicateOf   *uuid.UUID `db:"duplicate_of"`
	TransactionID *uuid.UUID `db:"transaction_id"`
	// Ruled is nil if no rule matches the row.
	Ruled *ruled
}

// rowColumns are the columns of a row, in the order of values.
var rowColumns = []string{
	"n", "line", "status", "cells", "date", "amount", "currency", "payee", "description", "notes", "tags", "external_id", "account",
	"category", "splits", "transfer", "opening", "file_problem", "action", "chosen_category_id", "chosen_description", "chosen_payee",
	"chosen_wallet_id", "problem", "wallet_id", "booked_currency", "amount_minor", "category_id", "category_from", "transfer_wallet_id",
	"pair_n", "duplicate_of", "transaction_id", "ruled",
}

// values returns the values of a row's columns.
func (r *row) values() []any {
	return []any{
		r.N, r.Line, r.Status, list(r.Cells), r.Date, r.Amount, r.Currency, r.Payee, r.Description, r.Notes, list(r.Tags), r.ExternalID, r.Account,
		r.Category, r.Splits, r.Transfer, r.Opening, r.FileProblem, r.Action, r.ChosenCategoryID, r.ChosenDescription, r.ChosenPayee,
		r.ChosenWalletID, r.Problem, r.WalletID, r.BookedCurrency, r.AmountMinor, r.CategoryID, r.CategoryFrom, r.TransferWalletID,
		r.PairN, r.DuplicateOf, r.TransactionID, r.Ruled,
	}
}

// list returns s, and an empty list for nil, which would be NULL.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// copyRows inserts rows of an import.
func copyRows(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, rows []row) error {
	columns := append([]string{"owner_id", "import_id"}, rowColumns...)
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"import_rows"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		return append([]any{owner, id}, rows[i].values()...), nil
	}))
	if err != nil {
		return fmt.Errorf("staging %d rows of import %s: %w", len(rows), id, err)
	}
	return nil
}

// replaceRows writes rows, which are in the order of their numbers, again. It is several times faster than an UPDATE of as many columns.
// The range of numbers is an index condition for PostgreSQL also without statistics of a new import. With the list alone, it reads all
// rows of the import for each page. The other statements on a list of rows have the range for the same reason.
func replaceRows(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	ns := make([]int32, len(rows))
	for i, r := range rows {
		ns[i] = r.N
	}
	_, err := tx.Exec(ctx, `
		DELETE FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND n BETWEEN $3 AND $4 AND n = ANY($5)`, owner, id, ns[0], ns[len(ns)-1], ns)
	if err != nil {
		return fmt.Errorf("deleting %d rows of import %s: %w", len(rows), id, err)
	}
	return copyRows(ctx, tx, owner, id, rows)
}

// rowsWith starts a statement that selects rows of the import $2 of the owner $1.
var rowsWith = func() string {
	text := "SELECT "
	for i, c := range rowColumns {
		if i > 0 {
			text += ", "
		}
		text += c
	}
	return text + " FROM import_rows WHERE owner_id = $1 AND import_id = $2"
}()

// selectRowsAfter returns up to limit rows after row n, including hidden ones.
func selectRowsAfter(ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32, limit int) ([]row, error) {
	rows, err := pg.All[row](ctx, q, rowsWith+` AND n > $3 ORDER BY n LIMIT $4`, owner, id, n, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting rows of import %s: %w", id, err)
	}
	return rows, nil
}

// selectVisible returns up to limit rows after row n that are not hidden, and that have one of the statuses if there are any.
func selectVisible(ctx context.Context, q pg.Querier, owner, id uuid.UUID, statuses []string, n int32, limit int) ([]row, error) {
	rows, err := pg.All[row](ctx, q, rowsWith+` AND n > $3 AND status <> 'hidden' AND (cardinality($4::text[]) = 0 OR status = ANY($4))
		ORDER BY n LIMIT $5`, owner, id, n, list(statuses), limit)
	if err != nil {
		return nil, fmt.Errorf("selecting rows of import %s: %w", id, err)
	}
	return rows, nil
}

// selectNumbered returns the rows with the given numbers that are not hidden.
func selectNumbered(ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns []int32) ([]row, error) {
	if len(ns) == 0 {
		return nil, nil
	}
	rows, err := pg.All[row](ctx, q, rowsWith+` AND n BETWEEN $4 AND $5 AND n = ANY($3) AND status <> 'hidden' ORDER BY n`,
		owner, id, ns, slices.Min(ns), slices.Max(ns))
	if err != nil {
		return nil, fmt.Errorf("selecting rows of import %s: %w", id, err)
	}
	return rows, nil
}

// selectPending returns up to limit rows after row n that the commit has to write, in the order of the file. The partner of a transfer is
// read with the row that books it.
func selectPending(ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32, limit int) ([]row, error) {
	rows, err := pg.All[row](ctx, q, rowsWith+` AND n > $3 AND (status = 'ready' OR status = 'matched' AND transaction_id IS NULL)
		ORDER BY n LIMIT $4`, owner, id, n, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting pending rows of import %s: %w", id, err)
	}
	return rows, nil
}

// setOutcomes writes the status, the problem and the transaction of rows.
func setOutcomes(ctx context.Context, q pg.Querier, owner, id uuid.UUID, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	ns, statuses, problems := make([]int32, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	transactions, originals := make([]*uuid.UUID, len(rows)), make([]*uuid.UUID, len(rows))
	for i, r := range rows {
		ns[i], statuses[i], problems[i], transactions[i], originals[i] = r.N, r.Status, r.Problem, r.TransactionID, r.DuplicateOf
	}
	_, err := q.Exec(ctx, `
		UPDATE import_rows r
		SET status = o.status, problem = o.problem, transaction_id = o.transaction_id, duplicate_of = o.duplicate_of, cells = '{}'
		FROM unnest($3::integer[], $4::text[], $5::text[], $6::uuid[], $7::uuid[]) AS o (n, status, problem, transaction_id, duplicate_of)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = o.n AND r.n BETWEEN $8 AND $9`,
		owner, id, ns, statuses, problems, transactions, originals, slices.Min(ns), slices.Max(ns))
	if err != nil {
		return fmt.Errorf("writing the outcome of %d rows of import %s: %w", len(rows), id, err)
	}
	return nil
}

// deleteRows deletes up to limit rows, and returns their number.
func deleteRows(ctx context.Context, q pg.Querier, owner, id uuid.UUID, limit int) (int64, error) {
	tag, err := q.Exec(ctx, `
		DELETE FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND n IN (
			SELECT n FROM import_rows WHERE owner_id = $1 AND import_id = $2 ORDER BY n LIMIT $3)`, owner, id, limit)
	if err != nil {
		return 0, fmt.Errorf("deleting rows of import %s: %w", id, err)
	}
	return tag.RowsAffected(), nil
}

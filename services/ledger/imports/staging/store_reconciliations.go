package staging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// Reconciliation is a row of import_reconciliations: a reconciliation in the file.
type Reconciliation struct {
	N                 int32
	Account, Currency string
	Date              time.Time
	BalanceMinor      int64 `db:"balance_minor"`
	Locked            int32
	Differs           bool
	Rows              []int32 `db:"row_numbers"`
	// ReconciliationID is the reconciliation that the commit has created, or nil.
	ReconciliationID *uuid.UUID `db:"reconciliation_id"`
}

const reconciliationColumns = `n, account, currency, date, balance_minor, locked, differs,
	row_numbers, reconciliation_id`

// CopyReconciliations inserts the reconciliations of a file.
func CopyReconciliations(
	ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, rs []statement.Reconciliation,
) error {
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"import_reconciliations"}, []string{
		"owner_id", "import_id", "n", "account", "currency", "date", "balance_minor", "locked",
		"differs", "row_numbers",
	}, pgx.CopyFromSlice(len(rs), func(i int) ([]any, error) {
		r := rs[i]
		return []any{
			owner, id, i + 1, r.Account, r.Currency, r.Date, r.BalanceMinor, r.Locked, r.Differs,
			list(r.Rows),
		}, nil
	}))
	if err != nil {
		return fmt.Errorf("staging %d reconciliations of import %s: %w", len(rs), id, err)
	}
	return nil
}

// NextReconciliation returns the first reconciliation of accounts that the commit has not created.
// found is false if there is none.
func NextReconciliation(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, accounts []string,
) (next Reconciliation, found bool, err error) {
	return optional(pg.One[Reconciliation](ctx, q, `
		SELECT `+reconciliationColumns+`
		FROM import_reconciliations
		WHERE owner_id = $1 AND import_id = $2 AND reconciliation_id IS NULL AND account = ANY($3)
		ORDER BY n
		LIMIT 1`, owner, id, accounts))
}

// LastReconciliation returns the last reconciliation before n that the commit has created. found is
// false if there is none.
func LastReconciliation(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32,
) (last Reconciliation, found bool, err error) {
	return optional(pg.One[Reconciliation](ctx, q, `
		SELECT `+reconciliationColumns+`
		FROM import_reconciliations
		WHERE owner_id = $1 AND import_id = $2 AND reconciliation_id IS NOT NULL AND n < $3
		ORDER BY n DESC
		LIMIT 1`, owner, id, n))
}

// optional returns found = false instead of pgx.ErrNoRows.
func optional(r Reconciliation, err error) (Reconciliation, bool, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return Reconciliation{}, false, nil
	}
	return r, err == nil, err
}

// SetReconciliation stores the reconciliation that the commit has created, or nil after an undo.
func SetReconciliation(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, n int32, created *uuid.UUID,
) error {
	return pg.Exec(ctx, q, `
		UPDATE import_reconciliations
		SET reconciliation_id = $4
		WHERE owner_id = $1 AND import_id = $2 AND n = $3`, owner, id, n, created)
}

// SelectUnchanged returns the transactions of the rows of a reconciliation that have the amount,
// the currency and the day of their row. ReplaceRows says why it has a range of numbers, too.
func SelectUnchanged(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, r Reconciliation,
) ([]uuid.UUID, error) {
	if len(r.Rows) == 0 {
		return nil, nil
	}
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT t.id
		FROM import_rows r
		JOIN transactions t ON t.owner_id = $1 AND t.id = r.transaction_id
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = ANY($3)
			AND r.n BETWEEN $4 AND $5
			AND t.amount_minor = r.amount_minor AND t.currency = r.booked_currency
			AND t.date = r.date`, owner, id, r.Rows, r.Rows[0], r.Rows[len(r.Rows)-1])
}

package reconciliations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// reconciliation is a row of table reconciliations.
type reconciliation struct {
	ID       uuid.UUID
	OwnerID  uuid.UUID `db:"owner_id"`
	WalletID uuid.UUID `db:"wallet_id"`
	Currency string
	// Date is the last day of the statement.
	Date         time.Time
	BalanceMinor int64 `db:"balance_minor"`
	// Locked is the number of transactions that it has locked.
	Locked    int32
	Differs   bool
	CreatedAt time.Time `db:"created_at"`
}

const columns = `r.id, r.owner_id, r.wallet_id, r.currency, r.date, r.balance_minor, r.locked,
	r.differs, r.created_at`

// selectCurrency returns the currency of an owner's wallet, or pgx.ErrNoRows.
func selectCurrency(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (string, error) {
	return pg.Value[string](ctx, q,
		`SELECT currency FROM wallets WHERE owner_id = $1 AND id = $2`, owner, id)
}

// countReconciliations returns the number of reconciliations of a wallet.
func countReconciliations(ctx context.Context, q pg.Querier, owner, wallet uuid.UUID) (int, error) {
	return pg.Value[int](ctx, q,
		`SELECT count(*) FROM reconciliations WHERE owner_id = $1 AND wallet_id = $2`,
		owner, wallet)
}

// insertReconciliation inserts a reconciliation, and locks the cleared transactions up to its day
// that no other one locks. It returns their number. The versions stay: the owner has changed none
// of them.
func insertReconciliation(
	ctx context.Context, q pg.Querier, r reconciliation,
) (locked int32, err error) {
	return pg.Value[int32](ctx, q, `
		WITH locked AS (
			UPDATE transactions
			SET reconciliation_id = $2, seq = (SELECT taken_seq($1))
			WHERE owner_id = $1 AND wallet_id = $3 AND currency = $4 AND date < $5 AND cleared
				AND reconciliation_id IS NULL
			RETURNING 1
		)
		INSERT INTO reconciliations (owner_id, id, wallet_id, currency, date, balance_minor, locked,
			created_at)
		SELECT $1, $2, $3, $4, $6, $7, count(*)::integer, $8
		FROM locked
		RETURNING locked`,
		r.OwnerID, r.ID, r.WalletID, r.Currency, r.Date.AddDate(0, 0, 1), r.Date, r.BalanceMinor,
		r.CreatedAt)
}

// insertRestored inserts a reconciliation of an export, and locks those of the transactions that a
// reconciliation of its wallet can lock. It differs if it did, or if their number is not r.Locked.
func insertRestored(
	ctx context.Context, q pg.Querier, r reconciliation, differed bool, transactions []uuid.UUID,
) (differs bool, err error) {
	return pg.Value[bool](ctx, q, `
		WITH locked AS (
			UPDATE transactions
			SET reconciliation_id = $2, seq = (SELECT taken_seq($1))
			WHERE owner_id = $1 AND id = ANY($10) AND wallet_id = $3 AND currency = $4 AND cleared
				AND reconciliation_id IS NULL
			RETURNING 1
		)
		INSERT INTO reconciliations (owner_id, id, wallet_id, currency, date, balance_minor, locked,
			differs, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7::integer, $8 OR count(*) <> $7, $9
		FROM locked
		RETURNING differs`,
		r.OwnerID, r.ID, r.WalletID, r.Currency, r.Date, r.BalanceMinor, r.Locked, differed,
		r.CreatedAt, transactions)
}

// selectReconciliations returns up to limit of the reconciliations of a wallet after one, the
// newest first.
func selectReconciliations(
	ctx context.Context, q pg.Querier, owner, wallet, after uuid.UUID, limit int,
) ([]reconciliation, error) {
	return pg.All[reconciliation](ctx, q, `
		SELECT `+columns+`
		FROM reconciliations r
		WHERE r.owner_id = $1 AND r.wallet_id = $2 AND r.id < $3
		ORDER BY r.id DESC
		LIMIT $4`, owner, wallet, after, limit)
}

// placed is a reconciliation, and whether it is the latest one of its wallet in its currency.
type placed struct {
	reconciliation
	Latest bool
}

// selectReconciliation returns a reconciliation of an owner, or pgx.ErrNoRows.
func selectReconciliation(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (placed, error) {
	return pg.One[placed](ctx, q, `
		SELECT `+columns+`, NOT EXISTS (
			SELECT FROM reconciliations l
			WHERE l.owner_id = $1 AND l.wallet_id = r.wallet_id AND l.currency = r.currency
				AND l.id > r.id) AS latest
		FROM reconciliations r
		WHERE r.owner_id = $1 AND r.id = $2`, owner, id)
}

// deleteReconciliation deletes a reconciliation, and unlocks its transactions.
func deleteReconciliation(ctx context.Context, q pg.Querier, r reconciliation) error {
	return pg.Exec(ctx, q, `
		WITH unlocked AS (
			UPDATE transactions
			SET reconciliation_id = NULL, seq = (SELECT taken_seq($1))
			WHERE owner_id = $1 AND wallet_id = $3 AND reconciliation_id = $2
		)
		DELETE FROM reconciliations WHERE owner_id = $1 AND id = $2`, r.OwnerID, r.ID, r.WalletID)
}

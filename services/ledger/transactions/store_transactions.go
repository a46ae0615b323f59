package transactions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// selectTransaction returns a transaction of any owner without its splits, or pgx.ErrNoRows. The caller checks the owner. The
// primary key is (id, owner_id), so an id is sufficient for an index lookup, unlike in the other tables (ADR 14).
func selectTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (posting.Transaction, error) {
	t, err := pg.One[posting.Transaction](ctx, q, `SELECT `+posting.TransactionColumns+` FROM transactions t WHERE t.id = $1`, id)
	if err != nil {
		return posting.Transaction{}, fmt.Errorf("selecting transaction %s: %w", id, err)
	}
	return t, nil
}

// lockTransaction is selectTransaction with a lock that prevents changes until the transaction ends.
func lockTransaction(ctx context.Context, q pg.Querier, id uuid.UUID) (posting.Transaction, error) {
	t, err := pg.One[posting.Transaction](ctx, q, `SELECT `+posting.TransactionColumns+` FROM transactions t WHERE t.id = $1 FOR UPDATE`, id)
	if err != nil {
		return posting.Transaction{}, fmt.Errorf("locking transaction %s: %w", id, err)
	}
	return t, nil
}

// updateTransaction writes the changed fields and the version of t, except its splits. The caller corrects balances and totals with
// posting.Replace.
func updateTransaction(ctx context.Context, q pg.Querier, t posting.Transaction) error {
	_, err := q.Exec(ctx, `
		UPDATE transactions
		SET wallet_id = $3, category_id = $4, currency = $5, amount_minor = $6, amount_e4 = $7, description = $8, date = $9,
			version = $10, updated_at = $11, payee = $12, notes = $13, tags = $14, split_count = $15
		WHERE id = $1 AND owner_id = $2`,
		t.ID, t.OwnerID, t.WalletID, t.CategoryID, t.Currency, t.AmountMinor, t.AmountE4(), t.Description, t.Date, t.Version,
		t.UpdatedAt, t.Payee, t.Notes, t.Tags, len(t.Splits))
	if err != nil {
		return fmt.Errorf("updating transaction %s: %w", t.ID, err)
	}
	return nil
}

// deleteTransaction deletes the row of t. The caller corrects balances and totals with posting.Remove.
func deleteTransaction(ctx context.Context, q pg.Querier, t posting.Transaction) error {
	_, err := q.Exec(ctx, `DELETE FROM transactions WHERE id = $1 AND owner_id = $2`, t.ID, t.OwnerID)
	if err != nil {
		return fmt.Errorf("deleting transaction %s: %w", t.ID, err)
	}
	return nil
}

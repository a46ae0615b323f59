package posting

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// AddDetails loads the parts of transactions and the names of their tags, which an answer shows.
// All transactions belong to the owner. Without a split or a tagged transaction it runs no query.
func AddDetails(ctx context.Context, q pg.Querier, owner uuid.UUID, ts []Transaction) error {
	if err := addSplits(ctx, q, owner, ts); err != nil {
		return err
	}
	return addTagNames(ctx, q, owner, ts)
}

func addSplits(ctx context.Context, q pg.Querier, owner uuid.UUID, ts []Transaction) error {
	var ids []uuid.UUID
	for _, t := range ts {
		if t.SplitCount > 0 {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	type row struct {
		Split
		TransactionID uuid.UUID `db:"transaction_id"`
	}
	rows, err := pg.All[row](ctx, q, `
		SELECT transaction_id, category_id, amount_minor, description
		FROM splits
		WHERE owner_id = $1 AND transaction_id = ANY($2)
		ORDER BY transaction_id, position`, owner, ids)
	if err != nil {
		return err
	}
	parts := map[uuid.UUID][]Split{}
	for _, r := range rows {
		parts[r.TransactionID] = append(parts[r.TransactionID], r.Split)
	}
	for i := range ts {
		ts[i].Splits = parts[ts[i].ID]
	}
	return nil
}

// ReplaceSplits writes the splits of a changed transaction, with the wallet, currency and date that
// they share with it. The caller holds the lock of the transaction's row. All parts are deleted and
// inserted at once, because the triggers that correct the monthly totals (ADR 103) derive the type
// of the transaction from the sum of its parts. A category that is not the owner's violates
// transactions_category_fkey.
func ReplaceSplits(ctx context.Context, q pg.Querier, transaction Transaction) error {
	var categories []uuid.UUID
	var amounts []int64
	var descriptions []string
	for _, s := range transaction.Splits {
		categories = append(categories, s.CategoryID)
		amounts = append(amounts, s.AmountMinor)
		descriptions = append(descriptions, s.Description)
	}
	err := pg.Exec(ctx, q, `DELETE FROM splits WHERE owner_id = $1 AND transaction_id = $2`,
		transaction.OwnerID, transaction.ID)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, q, `
		INSERT INTO splits (`+splitColumns+`)
		SELECT $1, $2, p.position - 1, p.category_id, $3, $4, $5, p.amount_minor, p.description
		FROM unnest($6::uuid[], $7::bigint[], $8::text[]) WITH ORDINALITY
			AS p (category_id, amount_minor, description, position)`,
		transaction.OwnerID, transaction.ID, transaction.WalletID, transaction.Currency,
		transaction.Date, categories, amounts, descriptions)
}

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
	for i := range ts {
		if ts[i].SplitCount > 0 {
			ids = append(ids, ts[i].ID)
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

// ReplaceSplits writes the splits of changed transactions of one owner, with the wallet, currency
// and date that they share with their transactions. The caller holds the locks of the rows. All
// parts of a transaction are deleted and inserted at once, because the triggers that correct the
// monthly totals (ADR 103) derive the type of the transaction from the sum of its parts. A category
// that is not the owner's violates transactions_category_fkey. Without transactions it runs no
// query.
func ReplaceSplits(ctx context.Context, q pg.Querier, ts ...Transaction) error {
	if len(ts) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(ts))
	for i, t := range ts {
		ids[i] = t.ID
	}
	owner := ts[0].OwnerID
	err := pg.Exec(ctx, q, `DELETE FROM splits WHERE owner_id = $1 AND transaction_id = ANY($2)`,
		owner, ids)
	if err != nil {
		return err
	}
	rows := insertion{transactions: ts, parts: partsOf(ts)}
	return pg.Exec(ctx, q, insertSplitsSQL,
		partColumns.values(changedColumns.values([]any{owner}, rows), rows)...)
}

var insertSplitsSQL = `
		INSERT INTO splits (` + splitColumns + `)
		SELECT $1::uuid, t.id, p.position, p.category_id, t.wallet_id, t.currency, t.date,
			p.amount_minor, p.description
		FROM unnest(` + changedColumns.parameters(2) + `) WITH ORDINALITY
			AS t (` + changedColumns.names() + `, item)
		JOIN unnest(` + partColumns.parameters(2+len(changedColumns)) + `)
			AS p (` + partColumns.names() + `) USING (item)`

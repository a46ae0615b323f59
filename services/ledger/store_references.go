package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// own counts how many of some wallets and categories are an owner's. Currency is that of the one wallet asked for.
type own struct {
	Wallets    int
	Categories int
	Currency   string
}

func selectOwn(ctx context.Context, q pg.Querier, owner uuid.UUID, wallets, categories []uuid.UUID) (own, error) {
	o, err := pg.One[own](ctx, q, `
		SELECT w.wallets, w.currency, c.categories
		FROM (SELECT count(*) AS wallets, coalesce(max(currency), '') AS currency FROM wallets WHERE owner_id = $1 AND id = ANY($2)) AS w,
			(SELECT count(*) AS categories FROM categories WHERE owner_id = $1 AND id = ANY($3)) AS c`, owner, wallets, categories)
	if err != nil {
		return own{}, fmt.Errorf("selecting an owner's wallets and categories: %w", err)
	}
	return o, nil
}

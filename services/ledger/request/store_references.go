package request

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Owned holds those of some wallets and categories that belong to an owner. Currency is only
// meaningful for a single wallet, whose currency it is.
type Owned struct {
	Wallets    []uuid.UUID
	Categories []uuid.UUID
	Currency   string
}

// SelectOwned returns the given wallets and categories that belong to the owner. Without any it
// returns no error and runs no query.
func SelectOwned(
	ctx context.Context, q pg.Querier, owner uuid.UUID, wallets, categories []uuid.UUID,
) (Owned, error) {
	if len(wallets)+len(categories) == 0 {
		return Owned{}, nil
	}
	return pg.One[Owned](ctx, q, `
		SELECT w.wallets, w.currency, c.categories
		FROM (SELECT array_agg(id) AS wallets, coalesce(max(currency), '') AS currency
				FROM wallets WHERE owner_id = $1 AND id = ANY($2)) AS w,
			(SELECT array_agg(id) AS categories FROM categories
				WHERE owner_id = $1 AND id = ANY($3)) AS c`,
		owner, wallets, categories)
}

package imports

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// unready is a reason why an import cannot be committed, and the number of its rows.
type unready struct {
	// Account is the key of the account of the rows.
	Account string
	// Wallet is set if the rows lack a wallet, and Amount if they lack an amount, because their
	// currency is unknown. If neither is set, they lack a category.
	Wallet bool
	Amount bool
	Count  int32
}

// selectUnready returns the ready rows that lack a wallet, an amount or a category, counted by
// account, at most 20 counts. created holds the keys of the accounts whose wallets the commit will
// create. The same applies to categories with category_from 'file'.
func selectUnready(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, created []string,
) ([]unready, error) {
	return pg.All[unready](ctx, q, `
		SELECT account, lacks_wallet AS wallet, lacks_amount AS amount, count(*)::integer AS count
		FROM (
			SELECT account, wallet_id IS NULL AND account <> ALL($3) AS lacks_wallet,
				amount_minor IS NULL AS lacks_amount,
				category_id IS NULL AND transfer_wallet_id IS NULL AND category_from <> 'file'
				AND status = 'ready' AS lacks_category
			FROM (`+staging.RowsWith+` AND status IN ('ready', 'matched')) AS live
		) AS r
		WHERE lacks_wallet OR lacks_amount OR lacks_category
		GROUP BY account, lacks_wallet, lacks_amount
		ORDER BY account, lacks_wallet DESC, lacks_amount DESC
		LIMIT 20`, owner, id, created)
}

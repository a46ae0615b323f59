package accounts

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// AllWallets returns all wallets of an owner by id, as the API shows them. The result is limited by
// the maximum of wallets per user. Package export calls it in the snapshot of an export, so the
// balances belong to the same moment as the transactions.
func AllWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID,
) (map[uuid.UUID]*ledgerv1.Wallet, error) {
	wallets, err := pg.All[wallet](ctx, q, walletsWith+` WHERE w.owner_id = $1`, owner)
	if err != nil {
		return nil, err
	}
	byID := make(map[uuid.UUID]*ledgerv1.Wallet, len(wallets))
	for _, w := range wallets {
		byID[w.ID] = w.proto()
	}
	return byID, nil
}

// AllCategories returns all categories of an owner in the order of their creation, as the API shows
// them. The result is limited by MaxCategories.
func AllCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID,
) ([]*ledgerv1.Category, error) {
	rows, err := pg.All[category](ctx, q, `
		SELECT `+categoryColumns+`
		FROM categories
		WHERE owner_id = $1
		ORDER BY created_at, id`, owner)
	if err != nil {
		return nil, err
	}
	categories := make([]*ledgerv1.Category, len(rows))
	for i, c := range rows {
		categories[i] = c.proto()
	}
	return categories, nil
}

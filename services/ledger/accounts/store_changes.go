package accounts

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

type changedWallet struct {
	wallet
	Seq int64
}

// selectChangedWallets returns up to limit of an owner's wallets after a place, in the order of
// their changes. The index wallets_seq has this order, so a page reads only its own rows.
func selectChangedWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int,
) ([]changedWallet, error) {
	return pg.All[changedWallet](ctx, q, `
		SELECT `+walletColumns+`, w.seq`+walletsAndBalances+`
		WHERE w.owner_id = $1 AND (w.seq, w.id) > ($2, $3)
		ORDER BY w.seq, w.id
		LIMIT $4`, owner, after.Seq, after.ID, limit)
}

func selectWalletsWithIDs(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]wallet, error) {
	return pg.All[wallet](ctx, q,
		walletsWith+` WHERE w.owner_id = $1 AND w.id = ANY($2) ORDER BY w.id`, owner, ids)
}

type changedCategory struct {
	category
	Seq int64
}

// selectChangedCategories returns up to limit of an owner's categories after a place, in the order
// of their changes. The index categories_seq has this order.
func selectChangedCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int,
) ([]changedCategory, error) {
	return pg.All[changedCategory](ctx, q, `
		SELECT `+categoryColumns+`, seq
		FROM categories
		WHERE owner_id = $1 AND (seq, id) > ($2, $3)
		ORDER BY seq, id
		LIMIT $4`, owner, after.Seq, after.ID, limit)
}

package accounts

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// ChangedWallets returns up to limit of an owner's wallets after a place, in the order of their changes.
func ChangedWallets(ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int) ([]posting.Changed[*ledgerv1.Wallet], error) {
	type row struct {
		wallet
		Seq int64
	}
	rows, err := pg.All[row](ctx, q, `SELECT `+walletColumns+`, w.seq`+walletsAndBalances+`
		WHERE w.owner_id = $1 AND (w.seq, w.id) > ($2, $3)
		ORDER BY w.seq, w.id
		LIMIT $4`, owner, after.Seq, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting changed wallets: %w", err)
	}
	changed := make([]posting.Changed[*ledgerv1.Wallet], len(rows))
	for i, r := range rows {
		changed[i] = posting.Changed[*ledgerv1.Wallet]{Place: posting.Place{Seq: r.Seq, ID: r.ID}, Message: r.proto()}
	}
	return changed, nil
}

// WalletsWithIDs returns those of the wallets that belong to an owner.
func WalletsWithIDs(ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID) ([]*ledgerv1.Wallet, error) {
	wallets, err := pg.All[wallet](ctx, q, walletsWith+` WHERE w.owner_id = $1 AND w.id = ANY($2) ORDER BY w.id`, owner, ids)
	if err != nil {
		return nil, fmt.Errorf("selecting %d wallets: %w", len(ids), err)
	}
	messages := make([]*ledgerv1.Wallet, len(wallets))
	for i, w := range wallets {
		messages[i] = w.proto()
	}
	return messages, nil
}

// ChangedCategories returns up to limit of an owner's categories after a place, in the order of their changes.
func ChangedCategories(ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int) ([]posting.Changed[*ledgerv1.Category], error) {
	type row struct {
		category
		Seq int64
	}
	rows, err := pg.All[row](ctx, q, `
		SELECT `+categoryColumns+`, seq
		FROM categories
		WHERE owner_id = $1 AND (seq, id) > ($2, $3)
		ORDER BY seq, id
		LIMIT $4`, owner, after.Seq, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("selecting changed categories: %w", err)
	}
	changed := make([]posting.Changed[*ledgerv1.Category], len(rows))
	for i, r := range rows {
		changed[i] = posting.Changed[*ledgerv1.Category]{Place: posting.Place{Seq: r.Seq, ID: r.ID}, Message: r.proto()}
	}
	return changed, nil
}

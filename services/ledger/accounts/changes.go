package accounts

import (
	"context"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// ChangedWallets returns up to limit of an owner's wallets after a place, in the order of their
// changes, as the API shows them. Package sync calls it in the snapshot of a page. A new balance
// alone is no change of a wallet: sync adds the wallets of the transactions.
func ChangedWallets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int,
) ([]posting.Changed[*ledgerv1.Wallet], error) {
	rows, err := selectChangedWallets(ctx, q, owner, after, limit)
	if err != nil {
		return nil, err
	}
	changed := make([]posting.Changed[*ledgerv1.Wallet], len(rows))
	for i, r := range rows {
		changed[i].Place = posting.Place{Seq: r.Seq, ID: r.ID}
		changed[i].Message = r.proto()
	}
	return changed, nil
}

// WalletsWithIDs returns the wallets with the given ids, in the order of the ids. It omits unknown
// ids and wallets of other owners. Package sync calls it for the wallets of changed transactions,
// whose balances changed without a change of the wallet.
func WalletsWithIDs(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids []uuid.UUID,
) ([]*ledgerv1.Wallet, error) {
	wallets, err := selectWalletsWithIDs(ctx, q, owner, ids)
	if err != nil {
		return nil, err
	}
	messages := make([]*ledgerv1.Wallet, len(wallets))
	for i, w := range wallets {
		messages[i] = w.proto()
	}
	return messages, nil
}

// ChangedCategories returns up to limit of an owner's categories after a place, in the order of
// their changes, like ChangedWallets.
func ChangedCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID, after posting.Place, limit int,
) ([]posting.Changed[*ledgerv1.Category], error) {
	rows, err := selectChangedCategories(ctx, q, owner, after, limit)
	if err != nil {
		return nil, err
	}
	changed := make([]posting.Changed[*ledgerv1.Category], len(rows))
	for i, r := range rows {
		changed[i].Place = posting.Place{Seq: r.Seq, ID: r.ID}
		changed[i].Message = r.proto()
	}
	return changed, nil
}

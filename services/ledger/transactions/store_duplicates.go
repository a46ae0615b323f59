package transactions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// external is a stored transaction with the wallet and the external id of a given one.
type external struct {
	// ID is the id of the stored transaction.
	ID uuid.UUID
	// Position is the place of the given transaction, from 1.
	Position int
}

// selectExternal returns the transactions of an owner with the wallets and external ids of ts, in
// the order of ts.
func selectExternal(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ts ...posting.Transaction,
) ([]external, error) {
	wallets, ids := make([]uuid.UUID, len(ts)), make([]*string, len(ts))
	for i, t := range ts {
		wallets[i], ids[i] = t.WalletID, t.ExternalID
	}
	found, err := pg.All[external](ctx, q, `
		SELECT t.id, e.position
		FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS e (wallet_id, external_id, position)
		JOIN transactions t ON t.owner_id = $1 AND t.wallet_id = e.wallet_id
			AND t.external_id = e.external_id
		ORDER BY e.position`, owner, wallets, ids)
	if err != nil {
		return nil, fmt.Errorf("selecting transactions by external id: %w", err)
	}
	return found, nil
}

package resolving

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Owned holds all wallets and categories of an owner, so that thousands of rows need no further
// query. The number of both is limited.
type Owned struct {
	wallets    map[uuid.UUID]ownedWallet
	categories map[uuid.UUID]bool
	// walletNames and categoryNames hold the ids by folded names. Of several wallets with one name,
	// the newest one counts.
	walletNames   map[string]uuid.UUID
	categoryNames map[string]uuid.UUID
}

// HasWallet reports whether a wallet is the owner's.
func (o Owned) HasWallet(id uuid.UUID) bool {
	_, ok := o.wallets[id]
	return ok
}

// HasCategory reports whether a category is the owner's.
func (o Owned) HasCategory(id uuid.UUID) bool { return o.categories[id] }

type ownedWallet struct {
	ID             uuid.UUID
	Name, Currency string
}

// SelectOwned returns the owner's wallets and categories.
func SelectOwned(ctx context.Context, q pg.Querier, owner uuid.UUID) (Owned, error) {
	o := Owned{
		wallets: map[uuid.UUID]ownedWallet{}, walletNames: map[string]uuid.UUID{},
		categories: map[uuid.UUID]bool{}, categoryNames: map[string]uuid.UUID{},
	}
	wallets, err := pg.All[ownedWallet](ctx, q,
		`SELECT id, name, currency FROM wallets WHERE owner_id = $1 ORDER BY id`, owner)
	if err != nil {
		return Owned{}, fmt.Errorf("selecting the wallets of %s: %w", owner, err)
	}
	for _, w := range wallets {
		o.wallets[w.ID], o.walletNames[fold(w.Name)] = w, w.ID
	}
	type category struct {
		ID   uuid.UUID
		Name string
	}
	categories, err := pg.All[category](ctx, q,
		`SELECT id, name FROM categories WHERE owner_id = $1`, owner)
	if err != nil {
		return Owned{}, fmt.Errorf("selecting the categories of %s: %w", owner, err)
	}
	for _, c := range categories {
		o.categories[c.ID], o.categoryNames[fold(c.Name)] = true, c.ID
	}
	return o, nil
}

// selectOtherAccounts returns the accounts at the other sides of the transfers that have an id in
// the file, by row. The two rows with one id are neighbors in the window, so lead finds the other
// side of the first row, and lag finds the other side of the second.
func selectOtherAccounts(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) (map[int32]string, error) {
	type side struct {
		N     int32
		Other *string
	}
	rows, err := pg.All[side](ctx, q, `
		SELECT n, coalesce(lead(account) OVER w, lag(account) OVER w) AS other
		FROM import_rows
		WHERE owner_id = $1 AND import_id = $2 AND transfer ->> 'ID' <> ''
		WINDOW w AS (PARTITION BY transfer ->> 'ID' ORDER BY n)`, owner, id)
	if err != nil {
		return nil, fmt.Errorf("selecting the transfers of import %s: %w", id, err)
	}
	accounts := map[int32]string{}
	for _, r := range rows {
		if r.Other != nil {
			accounts[r.N] = *r.Other
		}
	}
	return accounts, nil
}

// writePairs stores for each row in ns the row at the other side of its transfer: the element of
// others at the same index. The rows in alone have no other side, although the file should
// contain it. They become invalid, because booking one side twice or not at all would change a
// balance.
func writePairs(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, ns, others, alone []int32,
) error {
	if len(ns)+len(alone) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `
		WITH lonely AS (
			UPDATE import_rows
			SET status = 'invalid',
				problem = 'the file has no row for the other side of the transfer'
			WHERE owner_id = $1 AND import_id = $2 AND n = ANY($5) AND status = 'ready'
		)
		UPDATE import_rows r
		SET pair_n = p.other
		FROM unnest($3::integer[], $4::integer[]) AS p (n, other)
		WHERE r.owner_id = $1 AND r.import_id = $2 AND r.n = p.n`, owner, id, ns, others, alone)
	if err != nil {
		return fmt.Errorf("pairing the transfers of import %s: %w", id, err)
	}
	return nil
}

package staging

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// The kinds of creations.
const (
	CreatedWallet   = "wallet"
	CreatedCategory = "category"
)

// Creation is a row of import_creations: a wallet or category that a commit has created. It may
// have been deleted or merged since.
type Creation struct {
	ID   uuid.UUID
	Kind string
}

// InsertCreations records creations. They commit together with the wallets and categories, so that
// an undo finds them after any failure.
func InsertCreations(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, creations []Creation,
) error {
	ids, kinds := make([]uuid.UUID, len(creations)), make([]string, len(creations))
	for i, c := range creations {
		ids[i], kinds[i] = c.ID, c.Kind
	}
	return pg.Exec(ctx, q, `
		INSERT INTO import_creations (owner_id, import_id, id, kind)
		SELECT $1, $2, c.id, c.kind
		FROM unnest($3::uuid[], $4::text[]) AS c (id, kind)`, owner, id, ids, kinds)
}

// NextCreation returns the first creation of an import with an id greater than after. found is
// false if there is none.
func NextCreation(
	ctx context.Context, q pg.Querier, owner, id, after uuid.UUID,
) (creation Creation, found bool, err error) {
	creation, err = pg.One[Creation](ctx, q, `
		SELECT id, kind
		FROM import_creations
		WHERE owner_id = $1 AND import_id = $2 AND id > $3
		ORDER BY id
		LIMIT 1`, owner, id, after)
	if errors.Is(err, pgx.ErrNoRows) {
		return Creation{}, false, nil
	}
	if err != nil {
		err = fmt.Errorf("selecting the next creation of import %s: %w", id, err)
		return Creation{}, false, err
	}
	return creation, true, nil
}

// SelectCreatedWallets returns the wallets that the commit of an import has created.
func SelectCreatedWallets(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID,
) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT id
		FROM import_creations
		WHERE owner_id = $1 AND import_id = $2 AND kind = 'wallet'`, owner, id)
}

// DeleteCreation deletes the record of a creation that does not exist any more.
func DeleteCreation(ctx context.Context, q pg.Querier, owner, id, creation uuid.UUID) error {
	return pg.Exec(ctx, q,
		`DELETE FROM import_creations WHERE owner_id = $1 AND import_id = $2 AND id = $3`,
		owner, id, creation)
}

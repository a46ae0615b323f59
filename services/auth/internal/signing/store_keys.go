package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Key is a row of signing_keys. The private key is encrypted with a key derived from the service
// key.
type Key struct {
	// KID is the id in the header of a token: a UUID of version 7.
	KID              string `db:"kid"`
	PublicKey        []byte `db:"public_key"`
	SealedPrivateKey []byte `db:"sealed_private_key"`
	// ActiveFrom is the time from which the key signs.
	ActiveFrom time.Time `db:"active_from"`
}

// lock locks the signing keys until the transaction ends, so that of all replicas one rotates them
// at a time. Advisory locks apply to the whole database, so the key of the lock contains the
// schema. The lock does not keep other replicas from reading the keys, so signing continues during
// a rotation.
func lock(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx,
		`SELECT pg_advisory_xact_lock(hashtext('coffer signing keys'), hashtext(current_schema()))`)
	if err != nil {
		return fmt.Errorf("locking the signing keys: %w", err)
	}
	return nil
}

// Select returns all keys, oldest ActiveFrom first.
func Select(ctx context.Context, q pg.Querier) ([]Key, error) {
	keys, err := pg.All[Key](ctx, q, `
		SELECT kid, public_key, sealed_private_key, active_from
		FROM signing_keys
		ORDER BY active_from, kid`)
	if err != nil {
		return nil, fmt.Errorf("selecting the signing keys: %w", err)
	}
	return keys, nil
}

// insert inserts a key. The caller holds the lock of lock.
func insert(ctx context.Context, q pg.Querier, k Key) error {
	_, err := q.Exec(ctx, `
		INSERT INTO signing_keys (kid, public_key, sealed_private_key, active_from)
		VALUES ($1, $2, $3, $4)`, k.KID, k.PublicKey, k.SealedPrivateKey, k.ActiveFrom)
	if err != nil {
		return fmt.Errorf("inserting a signing key: %w", err)
	}
	return nil
}

// remove deletes keys by id. Tokens that they signed are invalid from the next reload of a verifier
// on.
func remove(ctx context.Context, q pg.Querier, kids []string) error {
	_, err := q.Exec(ctx, `DELETE FROM signing_keys WHERE kid = ANY($1)`, kids)
	if err != nil {
		return fmt.Errorf("deleting signing keys: %w", err)
	}
	return nil
}

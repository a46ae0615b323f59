package signing

import (
	"context"
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
	return pg.Exec(ctx, tx,
		`SELECT pg_advisory_xact_lock(hashtext('coffer signing keys'), hashtext(current_schema()))`)
}

// Select returns all keys, oldest ActiveFrom first.
func Select(ctx context.Context, q pg.Querier) ([]Key, error) {
	return pg.All[Key](ctx, q, `
		SELECT kid, public_key, sealed_private_key, active_from
		FROM signing_keys
		ORDER BY active_from, kid`)
}

// insert inserts a key. The caller holds the lock of lock.
func insert(ctx context.Context, q pg.Querier, k Key) error {
	return pg.Exec(ctx, q, `
		INSERT INTO signing_keys (kid, public_key, sealed_private_key, active_from)
		VALUES ($1, $2, $3, $4)`, k.KID, k.PublicKey, k.SealedPrivateKey, k.ActiveFrom)
}

// remove deletes keys by id. Tokens that they signed are invalid from the next reload of a verifier
// on.
func remove(ctx context.Context, q pg.Querier, kids []string) error {
	return pg.Exec(ctx, q, `DELETE FROM signing_keys WHERE kid = ANY($1)`, kids)
}

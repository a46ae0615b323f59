package oidc

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// insertState stores that the provider has answered a flow. It reports false if it had answered
// before.
func insertState(ctx context.Context, q pg.Querier, state []byte, expires time.Time) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO ceremonies (hash, kind, expires_at)
		VALUES ($1, 'oidc', $2)
		ON CONFLICT (hash) DO NOTHING`, state, expires)
}

// updateResult stores the result of a flow. The row stays until the flow expires, so that the state
// is not redeemed again.
func updateResult(ctx context.Context, q pg.Querier, state, sealed []byte) error {
	return pg.Exec(ctx, q, `
		UPDATE ceremonies
		SET result_sealed = $2
		WHERE hash = $1 AND kind = 'oidc' AND used_at IS NULL`, state, sealed)
}

// useResult marks a result as used and returns it. It returns pgx.ErrNoRows for a state that is
// unknown, used, expired or has no result. A simultaneous call waits for the transaction of the
// first one.
func useResult(
	ctx context.Context, tx pgx.Tx, state []byte, now time.Time,
) (sealed []byte, err error) {
	return pg.Value[[]byte](ctx, tx, `
		UPDATE ceremonies
		SET used_at = $2
		WHERE hash = $1 AND kind = 'oidc' AND used_at IS NULL AND expires_at > $2
			AND result_sealed IS NOT NULL
		RETURNING result_sealed`, state, now)
}

// clearResult removes the result of a sign-in and names its user, so that the deletion of the user
// finds the stored response.
func clearResult(ctx context.Context, tx pgx.Tx, state []byte, user uuid.UUID) error {
	return pg.Exec(ctx, tx, `
		UPDATE ceremonies
		SET result_sealed = NULL, user_id = $2
		WHERE hash = $1 AND kind = 'oidc'`, state, user)
}

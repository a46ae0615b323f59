package factors

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

func insertChallenge(ctx context.Context, q pg.Querier, hash []byte, c Challenge) error {
	return pg.Exec(ctx, q, `
		INSERT INTO ceremonies (hash, kind, user_id, password_mark, expires_at)
		VALUES ($1, 'login', $2, $3, $4)`, hash, c.UserID, c.PasswordMark, c.ExpiresAt)
}

func selectChallenge(ctx context.Context, q pg.Querier, hash []byte) (Challenge, error) {
	return pg.One[Challenge](ctx, q, `
		SELECT user_id, password_mark, expires_at, used_at
		FROM ceremonies
		WHERE hash = $1 AND kind = 'login'`, hash)
}

func useChallenge(
	ctx context.Context, q pg.Querier, hash []byte, now time.Time,
) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE ceremonies
		SET used_at = $2
		WHERE hash = $1 AND kind = 'login' AND used_at IS NULL AND expires_at > $2`, hash, now)
}

// EndChallenges deletes the unused challenges of a user whom tx has locked. A transaction that
// removes an identity calls it, because a sign-in with the identity may have created them.
func EndChallenges(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	return pg.Exec(ctx, tx, `
		DELETE FROM ceremonies
		WHERE user_id = $1 AND kind = 'login' AND used_at IS NULL`, user)
}

// Kinds of ceremonies of passkeys. They are stored: never rename one.
const (
	passkeyCreation = "passkey_creation"
	passkeyUse      = "passkey_use"
)

func insertCeremony(
	ctx context.Context, q pg.Querier, hash []byte, kind string, user *uuid.UUID, state []byte,
	expires time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO ceremonies (hash, kind, user_id, state, expires_at)
		VALUES ($1, $2, $3, $4, $5)`, hash, kind, user, state, expires)
}

// useCeremony marks a ceremony as used by a user, and returns its state. It returns pgx.ErrNoRows
// if the ceremony is unknown, another user's, used or expired. A simultaneous call waits for the
// transaction of the first one.
func useCeremony(
	ctx context.Context, q pg.Querier, hash []byte, kind string, user uuid.UUID, now time.Time,
) ([]byte, error) {
	return pg.Value[[]byte](ctx, q, `
		UPDATE ceremonies
		SET used_at = $4, user_id = $3
		WHERE hash = $1 AND kind = $2 AND (user_id = $3 OR user_id IS NULL) AND used_at IS NULL
			AND expires_at > $4
		RETURNING state`, hash, kind, user, now)
}

// deleteChallenges deletes the challenges and ceremonies that expired before a time, and unused
// ceremonies that expired before now: those of passkeys, and those of package oidc.
func deleteChallenges(ctx context.Context, q pg.Querier, before, now time.Time) error {
	return pg.Exec(ctx, q, `
		DELETE FROM ceremonies
		WHERE expires_at < $1 OR (expires_at < $2 AND kind <> 'login' AND used_at IS NULL)`,
		before, now)
}

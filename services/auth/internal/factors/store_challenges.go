package factors

import (
	"context"
	"time"

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

// deleteChallenges deletes the challenges that expired before a time.
func deleteChallenges(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM ceremonies WHERE expires_at < $1`, before)
}

package factors

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// app is a row of user_factors.
type app struct {
	// SecretSealed and EnabledAt are nil before the first confirmation.
	SecretSealed []byte     `db:"secret_sealed"`
	EnabledAt    *time.Time `db:"enabled_at"`
	// PendingSealed is a secret that awaits its confirmation, or nil.
	PendingSealed []byte `db:"pending_sealed"`
}

// selectTotp returns pgx.ErrNoRows for a user without an app.
func selectTotp(ctx context.Context, q pg.Querier, user uuid.UUID) (app, error) {
	return pg.One[app](ctx, q, `
		SELECT secret_sealed, enabled_at, pending_sealed
		FROM user_factors
		WHERE user_id = $1`, user)
}

// lockUserInSession locks a user against sign-ins and other changes of factors, and the session
// against its end, until the transaction ends. It returns pgx.ErrNoRows unless the session is the
// user's and live at now.
func lockUserInSession(
	ctx context.Context, tx pgx.Tx, user, session uuid.UUID, now time.Time,
) error {
	_, err := pg.Value[uuid.UUID](ctx, tx, `
		SELECT u.id
		FROM users u
		JOIN sessions s ON s.user_id = u.id
		WHERE u.id = $1 AND s.id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3
		FOR NO KEY UPDATE OF u FOR SHARE OF s`, user, session, now)
	return err
}

// upsertPending stores a secret that awaits its confirmation. It reports false if the user has an
// app and does not replace it.
func upsertPending(
	ctx context.Context, q pg.Querier, user uuid.UUID, sealed []byte, replace bool,
) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO user_factors AS f (user_id, pending_sealed)
		VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE
		SET pending_sealed = EXCLUDED.pending_sealed
		WHERE f.secret_sealed IS NULL OR $3`, user, sealed, replace)
}

// confirmPending puts the pending secret into effect. The step counts as used.
func confirmPending(
	ctx context.Context, q pg.Querier, user uuid.UUID, step int64, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE user_factors
		SET secret_sealed = pending_sealed, pending_sealed = NULL, last_step = $2, enabled_at = $3
		WHERE user_id = $1`, user, step, now)
}

// useStep marks a step of an app as used, and all earlier ones. It reports false if it was used, or
// if the app was replaced.
func useStep(
	ctx context.Context, q pg.Querier, user uuid.UUID, sealed []byte, step int64,
) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE user_factors
		SET last_step = $3
		WHERE user_id = $1 AND secret_sealed = $2 AND last_step < $3`, user, sealed, step)
}

// deleteTotp deletes the app of a user and a pending one. It reports false if the user has no app.
func deleteTotp(ctx context.Context, q pg.Querier, user uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q,
		`DELETE FROM user_factors WHERE user_id = $1 AND secret_sealed IS NOT NULL`, user)
}

// updateSecondFactor stores with the user whether sign-ins have a second step. A user without a
// second factor keeps no recovery codes. The transaction must have locked the user. The write makes
// a sign-in that waits for the lock read the row again (lockPassword).
func updateSecondFactor(ctx context.Context, q pg.Querier, user uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH changed AS (
			UPDATE users
			SET second_factor = EXISTS (
				SELECT FROM user_factors WHERE user_id = $1 AND secret_sealed IS NOT NULL)
				OR EXISTS (SELECT FROM passkeys WHERE user_id = $1)
			WHERE id = $1
			RETURNING id, second_factor)
		DELETE FROM recovery_codes r
		USING changed c
		WHERE r.user_id = c.id AND NOT c.second_factor`, user)
}

func hasSecondFactor(ctx context.Context, q pg.Querier, user uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q, `SELECT second_factor FROM users WHERE id = $1`, user)
}

// replaceRecoveryCodes deletes all recovery codes of a user, also used ones, and stores new ones.
func replaceRecoveryCodes(
	ctx context.Context, q pg.Querier, user uuid.UUID, codes []string,
) error {
	hashes := make([][]byte, len(codes))
	for i, code := range codes {
		hashes[i] = hashRecoveryCode(user, code)
	}
	err := pg.Exec(ctx, q, `DELETE FROM recovery_codes WHERE user_id = $1`, user)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, q, `
		INSERT INTO recovery_codes (user_id, hash)
		SELECT $1, h.hash
		FROM unnest($2::bytea[]) AS h (hash)`, user, hashes)
}

// useRecoveryCode marks a code as used. It reports false if it is unknown or was used.
func useRecoveryCode(
	ctx context.Context, q pg.Querier, user uuid.UUID, code string, now time.Time,
) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE recovery_codes
		SET used_at = $3
		WHERE user_id = $1 AND hash = $2 AND used_at IS NULL`,
		user, hashRecoveryCode(user, code), now)
}

func countRecoveryCodes(ctx context.Context, q pg.Querier, user uuid.UUID) (int32, error) {
	return pg.Value[int32](ctx, q, `
		SELECT count(*)::integer FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL`, user)
}

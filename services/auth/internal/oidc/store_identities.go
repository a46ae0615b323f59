package oidc

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// subjectKey is violated by an identity that is linked already.
const subjectKey = "oidc_identities_subject_key"

// linked is a row of oidc_identities.
type linked struct {
	ID         uuid.UUID
	UserID     uuid.UUID `db:"user_id"`
	Issuer     string
	Email      string
	CreatedAt  time.Time  `db:"created_at"`
	LastUsedAt *time.Time `db:"last_used_at"`
}

const linkedColumns = `id, user_id, issuer, email, created_at, last_used_at`

// useIdentity records a sign-in with an identity and locks its user like a sign-in with a password.
// It returns pgx.ErrNoRows if the identity is not linked. The user is locked first, as by
// changes of the identities.
func useIdentity(
	ctx context.Context, tx pgx.Tx, of identity, now time.Time,
) (uuid.UUID, error) {
	user, err := pg.Value[uuid.UUID](ctx, tx, `
		SELECT u.id
		FROM users u
		JOIN oidc_identities i ON i.user_id = u.id
		WHERE i.issuer = $1 AND i.subject = $2
		FOR SHARE OF u`, of.Issuer, of.Subject)
	if err != nil {
		return uuid.Nil, err
	}
	return pg.Value[uuid.UUID](ctx, tx, `
		UPDATE oidc_identities
		SET last_used_at = $4, email = $5
		WHERE issuer = $1 AND subject = $2 AND user_id = $3
		RETURNING user_id`, of.Issuer, of.Subject, user, now, of.Email)
}

func insertIdentity(
	ctx context.Context, tx pgx.Tx, id, user uuid.UUID, of identity, now time.Time,
) error {
	return pg.Exec(ctx, tx, `
		INSERT INTO oidc_identities (id, user_id, issuer, subject, email, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, id, user, of.Issuer, of.Subject, of.Email, now)
}

// selectIdentities returns the identities of a user, the oldest first.
func selectIdentities(ctx context.Context, q pg.Querier, user uuid.UUID) ([]linked, error) {
	return pg.All[linked](ctx, q, `
		SELECT `+linkedColumns+`
		FROM oidc_identities
		WHERE user_id = $1
		ORDER BY id`, user)
}

// lockUserInSession locks a user against sign-ins and other changes of identities, and the session
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

// deleteIdentity returns the issuer of the deleted identity, or pgx.ErrNoRows if it is not the
// user's.
func deleteIdentity(ctx context.Context, tx pgx.Tx, user, id uuid.UUID) (string, error) {
	return pg.Value[string](ctx, tx, `
		DELETE FROM oidc_identities
		WHERE user_id = $1 AND id = $2
		RETURNING issuer`, user, id)
}

// deleteIdentities removes all links of a user and returns them.
func deleteIdentities(ctx context.Context, tx pgx.Tx, user uuid.UUID) ([]linked, error) {
	return pg.All[linked](ctx, tx, `
		DELETE FROM oidc_identities
		WHERE user_id = $1
		RETURNING `+linkedColumns, user)
}

package factors

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

const passkeysCredentialKey = "passkeys_credential_key"

// passkey is a row of passkeys.
type passkey struct {
	ID     uuid.UUID
	UserID uuid.UUID `db:"user_id"`
	Name   string
	// CredentialID identifies the passkey at all authenticators.
	CredentialID []byte `db:"credential_id"`
	// Credential is a webauthn.Credential as JSON, with the public key and the counter.
	Credential []byte
	CreatedAt  time.Time  `db:"created_at"`
	LastUsedAt *time.Time `db:"last_used_at"`
	// DisabledAt is nil unless the passkey was cloned.
	DisabledAt *time.Time `db:"disabled_at"`
}

const passkeyColumns = `id, user_id, name, credential_id, credential, created_at, last_used_at,
	disabled_at`

// selectPasskeys returns the passkeys of a user, newest first.
func selectPasskeys(ctx context.Context, q pg.Querier, user uuid.UUID) ([]passkey, error) {
	return pg.All[passkey](ctx, q, `
		SELECT `+passkeyColumns+`
		FROM passkeys
		WHERE user_id = $1
		ORDER BY id DESC`, user)
}

func insertPasskey(ctx context.Context, q pg.Querier, p passkey) error {
	return pg.Exec(ctx, q, `
		INSERT INTO passkeys (id, user_id, name, credential_id, credential, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		p.ID, p.UserID, p.Name, p.CredentialID, p.Credential, p.CreatedAt)
}

// renamePasskey returns pgx.ErrNoRows if the passkey is not the user's.
func renamePasskey(
	ctx context.Context, q pg.Querier, user, id uuid.UUID, name string,
) (passkey, error) {
	return pg.One[passkey](ctx, q, `
		UPDATE passkeys
		SET name = $3
		WHERE id = $1 AND user_id = $2
		RETURNING `+passkeyColumns, id, user, name)
}

// deletePasskey returns the name of the deleted passkey, or pgx.ErrNoRows if it is not the user's.
func deletePasskey(ctx context.Context, q pg.Querier, user, id uuid.UUID) (string, error) {
	return pg.Value[string](ctx, q,
		`DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name`, id, user)
}

// lockCredential returns the passkey with this credential id, and locks it against other uses. It
// returns pgx.ErrNoRows if it is unknown or disabled. It locks the user first, as changes of
// factors do, so that they cannot deadlock.
func lockCredential(ctx context.Context, tx pgx.Tx, credential []byte) (passkey, error) {
	err := pg.Exec(ctx, tx, `
		SELECT FROM users
		WHERE id = (SELECT user_id FROM passkeys WHERE credential_id = $1)
		FOR SHARE`, credential)
	if err != nil {
		return passkey{}, err
	}
	return pg.One[passkey](ctx, tx, `
		SELECT `+passkeyColumns+`
		FROM passkeys
		WHERE credential_id = $1 AND disabled_at IS NULL
		FOR UPDATE`, credential)
}

// updateUsed stores the new counter of a used passkey.
func updateUsed(
	ctx context.Context, q pg.Querier, id uuid.UUID, credential []byte, now time.Time,
) error {
	return pg.Exec(ctx, q,
		`UPDATE passkeys SET credential = $2, last_used_at = $3 WHERE id = $1`, id, credential, now)
}

// Disable disables a passkey that was cloned, and returns its name, or pgx.ErrNoRows if it was
// disabled or deleted. The passkey still counts as a second factor: its user signs in with another
// one, or with a recovery code. The transaction must have locked the user.
func Disable(ctx context.Context, tx pgx.Tx, cloned *ClonedError, now time.Time) (string, error) {
	return pg.Value[string](ctx, tx, `
		UPDATE passkeys
		SET disabled_at = $2
		WHERE id = $1 AND disabled_at IS NULL
		RETURNING name`, cloned.Passkey, now)
}

func countPasskeys(ctx context.Context, q pg.Querier, user uuid.UUID) (int32, error) {
	return pg.Value[int32](ctx, q,
		`SELECT count(*)::integer FROM passkeys WHERE user_id = $1`, user)
}

// hasPasskey reports whether a user has a passkey that is not disabled.
func hasPasskey(ctx context.Context, q pg.Querier, user uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q, `
		SELECT EXISTS (SELECT FROM passkeys WHERE user_id = $1 AND disabled_at IS NULL)`, user)
}

// CanSignIn reports whether a user has a way to sign in: a password, a passkey, or an identity of
// one of the issuers, which are those of the configured providers. Each transaction that removes
// one calls it afterwards, and locks the user before. The lock must be an earlier statement: a
// statement that waits for a lock reads the other tables as of its start.
func CanSignIn(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, issuers []string,
) (bool, error) {
	return pg.Value[bool](ctx, tx, `
		SELECT u.password_hash IS NOT NULL
			OR EXISTS (
				SELECT FROM oidc_identities i WHERE i.user_id = u.id AND i.issuer = ANY ($2))
			OR EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id AND p.disabled_at IS NULL)
		FROM users u
		WHERE u.id = $1`, user, issuers)
}

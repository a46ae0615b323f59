package auth

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/auth/internal/deletion"
	"github.com/coffer-budget/coffer/services/auth/internal/links"
)

const usersEmailKey = "users_email_key"

// user is a row of users. Version counts the changes of the profile and is its ETag; a change of
// the password does not count.
type user struct {
	ID   uuid.UUID
	Name string
	// Email is normalized by package email.
	Email string
	// PasswordHash is a PHC string, and empty for a user without a password.
	PasswordHash string    `db:"password_hash"`
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at"`
	Version      int64
	// VerifiedAt is nil until the user proved to read mails to the e-mail.
	VerifiedAt *time.Time `db:"email_verified_at"`
	// Language is a result of mail.Language.
	Language string
	// SecondFactor is set if sign-ins have a second step.
	SecondFactor bool `db:"second_factor"`
}

// userColumns are the columns of user in a statement that names the table u.
const userColumns = `u.id, u.name, u.email, coalesce(u.password_hash, '') AS password_hash,
	u.created_at, u.updated_at, u.version, u.email_verified_at, u.language, u.second_factor`

// insertUser violates usersEmailKey if another user has the e-mail.
func insertUser(ctx context.Context, q pg.Querier, u user) error {
	return pg.Exec(ctx, q, `
		INSERT INTO users (id, name, email, password_hash, created_at, updated_at, version,
			language, email_verified_at)
		VALUES (@id, @name, @email, nullif(@hash, ''), @created, @updated, @version,
			@language, @verified)`,
		pgx.NamedArgs{
			"id": u.ID, "name": u.Name, "email": u.Email, "hash": u.PasswordHash,
			"created": u.CreatedAt, "updated": u.UpdatedAt, "version": u.Version,
			"language": u.Language, "verified": u.VerifiedAt,
		})
}

// selectUserByEmail returns pgx.ErrNoRows if no user has the e-mail, which must be normalized by
// package email.
func selectUserByEmail(ctx context.Context, q pg.Querier, email string) (user, error) {
	return pg.One[user](ctx, q, `SELECT `+userColumns+` FROM users u WHERE u.email = $1`, email)
}

// selectInvitable is selectUserByEmail without users whose account is being deleted after the grace
// period: the budget service could store a membership after it has deleted all rows of the user.
func selectInvitable(ctx context.Context, q pg.Querier, email string) (user, error) {
	return pg.One[user](ctx, q,
		`SELECT `+userColumns+` FROM users u WHERE u.email = $1 AND `+deletion.NotBegun, email)
}

// selectUserInSession returns pgx.ErrNoRows unless the session is the user's and live at now.
// currentUser calls it in most requests of users, so it reads both rows by their primary keys with
// one statement.
func selectUserInSession(
	ctx context.Context, q pg.Querier, id, session uuid.UUID, now time.Time,
) (user, error) {
	return pg.One[user](ctx, q, `
		SELECT `+userColumns+`
		FROM users u
		JOIN sessions s ON s.user_id = u.id
		WHERE u.id = $1 AND s.id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3`,
		id, session, now)
}

func selectUsers(ctx context.Context, q pg.Querier, ids []uuid.UUID) ([]user, error) {
	return pg.All[user](ctx, q,
		`SELECT `+userColumns+` FROM users u WHERE u.id = ANY($1) ORDER BY u.id`, ids)
}

// lockPassword locks a user against changes of the password until the transaction ends. It returns
// pgx.ErrNoRows if hash is no longer the hash of the user's password. FOR SHARE permits
// simultaneous sign-ins of the user. A change of the password or of the second factors waits for
// them, and then also ends their sessions.
func lockPassword(ctx context.Context, tx pgx.Tx, id uuid.UUID, hash string) (user, error) {
	return pg.One[user](ctx, tx, `
		SELECT `+userColumns+`
		FROM users u
		WHERE u.id = $1 AND coalesce(u.password_hash, '') = $2
		FOR SHARE`, id, hash)
}

// lockMarked is lockPassword with the SHA-256 of the hash of the password.
func lockMarked(ctx context.Context, tx pgx.Tx, id uuid.UUID, mark []byte) (user, error) {
	return pg.One[user](ctx, tx, `
		SELECT `+userColumns+`
		FROM users u
		WHERE u.id = $1 AND sha256(convert_to(coalesce(u.password_hash, ''), 'UTF8')) = $2
		FOR SHARE`, id, mark)
}

// lockUser locks a user against other changes until the transaction ends. It waits for sign-ins
// that hold the lock of lockPassword.
func lockUser(ctx context.Context, tx pgx.Tx, id uuid.UUID) (user, error) {
	return pg.One[user](ctx, tx,
		`SELECT `+userColumns+` FROM users u WHERE u.id = $1 FOR UPDATE`, id)
}

// updateUser sets the fields that are not nil and increments the version. A new e-mail is not
// verified. It violates usersEmailKey if another user has the e-mail.
func updateUser(
	ctx context.Context, q pg.Querier, id uuid.UUID, name, email *string, now time.Time,
) (user, error) {
	return pg.One[user](ctx, q, `
		UPDATE users u
		SET name = COALESCE(@name, name), email = COALESCE(@email, email), updated_at = @now,
			version = version + 1, email_verified_at = CASE
				WHEN @email = email OR @email::text IS NULL THEN email_verified_at END
		WHERE id = @id
		RETURNING `+userColumns, pgx.NamedArgs{"id": id, "name": name, "email": email, "now": now})
}

// updatePassword sets the hash of the password. It reports false if the password has changed since
// u was read. The comparison in the condition replaces a lock: of simultaneous changes, the second
// one finds another hash. The version does not change, because the profile does not contain the
// password.
func updatePassword(
	ctx context.Context, q pg.Querier, u user, hash string, now time.Time,
) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE users
		SET password_hash = $3, updated_at = $4
		WHERE id = $1 AND coalesce(password_hash, '') = $2`, u.ID, u.PasswordHash, hash, now)
}

// replacePassword sets the hash of the password of a link's user, and marks the e-mail as verified.
// It returns pgx.ErrNoRows if the password or the e-mail has changed since the link was created.
func replacePassword(
	ctx context.Context, q pg.Querier, link links.Link, hash string, now time.Time,
) (user, error) {
	return pg.One[user](ctx, q, `
		UPDATE users u
		SET password_hash = $4, updated_at = $5, email_verified_at = COALESCE(email_verified_at, $5)
		WHERE id = $1 AND email = $2
			AND sha256(convert_to(coalesce(password_hash, ''), 'UTF8')) = $3
		RETURNING `+userColumns, link.UserID, link.Email, link.PasswordMark, hash, now)
}

// verifyEmail marks the e-mail of a link's user as verified. It returns pgx.ErrNoRows if the user
// has another e-mail.
func verifyEmail(
	ctx context.Context, q pg.Querier, link links.Link, now time.Time,
) (user, error) {
	return pg.One[user](ctx, q, `
		UPDATE users u
		SET email_verified_at = COALESCE(email_verified_at, $3)
		WHERE id = $1 AND email = $2
		RETURNING `+userColumns, link.UserID, link.Email, now)
}

// replaceEmail sets the e-mail of a link's user, which is then verified. It returns pgx.ErrNoRows
// if the link is bound to a password that has changed, and violates usersEmailKey if another user
// has the e-mail.
func replaceEmail(
	ctx context.Context, q pg.Querier, link links.Link, now time.Time,
) (user, error) {
	return pg.One[user](ctx, q, `
		UPDATE users u
		SET email = $2, email_verified_at = $4, updated_at = $4, version = version + 1
		WHERE id = $1 AND ($3::bytea IS NULL
			OR sha256(convert_to(coalesce(password_hash, ''), 'UTF8')) = $3)
		RETURNING `+userColumns, link.UserID, link.Email, link.PasswordMark, now)
}

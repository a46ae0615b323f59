package deletion

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// account is a user whose account is deleted.
type account struct {
	ID       uuid.UUID
	Email    string
	Language string
}

func selectAccount(ctx context.Context, q pg.Querier, id uuid.UUID) (account, error) {
	return pg.One[account](ctx, q, `SELECT id, email, language FROM users WHERE id = $1`, id)
}

// lockUserInSession locks the user of a live session, or returns pgx.ErrNoRows. Sign-ins of the
// user wait.
func lockUserInSession(
	ctx context.Context, tx pgx.Tx, user, session uuid.UUID, now time.Time,
) (account, error) {
	if err := lockUser(ctx, tx, user); err != nil {
		return account{}, err
	}
	return pg.One[account](ctx, tx, `
		SELECT u.id, u.email, u.language
		FROM users u
		JOIN sessions s ON s.user_id = u.id
		WHERE u.id = $1 AND s.id = $2 AND s.revoked_at IS NULL AND s.expires_at > $3`,
		user, session, now)
}

// lockAccount locks a user until the transaction ends, or returns pgx.ErrNoRows.
func lockAccount(ctx context.Context, tx pgx.Tx, id uuid.UUID) (account, error) {
	return pg.One[account](ctx, tx,
		`SELECT id, email, language FROM users WHERE id = $1 FOR UPDATE`, id)
}

// lockUser locks a user, if there is one, until the transaction ends.
func lockUser(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	return pg.Exec(ctx, tx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, user)
}

// selectPublishing reports whether the outbox has events of a user.
func selectPublishing(ctx context.Context, q pg.Querier, user uuid.UUID) (bool, error) {
	return pg.Value[bool](ctx, q,
		`SELECT EXISTS (SELECT FROM outbox WHERE user_id = $1)`, user)
}

// userRows are the statements that delete a user. Foreign keys delete the sessions, tokens, links,
// mails and audit entries. Entries of other users lose the id, the name and the e-mail of the user.
var userRows = []string{
	`
		UPDATE audit
		SET sharing = sharing
			|| CASE WHEN sharing ->> 'ownerId' = @id
				THEN jsonb_build_object('ownerId', @nil::text, 'ownerName', NULL) ELSE '{}' END
			|| CASE WHEN sharing ->> 'memberId' = @id
				THEN jsonb_build_object('memberId', @nil::text, 'memberName', NULL) ELSE '{}' END
			|| CASE WHEN sharing ->> 'removedBy' = @id
				THEN jsonb_build_object('removedBy', @nil::text) ELSE '{}' END
			|| CASE WHEN sharing ->> 'email' = @email
				THEN jsonb_build_object('email', NULL) ELSE '{}' END
		WHERE sharing IS NOT NULL AND (sharing @> jsonb_build_object('ownerId', @id::text)
			OR sharing @> jsonb_build_object('memberId', @id::text)
			OR sharing @> jsonb_build_object('removedBy', @id::text)
			OR sharing @> jsonb_build_object('email', @email::text))`,
	`DELETE FROM mail_links WHERE email = @email`,
	`
		DELETE FROM idempotency_keys
		WHERE scope IN (@id, 'login:' || @email, 'register:' || @email)`,
	`
		DELETE FROM idempotency_keys k
		USING ceremonies c
		WHERE c.user_id = @id::uuid AND k.scope IN ('mfa:' || encode(c.hash, 'hex'),
			'passkey:' || encode(c.hash, 'hex'), 'oidc:' || encode(c.hash, 'hex'))`,
	`DELETE FROM users WHERE id = @id::uuid AND email = @email`,
}

func deleteUser(ctx context.Context, tx pgx.Tx, u account) error {
	for _, statement := range userRows {
		err := pg.Exec(ctx, tx, statement, pgx.NamedArgs{
			"id": u.ID.String(), "email": u.Email, "nil": uuid.Nil.String(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// selectUsersAfter returns the next ids of users after an id.
func selectUsersAfter(ctx context.Context, q pg.Querier, after uuid.UUID) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q,
		`SELECT id FROM users WHERE id > $1 ORDER BY id LIMIT 1000`, after)
}

// endAccess ends the sessions and deletes the personal access tokens of a user in a restored
// backup. The lock of the user makes simultaneous sign-ins wait.
func endAccess(ctx context.Context, tx pgx.Tx, user uuid.UUID, now time.Time) error {
	if err := lockUser(ctx, tx, user); err != nil {
		return err
	}
	err := pg.Exec(ctx, tx,
		`UPDATE sessions SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL`, user, now)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, tx, `DELETE FROM access_tokens WHERE user_id = $1`, user)
}

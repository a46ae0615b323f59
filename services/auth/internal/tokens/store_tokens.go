package tokens

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// token is a row of access_tokens.
type token struct {
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	Name      string
	Hash      []byte
	Scopes    []string
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
	// LastUsedAt is the minute of the last use, and LastAddress the address of one request in it.
	LastUsedAt  *time.Time `db:"last_used_at"`
	LastAddress string     `db:"last_address"`
}

const tokenColumns = `id, user_id, name, hash, scopes, created_at, expires_at, last_used_at,
	last_address`

// lockUserInSession locks a user against other creates, and the session against its end, until the
// transaction ends. It returns pgx.ErrNoRows unless the session is the user's and live at now.
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

// deleteExpiredAtLimit deletes the expired tokens of a user who has as many tokens as are allowed.
func deleteExpiredAtLimit(
	ctx context.Context, q pg.Querier, user uuid.UUID, now time.Time, limit int,
) error {
	return pg.Exec(ctx, q, `
		DELETE FROM access_tokens
		WHERE user_id = $1 AND expires_at <= $2
			AND (SELECT count(*) FROM access_tokens WHERE user_id = $1) >= $3`, user, now, limit)
}

func countTokens(ctx context.Context, q pg.Querier, user uuid.UUID) (int, error) {
	return pg.Value[int](ctx, q, `SELECT count(*) FROM access_tokens WHERE user_id = $1`, user)
}

func insertToken(ctx context.Context, q pg.Querier, t token) error {
	return pg.Exec(ctx, q, `
		INSERT INTO access_tokens (id, user_id, name, hash, scopes, created_at, expires_at)
		VALUES (@id, @user, @name, @hash, @scopes, @created, @expires)`,
		pgx.NamedArgs{
			"id": t.ID, "user": t.UserID, "name": t.Name, "hash": t.Hash, "scopes": t.Scopes,
			"created": t.CreatedAt, "expires": t.ExpiresAt,
		})
}

func selectTokens(ctx context.Context, q pg.Querier, user uuid.UUID) ([]token, error) {
	return pg.All[token](ctx, q, `
		SELECT `+tokenColumns+`
		FROM access_tokens
		WHERE user_id = $1
		ORDER BY id DESC`, user)
}

// selectTokenByHash returns pgx.ErrNoRows for an unknown token.
func selectTokenByHash(ctx context.Context, q pg.Querier, hash []byte) (token, error) {
	return pg.One[token](ctx, q,
		`SELECT `+tokenColumns+` FROM access_tokens WHERE hash = $1`, hash)
}

// updateUse records a use in a minute. Of simultaneous uses in one minute, one writes. An unknown
// address is stored as an empty text.
func updateUse(
	ctx context.Context, q pg.Querier, id uuid.UUID, minute time.Time, address netip.Addr,
) error {
	text := ""
	if address.IsValid() {
		text = address.String()
	}
	return pg.Exec(ctx, q, `
		UPDATE access_tokens
		SET last_used_at = $2, last_address = $3
		WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`, id, minute, text)
}

// deleteToken returns the name of the deleted token, or pgx.ErrNoRows if it is not the user's. Of
// simultaneous calls for one token, exactly one gets the name.
func deleteToken(ctx context.Context, q pg.Querier, user, id uuid.UUID) (string, error) {
	return pg.Value[string](ctx, q,
		`DELETE FROM access_tokens WHERE id = $1 AND user_id = $2 RETURNING name`, id, user)
}

// insertEndedSession stores the id of a deleted token as a session that has ended. Verifiers load
// it with the other ended sessions. Access tokens may have been issued until now. The session is
// never listed, and is deleted as other ended sessions are.
func insertEndedSession(
	ctx context.Context, q pg.Querier, user, id uuid.UUID, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at, revoked_at,
			user_agent, ip_address)
		VALUES ($1, $2, $3, $3, $3, $3, '', '')`, id, user, now)
}

// deleteTokensOf deletes all tokens of a user, stores their ids as ended sessions like
// insertEndedSession, and returns their names.
func deleteTokensOf(
	ctx context.Context, q pg.Querier, user uuid.UUID, now time.Time,
) ([]string, error) {
	return pg.Values[string](ctx, q, `
		WITH deleted AS (
			DELETE FROM access_tokens WHERE user_id = $1 RETURNING id, user_id, name),
		ended AS (
			INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at, revoked_at,
				user_agent, ip_address)
			SELECT id, user_id, $2, $2, $2, $2, '', ''
			FROM deleted)
		SELECT name FROM deleted ORDER BY id`, user, now)
}

// deleteTokens deletes the tokens that expired before a time.
func deleteTokens(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM access_tokens WHERE expires_at < $1`, before)
}

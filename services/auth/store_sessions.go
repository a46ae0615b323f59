package auth

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
)

// session is a row of sessions. It is live while RevokedAt is nil and ExpiresAt is in the future.
type session struct {
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	CreatedAt time.Time `db:"created_at"`
	// LastUsedAt is the time at which the last tokens were issued.
	LastUsedAt time.Time  `db:"last_used_at"`
	ExpiresAt  time.Time  `db:"expires_at"`
	RevokedAt  *time.Time `db:"revoked_at"`
	// UserAgent and IPAddress describe the client at sign-in. They are empty if unknown.
	UserAgent string `db:"user_agent"`
	IPAddress string `db:"ip_address"`
}

// used is a session that issues an access token. AuthenticatedAt is the time at which the user last
// proved the identity in it.
type used struct {
	user
	AuthenticatedAt time.Time `db:"authenticated_at"`
}

// in returns the identity of an access token of this session.
func (u used) in(session uuid.UUID) caller.Identity {
	return caller.Identity{UserID: u.ID, SessionID: session, AuthTime: u.AuthenticatedAt}
}

// usedColumns are the columns of used in a statement that names the tables u and s. Sessions that
// were started by an earlier release have no authenticated_at.
const usedColumns = userColumns + `,
	COALESCE(s.authenticated_at, s.created_at) AS authenticated_at`

func insertSession(ctx context.Context, q pg.Querier, s session) error {
	return pg.Exec(ctx, q, `
		INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at, user_agent,
			ip_address, authenticated_at)
		VALUES (@id, @user, @created, @used, @expires, @agent, @address, @created)`,
		pgx.NamedArgs{
			"id": s.ID, "user": s.UserID, "created": s.CreatedAt, "used": s.LastUsedAt,
			"expires": s.ExpiresAt, "agent": s.UserAgent, "address": s.IPAddress,
		})
}

// prolongSession extends a session and returns its user, or pgx.ErrNoRows if the session was ended.
// It does not check the expiry: a session expires with its newest refresh token, which
// useRefreshToken checks. last_used_at never decreases, because ListRevokedSessions computes from
// it when the last access token expires.
func prolongSession(
	ctx context.Context, q pg.Querier, id uuid.UUID, now, expires time.Time,
) (used, error) {
	return pg.One[used](ctx, q, `
		UPDATE sessions s
		SET last_used_at = GREATEST(s.last_used_at, $2), expires_at = $3
		FROM users u
		WHERE s.id = $1 AND s.revoked_at IS NULL AND u.id = s.user_id
		RETURNING `+usedColumns, id, now, expires)
}

// useSession records that an access token of a session is issued, and returns its user, or
// pgx.ErrNoRows if the session was ended. Unlike prolongSession it does not extend the session,
// because no refresh token is issued.
func useSession(ctx context.Context, q pg.Querier, id uuid.UUID, now time.Time) (used, error) {
	return pg.One[used](ctx, q, `
		UPDATE sessions s
		SET last_used_at = GREATEST(s.last_used_at, $2)
		FROM users u
		WHERE s.id = $1 AND s.revoked_at IS NULL AND u.id = s.user_id
		RETURNING `+usedColumns, id, now)
}

// authenticateSession records that the user proved the identity in a session, and that an access
// token is issued. It returns pgx.ErrNoRows unless the session is live, and the user's hash is
// still the one that was compared.
func authenticateSession(
	ctx context.Context, q pg.Querier, verified user, id uuid.UUID, now time.Time,
) (used, error) {
	return pg.One[used](ctx, q, `
		UPDATE sessions s
		SET authenticated_at = $4, last_used_at = GREATEST(s.last_used_at, $4)
		FROM users u
		WHERE s.id = $1 AND s.user_id = $2 AND s.revoked_at IS NULL AND s.expires_at > $4
			AND u.id = s.user_id AND coalesce(u.password_hash, '') = $3
		RETURNING `+usedColumns, id, verified.ID, verified.PasswordHash, now)
}

// selectSessions returns the live sessions of a user with an id below before, newest first. The
// partial index sessions_user contains only sessions that were not ended, in the order of the list.
func selectSessions(
	ctx context.Context, q pg.Querier, user, before uuid.UUID, now time.Time, limit int,
) ([]session, error) {
	return pg.All[session](ctx, q, `
		SELECT id, user_id, created_at, last_used_at, expires_at, revoked_at, user_agent, ip_address
		FROM sessions
		WHERE user_id = @user AND revoked_at IS NULL AND expires_at > @now AND id < @before
		ORDER BY id DESC
		LIMIT @limit`, pgx.NamedArgs{"user": user, "before": before, "now": now, "limit": limit})
}

// revokedSession is an ended session, as verifiers need it. LastUsedAt is the time at which its
// last access token was issued.
type revokedSession struct {
	ID         uuid.UUID
	RevokedAt  time.Time `db:"revoked_at"`
	LastUsedAt time.Time `db:"last_used_at"`
}

// selectRevokedSessions returns the ended sessions after a position that were used after live,
// oldest end first. The limit is a literal because PostgreSQL assumes that a parameterized LIMIT
// returns 10 % of the table. The index sessions_revoked contains all columns of the statement, so
// PostgreSQL reads few rows of the table.
func selectRevokedSessions(
	ctx context.Context, q pg.Querier, at time.Time, id uuid.UUID, live time.Time, limit int,
) ([]revokedSession, error) {
	return pg.All[revokedSession](ctx, q, `
		SELECT id, revoked_at, last_used_at
		FROM sessions
		WHERE revoked_at IS NOT NULL AND (revoked_at, id) > ($1, $2) AND last_used_at > $3
		ORDER BY revoked_at, id
		LIMIT `+strconv.Itoa(limit), at, id, live)
}

// revokeSession ends a session. It reports false if the session was not the user's or not live. Of
// simultaneous calls for one session, exactly one reports true.
func revokeSession(
	ctx context.Context, q pg.Querier, user, id uuid.UUID, now time.Time,
) (bool, error) {
	return pg.Affected(ctx, q, `
		UPDATE sessions
		SET revoked_at = $3
		WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > $3`, id, user, now)
}

// revokeOtherSessions ends all live sessions of a user but one, and returns the number of ended
// sessions. ChangePassword calls it in the transaction that stores the new password. A sign-in with
// the old password either committed before and is ended here, or fails in lockPassword.
func revokeOtherSessions(
	ctx context.Context, q pg.Querier, user, except uuid.UUID, now time.Time,
) (int32, error) {
	tag, err := q.Exec(ctx, `
		UPDATE sessions
		SET revoked_at = $3
		WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL AND expires_at > $3`,
		user, except, now)
	if err != nil {
		return 0, fmt.Errorf("revoking the other sessions of user %s: %w", user, err)
	}
	return int32(tag.RowsAffected()), nil
}

// revokeSessionOfUsedToken ends the session of a refresh token that was used before. It returns
// pgx.ErrNoRows if the token is unknown or unused, or if its session was ended before.
func revokeSessionOfUsedToken(
	ctx context.Context, q pg.Querier, hash []byte, now time.Time,
) (session, error) {
	return pg.One[session](ctx, q, `
		UPDATE sessions s
		SET revoked_at = $2
		FROM refresh_tokens t
		WHERE t.hash = $1 AND t.used_at IS NOT NULL AND s.id = t.session_id AND s.revoked_at IS NULL
		RETURNING s.id, s.user_id, s.created_at, s.last_used_at, s.expires_at, s.revoked_at,
			s.user_agent, s.ip_address`, hash, now)
}

// deleteSessions deletes the sessions that expired or were ended before a time. Their refresh
// tokens are deleted with them. expire passes a time that is long enough ago that no access token
// of these sessions is valid.
func deleteSessions(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM sessions WHERE expires_at < $1 OR revoked_at < $1`, before)
}

func insertRefreshToken(
	ctx context.Context, q pg.Querier, hash []byte, session uuid.UUID, expires time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO refresh_tokens (hash, session_id, expires_at)
		VALUES ($1, $2, $3)`, hash, session, expires)
}

// useRefreshToken marks a token as used, stores its sealed successor if there is one, and returns
// its session. It returns pgx.ErrNoRows if the token is unknown, expired or used. Of simultaneous
// calls with one token, exactly one gets the session: the others wait for the row's lock, after
// which the row is used.
func useRefreshToken(
	ctx context.Context, q pg.Querier, hash, sealed []byte, now time.Time,
) (uuid.UUID, error) {
	rows, err := q.Query(ctx, `
		UPDATE refresh_tokens
		SET used_at = $2, sealed_successor = $3
		WHERE hash = $1 AND used_at IS NULL AND expires_at > $2
		RETURNING session_id`, hash, now, sealed)
	if err != nil {
		return uuid.Nil, fmt.Errorf("using a refresh token: %w", err)
	}
	id, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return uuid.Nil, fmt.Errorf("using a refresh token: %w", err)
	}
	return id, nil
}

// replacedToken is a refresh token that was sent in a cookie and replaced. SealedSuccessor is the
// refresh token that replaced it, sealed with successorKey.
type replacedToken struct {
	SessionID       uuid.UUID `db:"session_id"`
	SealedSuccessor []byte    `db:"sealed_successor"`
}

// selectReplacedToken returns a token that was replaced after a time, or pgx.ErrNoRows.
func selectReplacedToken(
	ctx context.Context, q pg.Querier, hash []byte, after time.Time,
) (replacedToken, error) {
	return pg.One[replacedToken](ctx, q, `
		SELECT session_id, sealed_successor
		FROM refresh_tokens
		WHERE hash = $1 AND sealed_successor IS NOT NULL AND used_at > $2`, hash, after)
}

func isUnusedRefreshToken(ctx context.Context, q pg.Querier, hash []byte) (bool, error) {
	rows, err := q.Query(ctx,
		`SELECT EXISTS (SELECT FROM refresh_tokens WHERE hash = $1 AND used_at IS NULL)`, hash)
	if err != nil {
		return false, fmt.Errorf("selecting a refresh token: %w", err)
	}
	unused, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
	if err != nil {
		return false, fmt.Errorf("selecting a refresh token: %w", err)
	}
	return unused, nil
}

// deleteRefreshTokens deletes tokens that expired before a time. Used ones are kept until then, to
// recognize their reuse.
func deleteRefreshTokens(ctx context.Context, q pg.Querier, expired time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM refresh_tokens WHERE expires_at < $1`, expired)
}

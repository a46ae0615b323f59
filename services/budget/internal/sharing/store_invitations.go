package sharing

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// invitation is a pending membership with the parts of the thing that the invited user may see.
type invitation struct {
	Member

	ThingName string    `db:"thing_name"`
	OwnerID   uuid.UUID `db:"owner_id"`
}

// selectMailed returns the invitation by mail with an id or e-mail, or pgx.ErrNoRows.
func (k Kind) selectMailed(
	ctx context.Context, q pg.Querier, thing, invitation uuid.UUID, email string,
) (Member, error) {
	return pg.One[Member](ctx, q, k.sql(`
		SELECT `+memberColumns+`
		FROM {members} m
		WHERE m.{thing_id} = $1 AND (m.invitation_id = $2 OR m.email = $3) AND `+isByMail),
		thing, invitation, email)
}

// deleteExpired deletes the expired invitations by mail of things, which must be locked. They have
// the current name of the thing, because their owner is notified.
func (k Kind) deleteExpired(
	ctx context.Context, q pg.Querier, things []uuid.UUID, now time.Time,
) ([]invitation, error) {
	return pg.All[invitation](ctx, q, k.sql(`
		DELETE FROM {members} m
		USING {things} t
		WHERE t.id = m.{thing_id} AND m.{thing_id} = ANY($1) AND m.expires_at <= $2 AND `+isByMail+`
		RETURNING `+memberColumns+`, t.name AS thing_name, t.owner_id`), things, now)
}

// selectInvitations returns a page of a user's pending invitations, newest first. They have the
// name of the invitation, or the current name in rows of releases that stored none. A partial
// index has this order.
func (k Kind) selectInvitations(
	ctx context.Context, q pg.Querier, user uuid.UUID, before moment, limit int,
) ([]invitation, error) {
	return pg.All[invitation](ctx, q, k.sql(`
		SELECT `+memberColumns+`, coalesce(m.known_name, t.name) AS thing_name, t.owner_id
		FROM {members} m
		JOIN {things} t ON t.id = m.{thing_id}
		WHERE m.user_id = @user AND m.status = 'pending'
			AND (m.invited_at, m.{thing_id}) < (@at, @id)
		ORDER BY m.invited_at DESC, m.{thing_id} DESC
		LIMIT @limit`),
		pgx.NamedArgs{"user": user, "at": before.At, "id": before.ID, "limit": limit})
}

// countPendingInvitations returns the number of a user's pending invitations to budgets and goals.
// A lock serializes the invitations to the user until tx ends, so that concurrent ones cannot
// exceed the limit.
func countPendingInvitations(ctx context.Context, tx pgx.Tx, user uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, "invitations", user); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx, `
		SELECT (SELECT count(*) FROM members WHERE user_id = $1 AND status = 'pending')
			+ (SELECT count(*) FROM goal_members WHERE user_id = $1 AND status = 'pending')`, user)
}

// insertInvitationTry counts an invitation for the limits per day. user is nil for an e-mail
// without an account.
func insertInvitationTry(
	ctx context.Context, q pg.Querier, owner uuid.UUID, user *uuid.UUID, at time.Time,
) error {
	return pg.Exec(ctx, q,
		`INSERT INTO invitation_tries (owner_id, user_id, at) VALUES ($1, $2, $3)`, owner, user, at)
}

// insertReceived counts invitations by mail for the limit per day of the user who receives them.
// They count for no owner: the mails have counted already, and the owner must not learn from a
// limit that the e-mail has an account.
func insertReceived(
	ctx context.Context, q pg.Querier, user uuid.UUID, count int, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO invitation_tries (owner_id, user_id, at)
		SELECT $1, $2, $3
		FROM generate_series(1, $4::integer)`, uuid.Nil, user, at, count)
}

// countInvitationsBy returns the number of invitations that an owner sent or tried to send since a
// time. It reads the index invitation_tries_owner.
func countInvitationsBy(
	ctx context.Context, q pg.Querier, owner uuid.UUID, since time.Time,
) (int64, error) {
	return countInvitations(ctx, q,
		`SELECT count(*) FROM invitation_tries WHERE owner_id = $1 AND at > $2`, owner, since)
}

// countInvitationsTo returns the number of invitations that a user received since a time.
// Invitations that were answered or withdrawn count, too.
func countInvitationsTo(
	ctx context.Context, q pg.Querier, user uuid.UUID, since time.Time,
) (int64, error) {
	return countInvitations(ctx, q,
		`SELECT count(*) FROM invitation_tries WHERE user_id = $1 AND at > $2`, user, since)
}

func countInvitations(
	ctx context.Context, q pg.Querier, query string, user uuid.UUID, since time.Time,
) (int64, error) {
	return pg.Value[int64](ctx, q, query, user, since)
}

// ExpireTries deletes the tries that no limit counts any more. The index invitation_tries_at finds
// the rows.
func ExpireTries(ctx context.Context, q pg.Querier, now time.Time) error {
	return pg.Exec(ctx, q,
		`DELETE FROM invitation_tries WHERE at <= $1`, now.Add(-invitationWindow))
}

// lockInviting locks the things with an invitation by mail to an e-mail without a user, in the
// order of their ids, in which all transactions lock things of a kind.
func (k Kind) lockInviting(ctx context.Context, tx pgx.Tx, email string) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, tx, k.sql(`
		SELECT t.id
		FROM {things} t
		WHERE t.id IN (
			SELECT m.{thing_id}
			FROM {members} m
			WHERE m.email = $1 AND m.user_id = m.invitation_id AND `+isByMail+`)
		ORDER BY t.id
		FOR NO KEY UPDATE`), email)
}

// selectAttachable returns those of the things whose invitation to an e-mail its user may receive:
// the newest ones, up to the limit. It omits things that the user owns or in which the user has
// another membership, except a rejected one. The things must be locked.
func (k Kind) selectAttachable(
	ctx context.Context, q pg.Querier, things []uuid.UUID, a attachment,
) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, k.sql(`
		SELECT m.{thing_id}
		FROM {members} m
		JOIN {things} t ON t.id = m.{thing_id}
		WHERE m.email = @email AND m.{thing_id} = ANY(@things) AND m.user_id = m.invitation_id
			AND `+isByMail+` AND m.expires_at > @now AND t.owner_id <> @user
			AND NOT EXISTS (
				SELECT FROM {members} o
				WHERE o.{thing_id} = m.{thing_id} AND o.user_id = @user AND o.status <> 'rejected')
		ORDER BY m.invited_at DESC
		LIMIT @limit`),
		pgx.NamedArgs{
			"email": a.email, "user": a.user, "now": a.now, "limit": a.limit, "things": things,
		})
}

// attachUser sets the user of the invitations to an e-mail in things, and returns them. The
// things must be locked, and the user must have no membership in them.
func (k Kind) attachUser(
	ctx context.Context, q pg.Querier, things []uuid.UUID, a attachment,
) ([]invitation, error) {
	return pg.All[invitation](ctx, q, k.sql(`
		UPDATE {members} m
		SET user_id = @user
		FROM {things} t
		WHERE t.id = m.{thing_id} AND m.{thing_id} = ANY(@things) AND m.email = @email
			AND m.user_id = m.invitation_id AND `+isByMail+`
		RETURNING `+memberColumns+`, coalesce(m.known_name, t.name) AS thing_name, t.owner_id`),
		pgx.NamedArgs{"email": a.email, "user": a.user, "things": things})
}

// deleteRejected deletes the memberships that a user rejected or left, which a new invitation
// replaces.
func (k Kind) deleteRejected(
	ctx context.Context, q pg.Querier, things []uuid.UUID, user uuid.UUID,
) error {
	return pg.Exec(ctx, q, k.sql(`
		DELETE FROM {members}
		WHERE {thing_id} = ANY($1) AND user_id = $2 AND status = 'rejected'`), things, user)
}

// lockExpired locks up to 1000 things with an expired invitation by mail.
func (k Kind) lockExpired(ctx context.Context, tx pgx.Tx, now time.Time) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, tx, k.sql(`
		SELECT t.id
		FROM {things} t
		WHERE t.id IN (
			SELECT m.{thing_id}
			FROM {members} m
			WHERE m.expires_at <= $1 AND `+isByMail+`)
		ORDER BY t.id
		LIMIT 1000
		FOR NO KEY UPDATE`), now)
}

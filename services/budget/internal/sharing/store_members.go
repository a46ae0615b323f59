package sharing

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Member is a membership of a thing.
type Member struct {
	ThingID uuid.UUID `db:"thing_id"`
	UserID  uuid.UUID `db:"user_id"`
	// Role is viewer or editor, also while the membership is pending.
	Role string
	// ShareBP is the share in hundredths of a percent, or nil for a member without a share.
	ShareBP *int32 `db:"share_bp"`
	Status  Status
	// InvitedAt is the time of the last invitation, and RespondedAt the time of the answer: a
	// pending member has none.
	InvitedAt   time.Time  `db:"invited_at"`
	RespondedAt *time.Time `db:"responded_at"`
	// KnownName is the name of the thing when the user was invited or left; nil in rows of releases
	// that did not store it.
	KnownName *string `db:"known_name"`
	// InvitationID and the following fields belong to an invitation that was sent by mail. Until
	// its e-mail has an account, UserID is the id of the invitation.
	InvitationID *uuid.UUID `db:"invitation_id"`
	Email        *string
	ExpiresAt    *time.Time `db:"expires_at"`
	// Resends counts the mails that were sent again since ResendsSince.
	Resends      int16
	ResendsSince *time.Time `db:"resends_since"`
}

// byMail reports whether the membership is an invitation by mail without an answer. Only the owner
// sees it, without the user.
func (m Member) byMail() bool { return m.Status == Pending && m.InvitationID != nil }

// isAttached reports whether the invited e-mail has an account.
func (m Member) isAttached() bool { return m.InvitationID == nil || m.UserID != *m.InvitationID }

// memberColumns lists the columns of type Member, with the table alias m.
const memberColumns = `m.{thing_id} AS thing_id, m.user_id, m.role, m.share_bp, m.status,
	m.invited_at, m.responded_at, m.known_name, m.invitation_id, m.email, m.expires_at, m.resends,
	m.resends_since`

// isByMail is the condition of Member.byMail.
const isByMail = `m.status = 'pending' AND m.invitation_id IS NOT NULL`

// selectThing returns pgx.ErrNoRows for an unknown id. It selects the membership of the user too,
// whose status the caller must check: any user may be the reader.
func (k Kind) selectThing(ctx context.Context, q pg.Querier, id, user uuid.UUID) (Thing, error) {
	return pg.One[Thing](ctx, q, k.sql(`
		SELECT t.id, t.owner_id, t.name, $2::uuid AS user_id, m.role, m.status, m.known_name
		FROM {things} t
		LEFT JOIN {members} m ON m.{thing_id} = t.id AND m.user_id = $2
		WHERE t.id = $1`), id, user)
}

// selectMember returns pgx.ErrNoRows if the user has no membership.
func (k Kind) selectMember(
	ctx context.Context, q pg.Querier, id, user uuid.UUID,
) (Member, error) {
	return pg.One[Member](ctx, q, k.sql(`
		SELECT `+memberColumns+`
		FROM {members} m
		WHERE m.{thing_id} = $1 AND m.user_id = $2`), id, user)
}

// upsertMember stores a membership. The caller must hold the lock of the thing and have checked
// that the former status permits the new one. An invitation after a rejection replaces the old row.
func (k Kind) upsertMember(ctx context.Context, q pg.Querier, member Member) error {
	return pg.Exec(ctx, q, k.sql(`
		INSERT INTO {members} ({thing_id}, user_id, role, share_bp, status, invited_at,
			responded_at, known_name, invitation_id, email, expires_at, resends, resends_since)
		VALUES (@thing, @user, @role, @share, @status, @invited, @responded, @name, @invitation,
			@email, @expires, @resends, @resendsSince)
		ON CONFLICT ({thing_id}, user_id) DO UPDATE
		SET role = EXCLUDED.role, share_bp = EXCLUDED.share_bp, status = EXCLUDED.status,
			invited_at = EXCLUDED.invited_at, responded_at = EXCLUDED.responded_at,
			known_name = EXCLUDED.known_name, invitation_id = EXCLUDED.invitation_id,
			email = EXCLUDED.email, expires_at = EXCLUDED.expires_at, resends = EXCLUDED.resends,
			resends_since = EXCLUDED.resends_since`),
		pgx.NamedArgs{
			"thing": member.ThingID, "user": member.UserID, "role": member.Role,
			"share":  member.ShareBP,
			"status": member.Status, "invited": member.InvitedAt, "responded": member.RespondedAt,
			"name": member.KnownName, "invitation": member.InvitationID, "email": member.Email,
			"expires": member.ExpiresAt, "resends": member.Resends,
			"resendsSince": member.ResendsSince,
		})
}

func (k Kind) deleteMember(ctx context.Context, q pg.Querier, thing, user uuid.UUID) error {
	return pg.Exec(ctx, q,
		k.sql(`DELETE FROM {members} WHERE {thing_id} = $1 AND user_id = $2`), thing, user)
}

// sumOtherShares returns the total share of a thing's pending and accepted members except m, in
// hundredths of a percent. Pending members count, because they may accept at any time. The thing
// must be locked.
func (k Kind) sumOtherShares(ctx context.Context, q pg.Querier, m Member) (int64, error) {
	return pg.Value[int64](ctx, q, k.sql(`
		SELECT coalesce(sum(share_bp), 0)::bigint
		FROM {members}
		WHERE {thing_id} = $1 AND user_id <> $2 AND status IN ('pending', 'accepted')`),
		m.ThingID, m.UserID)
}

// moment is a position in a list that is ordered by time, newest first.
type moment struct {
	At time.Time
	ID uuid.UUID
}

var newest = moment{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), ID: uuid.Max}

type memberList struct {
	thing    uuid.UUID
	statuses []Status
	// byMail includes invitations by mail.
	byMail bool
	before moment
	limit  int
}

// selectMembers returns a page of members, newest first. An index has this order.
func (k Kind) selectMembers(ctx context.Context, q pg.Querier, list memberList) ([]Member, error) {
	return pg.All[Member](ctx, q, k.sql(`
		SELECT `+memberColumns+`
		FROM {members} m
		WHERE m.{thing_id} = @thing AND m.status = ANY(@statuses)
			AND (@byMail OR NOT (`+isByMail+`)) AND (m.invited_at, m.user_id) < (@at, @id)
		ORDER BY m.invited_at DESC, m.user_id DESC
		LIMIT @limit`),
		pgx.NamedArgs{
			"thing": list.thing, "statuses": list.statuses, "byMail": list.byMail,
			"at": list.before.At, "id": list.before.ID, "limit": list.limit,
		})
}

// listFor returns the list of the members that the reader of a thing may see.
func listFor(t Thing, before moment, limit int) memberList {
	return memberList{
		thing: t.ID, statuses: t.Role().visible(), byMail: t.Role().May(readAllMembers),
		before: before, limit: limit,
	}
}

// NewestOf returns the newest members of each thing that its reader may see, at most perThing of
// each. The lateral query reads as many index entries per thing as it returns.
func (k Kind) NewestOf(
	ctx context.Context, q pg.Querier, things []Thing, perThing int,
) ([]Member, error) {
	if len(things) == 0 {
		return nil, nil
	}
	// Which members are visible depends on the reader's role in each thing.
	ids, all := make([]uuid.UUID, len(things)), make([]bool, len(things))
	for i, t := range things {
		ids[i], all[i] = t.ID, t.Role().May(readAllMembers)
	}
	return pg.All[Member](ctx, q, k.sql(`
		SELECT `+memberColumns+`
		FROM unnest(@ids::uuid[], @all::boolean[]) AS t (id, all_members)
		CROSS JOIN LATERAL (
			SELECT m.*
			FROM {members} m
			WHERE m.{thing_id} = t.id
				AND (t.all_members OR m.status <> 'rejected' AND NOT (`+isByMail+`))
			ORDER BY m.invited_at DESC, m.user_id DESC
			LIMIT @limit
		) m
		ORDER BY m.{thing_id}, m.invited_at DESC, m.user_id DESC`),
		pgx.NamedArgs{"ids": ids, "all": all, "limit": perThing})
}

// Accepted returns the users whose membership is accepted, without a limit. They receive an event,
// and an event must reach all of them.
func (k Kind) Accepted(ctx context.Context, q pg.Querier, thing uuid.UUID) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, k.sql(`
		SELECT user_id
		FROM {members}
		WHERE {thing_id} = $1 AND status = 'accepted'
		ORDER BY user_id`), thing)
}

// leaves deletes the rows that a member leaves behind. The thing must be locked.
func (k Kind) leaves(ctx context.Context, tx pgx.Tx, m Member) error {
	for _, statement := range k.leave {
		if err := pg.Exec(ctx, tx, statement, m.ThingID, m.UserID); err != nil {
			return err
		}
	}
	return nil
}

// selectPending returns the users with a pending invitation, without a limit. They are
// needed with their known names, for events that end the invitation.
func (k Kind) selectPending(ctx context.Context, q pg.Querier, thing uuid.UUID) ([]Member, error) {
	return pg.All[Member](ctx, q, k.sql(`
		SELECT `+memberColumns+`
		FROM {members} m
		WHERE m.{thing_id} = $1 AND m.status = 'pending'
		ORDER BY m.user_id`), thing)
}

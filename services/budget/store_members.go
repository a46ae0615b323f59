package budget

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

type member struct {
	BudgetID uuid.UUID `db:"budget_id"`
	UserID   uuid.UUID `db:"user_id"`
	// Role is viewer or editor, also while the membership is pending.
	Role string
	// ShareBP is the share in hundredths of a percent, or nil for a member without a share.
	ShareBP *int32 `db:"share_bp"`
	Status  status
	// InvitedAt is the time of the last invitation, and RespondedAt the time of the answer: a
	// pending member has none.
	InvitedAt   time.Time  `db:"invited_at"`
	RespondedAt *time.Time `db:"responded_at"`
	// KnownName is the budget's name when the user was invited or left; nil in rows of releases
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
func (m member) byMail() bool { return m.Status == pending && m.InvitationID != nil }

// isAttached reports whether the invited e-mail has an account.
func (m member) isAttached() bool { return m.InvitationID == nil || m.UserID != *m.InvitationID }

// invitation is a pending membership with the parts of the budget that the invited user may see.
type invitation struct {
	member
	BudgetName string    `db:"budget_name"`
	OwnerID    uuid.UUID `db:"owner_id"`
}

// memberColumns lists the columns of type member, with the table alias m.
const memberColumns = `m.budget_id, m.user_id, m.role, m.share_bp, m.status, m.invited_at,
	m.responded_at, m.known_name, m.invitation_id, m.email, m.expires_at, m.resends,
	m.resends_since`

// isByMail is the condition of member.byMail.
const isByMail = `m.status = 'pending' AND m.invitation_id IS NOT NULL`

// selectMember returns pgx.ErrNoRows if the user has no membership.
func selectMember(ctx context.Context, q pg.Querier, budgetID, userID uuid.UUID) (member, error) {
	return pg.One[member](ctx, q, `
		SELECT `+memberColumns+`
		FROM members m
		WHERE m.budget_id = $1 AND m.user_id = $2`, budgetID, userID)
}

// upsertMember stores a membership. The caller must hold the budget's lock and have checked that
// the former status permits the new one. An invitation after a rejection replaces the old row.
func upsertMember(ctx context.Context, q pg.Querier, member member) error {
	return pg.Exec(ctx, q, `
		INSERT INTO members (budget_id, user_id, role, share_bp, status, invited_at, responded_at,
			known_name, invitation_id, email, expires_at, resends, resends_since)
		VALUES (@budget, @user, @role, @share, @status, @invited, @responded, @name, @invitation,
			@email, @expires, @resends, @resendsSince)
		ON CONFLICT (budget_id, user_id) DO UPDATE
		SET role = EXCLUDED.role, share_bp = EXCLUDED.share_bp, status = EXCLUDED.status,
			invited_at = EXCLUDED.invited_at, responded_at = EXCLUDED.responded_at,
			known_name = EXCLUDED.known_name, invitation_id = EXCLUDED.invitation_id,
			email = EXCLUDED.email, expires_at = EXCLUDED.expires_at, resends = EXCLUDED.resends,
			resends_since = EXCLUDED.resends_since`,
		pgx.NamedArgs{
			"budget": member.BudgetID, "user": member.UserID, "role": member.Role,
			"share":  member.ShareBP,
			"status": member.Status, "invited": member.InvitedAt, "responded": member.RespondedAt,
			"name": member.KnownName, "invitation": member.InvitationID, "email": member.Email,
			"expires": member.ExpiresAt, "resends": member.Resends,
			"resendsSince": member.ResendsSince,
		})
}

func deleteMember(ctx context.Context, q pg.Querier, budgetID, userID uuid.UUID) error {
	return pg.Exec(ctx, q,
		`DELETE FROM members WHERE budget_id = $1 AND user_id = $2`, budgetID, userID)
}

// sumOtherShares returns the total share of a budget's pending and accepted members except m, in
// hundredths of a percent. Pending members count, because they may accept at any time. The budget
// must be locked.
func sumOtherShares(ctx context.Context, q pg.Querier, m member) (int64, error) {
	return pg.Value[int64](ctx, q, `
		SELECT coalesce(sum(share_bp), 0)::bigint
		FROM members
		WHERE budget_id = $1 AND user_id <> $2 AND status IN ('pending', 'accepted')`,
		m.BudgetID, m.UserID)
}

// moment is a position in a list that is ordered by time, newest first.
type moment struct {
	At time.Time
	ID uuid.UUID
}

var newest = moment{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), ID: uuid.Max}

type memberList struct {
	budget   uuid.UUID
	statuses []status
	// byMail includes invitations by mail.
	byMail bool
	before moment
	limit  int
}

// selectMembers returns a page of members, newest first. The index members_budget_invited has this
// order.
func selectMembers(ctx context.Context, q pg.Querier, list memberList) ([]member, error) {
	return pg.All[member](ctx, q, `
		SELECT `+memberColumns+`
		FROM members m
		WHERE m.budget_id = @budget AND m.status = ANY(@statuses)
			AND (@byMail OR NOT (`+isByMail+`)) AND (m.invited_at, m.user_id) < (@at, @id)
		ORDER BY m.invited_at DESC, m.user_id DESC
		LIMIT @limit`,
		pgx.NamedArgs{
			"budget": list.budget, "statuses": list.statuses, "byMail": list.byMail,
			"at": list.before.At, "id": list.before.ID, "limit": list.limit,
		})
}

// selectMembersOf returns the newest members of each budget that its reader may see, at most
// perBudget of each. The lateral query reads as many index entries per budget as it returns.
func selectMembersOf(
	ctx context.Context, q pg.Querier, budgets []seenBudget, perBudget int,
) ([]member, error) {
	if len(budgets) == 0 {
		return nil, nil
	}
	// Which members are visible depends on the reader's role in each budget.
	ids, all := make([]uuid.UUID, len(budgets)), make([]bool, len(budgets))
	for i, b := range budgets {
		ids[i], all[i] = b.ID, b.role().may(readAllMembers)
	}
	return pg.All[member](ctx, q, `
		SELECT `+memberColumns+`
		FROM unnest(@ids::uuid[], @all::boolean[]) AS b (id, all_members)
		CROSS JOIN LATERAL (
			SELECT `+memberColumns+`
			FROM members m
			WHERE m.budget_id = b.id
				AND (b.all_members OR m.status <> 'rejected' AND NOT (`+isByMail+`))
			ORDER BY m.invited_at DESC, m.user_id DESC
			LIMIT @limit
		) m
		ORDER BY m.budget_id, m.invited_at DESC, m.user_id DESC`,
		pgx.NamedArgs{"ids": ids, "all": all, "limit": perBudget})
}

// selectMemberIDs returns the users with one of the statuses, without a limit. They receive an
// event, and an event must reach all of them.
func selectMemberIDs(
	ctx context.Context, q pg.Querier, budgetID uuid.UUID, statuses []status,
) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT user_id
		FROM members
		WHERE budget_id = $1 AND status = ANY($2)
		ORDER BY user_id`, budgetID, statuses)
}

// selectPendingMembers returns the users with a pending invitation, without a limit. They are
// needed with their known names, for events that end the invitation.
func selectPendingMembers(ctx context.Context, q pg.Querier, budgetID uuid.UUID) ([]member, error) {
	return pg.All[member](ctx, q, `
		SELECT `+memberColumns+`
		FROM members m
		WHERE m.budget_id = $1 AND m.status = 'pending'
		ORDER BY m.user_id`, budgetID)
}

// selectMailed returns the invitation by mail with an id or e-mail, or pgx.ErrNoRows.
func selectMailed(
	ctx context.Context, q pg.Querier, budgetID, invitation uuid.UUID, email string,
) (member, error) {
	return pg.One[member](ctx, q, `
		SELECT `+memberColumns+`
		FROM members m
		WHERE m.budget_id = $1 AND (m.invitation_id = $2 OR m.email = $3) AND `+isByMail,
		budgetID, invitation, email)
}

// deleteExpired deletes the expired invitations by mail of budgets, which must be locked. They have
// the current name of the budget, because their owner is notified.
func deleteExpired(
	ctx context.Context, q pg.Querier, budgets []uuid.UUID, now time.Time,
) ([]invitation, error) {
	return pg.All[invitation](ctx, q, `
		DELETE FROM members m
		USING budgets b
		WHERE b.id = m.budget_id AND m.budget_id = ANY($1) AND m.expires_at <= $2 AND `+isByMail+`
		RETURNING `+memberColumns+`, b.name AS budget_name, b.owner_id`, budgets, now)
}

// selectInvitations returns a page of a user's pending invitations, newest first. They have the
// name of the invitation, or the current name in rows of releases that stored none. The partial
// index members_pending has this order.
func selectInvitations(
	ctx context.Context, q pg.Querier, user uuid.UUID, before moment, limit int,
) ([]invitation, error) {
	return pg.All[invitation](ctx, q, `
		SELECT `+memberColumns+`, coalesce(m.known_name, b.name) AS budget_name, b.owner_id
		FROM members m
		JOIN budgets b ON b.id = m.budget_id
		WHERE m.user_id = @user AND m.status = 'pending'
			AND (m.invited_at, m.budget_id) < (@at, @id)
		ORDER BY m.invited_at DESC, m.budget_id DESC
		LIMIT @limit`,
		pgx.NamedArgs{"user": user, "at": before.At, "id": before.ID, "limit": limit})
}

// countPendingInvitations returns the number of a user's pending invitations. A lock serializes the
// invitations to the user until tx ends, so that concurrent ones cannot exceed the limit.
func countPendingInvitations(ctx context.Context, tx pgx.Tx, user uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, "invitations", user); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx,
		`SELECT count(*) FROM members WHERE user_id = $1 AND status = 'pending'`, user)
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

// deleteInvitationTries deletes the tries up to a time, which no limit counts any more. The index
// invitation_tries_at finds the rows.
func deleteInvitationTries(ctx context.Context, q pg.Querier, before time.Time) error {
	return pg.Exec(ctx, q, `DELETE FROM invitation_tries WHERE at <= $1`, before)
}

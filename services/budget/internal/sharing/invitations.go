package sharing

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/page"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	// maxEmail is the maximum of auth.
	maxEmail = 254
	// maxShareBP is 100 percent in hundredths of a percent.
	maxShareBP = 10_000

	// Within invitationWindow, an owner may send invitationsPerOwner invitations, including those
	// to unknown e-mails, and a user may receive invitationsPerMember. Simultaneous invitations may
	// exceed these limits by their number.
	invitationWindow     = 24 * time.Hour
	invitationsPerOwner  = 100
	invitationsPerMember = 50
	// maxPendingInvitations is the number of invitations that a user may have without an answer.
	maxPendingInvitations = 100
)

// Invite is a request to share a thing.
type Invite struct {
	Thing, Email       string
	Role, SharePercent *string
	// ByMail invites an e-mail that may have no account.
	ByMail bool
}

type invitee struct {
	email string
	role  string
	// share is in hundredths of a percent, or nil if the invitation has none.
	share *int32
}

// Share invites a user to a thing, or an e-mail by mail (mailed.go). auth finds the user of the
// e-mail before the transaction starts. Only the owner may invite. An e-mail without an account is
// an error, so the number of such errors per day is limited.
//
// Errors: EMAIL_NOT_VERIFIED, USER_NOT_FOUND, CANNOT_INVITE_SELF, RATE_LIMITED,
// INVITATION_LIMIT_REACHED, and those of the kind for members that exist and exceeded shares.
func (s *Members) Share(ctx context.Context, req Invite, a Answer) (replayed bool, err error) {
	// The order of the checks matters: each one reveals more about other users than the one before.
	id, err := s.ParseID(req.Thing)
	if err != nil {
		return false, err
	}
	to, err := parseInvite(req)
	if err != nil {
		return false, err
	}
	if replayed, err := idem.Replay(ctx, s.DB, a.call, a.response); err != nil || replayed {
		return replayed, err
	}
	// Only the owner may learn whether an e-mail has an account.
	if _, err := s.See(ctx, s.DB, id, share); err != nil {
		return false, err
	}
	// Also unknown e-mails count, so that an owner cannot search for accounts without limit.
	if err := s.checkInvitations(ctx); err != nil {
		return false, err
	}
	if req.ByMail {
		return s.inviteByMail(ctx, a, id, to)
	}
	found, err := s.Auth.FindUserByEmail(ctx, &authv1.FindUserByEmailRequest{
		Email: to.email, InviterId: caller.ID(ctx).String(),
	})
	if e := apierr.From(err); e != nil && e.Code == codes.NotFound {
		if err := insertInvitationTry(ctx, s.DB, caller.ID(ctx), nil, s.Now()); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	user, err := uuid.Parse(found.GetUser().GetId())
	if err != nil {
		return false, err
	}
	to.email = found.GetUser().GetEmail()
	return s.store(ctx, a, func(tx pgx.Tx) (Member, *authv1.User, error) {
		m, err := s.invite(ctx, tx, id, user, to)
		return m, found.GetUser(), err
	})
}

// checkInvitations returns errTooManyInvitations for an owner who has reached the limit per day.
func (s *Members) checkInvitations(ctx context.Context) error {
	sent, err := countInvitationsBy(ctx, s.DB, caller.ID(ctx), s.Now().Add(-invitationWindow))
	if err == nil && sent >= invitationsPerOwner {
		return errTooManyInvitations
	}
	return err
}

// invite stores an invitation and notifies the user. It holds the lock of the thing, so that
// simultaneous invitations cannot exceed 100 percent in total.
func (s *Members) invite(
	ctx context.Context, tx pgx.Tx, id, user uuid.UUID, terms invitee,
) (Member, error) {
	t, err := s.lockedThing(ctx, tx, id, share)
	if err != nil {
		return Member{}, err
	}
	// The user of an e-mail is only known after auth was asked.
	if user == t.OwnerID {
		return Member{}, errCannotInviteSelf
	}
	// A user has at most one membership of a thing, which a repeated invitation reuses after a
	// rejection.
	old, err := s.selectMember(ctx, tx, id, user)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Member{}, err
	}
	if _, permitted := old.Status.to(Pending, byOwner); !permitted {
		return Member{}, s.memberExists
	}
	// Otherwise the shares of both invitations would count.
	if err := s.checkNotMailed(ctx, tx, id, terms.email); err != nil {
		return Member{}, err
	}
	if err := s.checkShares(ctx, tx, Member{ThingID: id, UserID: user}, terms.share); err != nil {
		return Member{}, err
	}
	now := s.Now().UTC()
	// The limits of the invited user protect against many owners. They are checked last, because
	// they concern another user.
	received, err := countInvitationsTo(ctx, tx, user, now.Add(-invitationWindow))
	if err != nil {
		return Member{}, err
	}
	if received >= invitationsPerMember {
		return Member{}, errTooManyInvitations
	}
	unanswered, err := countPendingInvitations(ctx, tx, user)
	if err != nil {
		return Member{}, err
	}
	if unanswered >= maxPendingInvitations {
		return Member{}, errInvitationLimit
	}
	if err := insertInvitationTry(ctx, tx, t.OwnerID, &user, now); err != nil {
		return Member{}, err
	}
	// KnownName keeps the name of this moment. The member learns a later one by accepting.
	invited := Member{
		ThingID: id, UserID: user, Role: terms.role, ShareBP: terms.share, Status: Pending,
		InvitedAt: now, KnownName: &t.Name,
	}
	if err := s.upsertMember(ctx, tx, invited); err != nil {
		return Member{}, err
	}
	event := s.sent(invitation{Member: invited, ThingName: t.Name, OwnerID: t.OwnerID})
	return invited, s.Notifications.Publish(ctx, tx, event, user, t.OwnerID)
}

// Invitations returns a page of the acting user's pending invitations to the things of a kind,
// newest first. The owners' names are omitted if auth is unavailable. They have the name that the
// thing had when the user was invited.
func (s *Members) Invitations(
	ctx context.Context, p Page,
) ([]*budgetv1.Invitation, *restv1.Pagination, error) {
	user := caller.ID(ctx)
	invitations, pagination, err := page.List(s.Cursors, page.Query[invitation, moment]{
		Scope: s.invitations + " " + user.String(),
		Limit: p.Limit, Cursor: p.Cursor, First: newest,
		Position: func(i invitation) moment { return moment{i.InvitedAt, i.ThingID} },
		Select: func(before moment, limit int) ([]invitation, error) {
			return s.selectInvitations(ctx, s.DB, user, before, limit)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	// A page has at most 200 invitations, so one call to auth returns all owners.
	owners := make([]uuid.UUID, len(invitations))
	for i, v := range invitations {
		owners[i] = v.OwnerID
	}
	users := s.users(ctx, owners)
	answers := make([]*budgetv1.Invitation, len(invitations))
	for i, v := range invitations {
		answers[i] = v.proto(users[v.OwnerID.String()])
	}
	return answers, pagination, nil
}

// proto converts the invitation. owner is nil if it is unknown. The id and the name of a goal are
// in the fields of the budget.
func (i invitation) proto(owner *authv1.User) *budgetv1.Invitation {
	invitation := &budgetv1.Invitation{
		BudgetId:     i.ThingID.String(),
		BudgetName:   i.ThingName,
		MemberId:     i.UserID.String(),
		OwnerId:      i.OwnerID.String(),
		Role:         i.Role,
		SharePercent: i.sharePercent(),
		InvitedAt:    calendar.FormatTime(i.InvitedAt),
	}
	if owner != nil {
		invitation.OwnerName, invitation.OwnerEmail = new(owner.GetName()), new(owner.GetEmail())
	}
	return invitation
}

// parseInvite returns the e-mail and terms of an invitation. The role is viewer by default.
func parseInvite(req Invite) (invitee, error) {
	var problems apierr.Problems
	invited := invitee{
		email: strings.ToLower(strings.TrimSpace(req.Email)), role: string(Viewer),
	}
	address, err := mail.ParseAddress(invited.email)
	switch {
	case invited.email == "":
		problems.Invalid("email", "is required")
	// The parsed address differs from the text if that has a display name or a comment.
	case err != nil || address.Address != invited.email || len(invited.email) > maxEmail:
		problems.Invalid("email", "must be an e-mail address")
	}
	if req.Role != nil {
		invited.role = parseRole(&problems, *req.Role)
	}
	if req.SharePercent != nil {
		invited.share = parsePercent(&problems, *req.SharePercent)
	}
	return invited, problems.Err()
}

func parseRole(p *apierr.Problems, role string) string {
	if role != string(Viewer) && role != string(Editor) {
		p.Invalid("role", "must be viewer or editor")
	}
	return role
}

// parsePercent returns a share in hundredths of a percent.
func parsePercent(p *apierr.Problems, percent string) *int32 {
	bp, err := money.ParseDecimal(percent, 2)
	if err != nil || bp <= 0 || bp > maxShareBP {
		p.Invalid("sharePercent", "must be greater than 0, at most 100, with at most two decimals")
		return nil
	}
	return new(int32(bp))
}

// checkNotMailed returns an error if a thing has an invitation by mail to an e-mail.
func (s *Members) checkNotMailed(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, email string,
) error {
	switch _, err := s.selectMailed(ctx, tx, id, uuid.Nil, email); {
	case err == nil:
		return s.memberExists
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	return nil
}

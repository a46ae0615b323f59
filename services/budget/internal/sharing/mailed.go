package sharing

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

const (
	// mailedTTL is the time for which an invitation by mail waits for an answer. auth gives the
	// links in its mails the same time.
	mailedTTL = 14 * 24 * time.Hour
	// resendsPerDay is the number of times that a mail is sent again within invitationWindow.
	resendsPerDay = 3
)

// Reasons of the event InvitationEnded.
const (
	withdrawn        = "withdrawn"
	expired          = "expired"
	deletedWithThing = "deleted"
)

// inviteByMail stores an invitation to an e-mail that may have no account, and publishes an event,
// with which auth sends the mail. Neither service searches for an account here: both run the same
// statements for each e-mail. If it has one, auth reports its user later (FollowUsers).
//
// Errors: EMAIL_NOT_VERIFIED, MAIL_UNAVAILABLE, CANNOT_INVITE_SELF, and those of the kind for an
// e-mail of the newest members and exceeded shares. The invitation of an older member is never
// attached (selectAttachable).
func (s *Members) inviteByMail(
	ctx context.Context, a Answer, id uuid.UUID, to invitee,
) (replayed bool, err error) {
	visible, err := s.selectMembers(ctx, s.DB, memberList{
		thing: id, statuses: []Status{Pending, Accepted}, before: newest, limit: maxNames - 1,
	})
	if err != nil {
		return false, err
	}
	known := []uuid.UUID{caller.ID(ctx)}
	for _, m := range visible {
		known = append(known, m.UserID)
	}
	checked, err := s.Auth.CheckInvitation(ctx, &authv1.CheckInvitationRequest{
		Email: to.email, InviterId: caller.ID(ctx).String(), UserIds: idStrings(known),
	})
	if err != nil {
		return false, err
	}
	switch checked.GetUserId() {
	case "":
	case caller.ID(ctx).String():
		return false, errCannotInviteSelf
	default:
		return false, s.memberExists
	}
	to.email = checked.GetEmail()
	return s.store(ctx, a, func(tx pgx.Tx) (Member, *authv1.User, error) {
		m, err := s.storeMailed(ctx, tx, id, to)
		return m, nil, err
	})
}

// storeMailed holds the lock of the thing, so that simultaneous invitations cannot exceed 100
// percent in total.
func (s *Members) storeMailed(
	ctx context.Context, tx pgx.Tx, id uuid.UUID, to invitee,
) (Member, error) {
	t, err := s.lockedThing(ctx, tx, id, share)
	if err != nil {
		return Member{}, err
	}
	if err := s.checkNotMailed(ctx, tx, id, to.email); err != nil {
		return Member{}, err
	}
	now, invitation := s.Now().UTC(), s.NewID()
	invited := Member{
		ThingID: id, UserID: invitation, Role: to.role, ShareBP: to.share, Status: Pending,
		InvitedAt: now, KnownName: &t.Name, InvitationID: &invitation, Email: &to.email,
		ExpiresAt: new(now.Add(mailedTTL)),
	}
	if err := s.checkShares(ctx, tx, invited, to.share); err != nil {
		return Member{}, err
	}
	if err := insertInvitationTry(ctx, tx, t.OwnerID, nil, now); err != nil {
		return Member{}, err
	}
	if err := s.upsertMember(ctx, tx, invited); err != nil {
		return Member{}, err
	}
	event := s.mailed(t, invited)
	return invited, s.Notifications.Publish(ctx, tx, event, t.OwnerID)
}

// Resend publishes the event of an invitation by mail again. It also attaches the user of an e-mail
// that was verified when the user had too many invitations. Errors: RATE_LIMITED, also beyond the
// invitations that the owner may send within a day.
func (s *Members) Resend(
	ctx context.Context, thing, invitation string, a Answer,
) (replayed bool, err error) {
	id, invitationID, err := s.parseInvitationPath(thing, invitation)
	if err != nil {
		return false, err
	}
	if replayed, err := idem.Replay(ctx, s.DB, a.call, a.response); err != nil || replayed {
		return replayed, err
	}
	if _, err := s.See(ctx, s.DB, id, share); err != nil {
		return false, err
	}
	found, err := s.selectMailed(ctx, s.DB, id, invitationID, "")
	if err != nil {
		return false, pg.IfNoRows(err, errInvitationNotFound)
	}
	if err := s.checkInvitations(ctx); err != nil {
		return false, err
	}
	_, err = s.Auth.CheckInvitation(ctx, &authv1.CheckInvitationRequest{
		Email: *found.Email, InviterId: caller.ID(ctx).String(),
	})
	if err != nil {
		return false, err
	}
	return s.store(ctx, a, func(tx pgx.Tx) (Member, *authv1.User, error) {
		m, err := s.resend(ctx, tx, id, invitationID)
		return m, nil, err
	})
}

func (s *Members) resend(
	ctx context.Context, tx pgx.Tx, id, invitation uuid.UUID,
) (Member, error) {
	t, m, err := s.lockedMailed(ctx, tx, id, invitation)
	if err != nil {
		return Member{}, err
	}
	now := s.Now().UTC()
	if m.ResendsSince == nil || !m.ResendsSince.After(now.Add(-invitationWindow)) {
		m.Resends, m.ResendsSince = 0, &now
	}
	if m.Resends >= resendsPerDay {
		return Member{}, errTooManyResends.After(m.ResendsSince.Add(invitationWindow).Sub(now))
	}
	m.Resends++
	// The mail has the current name, so the invitation shows it, too.
	m.KnownName = &t.Name
	m.ExpiresAt = new(now.Add(mailedTTL))
	if err := insertInvitationTry(ctx, tx, t.OwnerID, nil, now); err != nil {
		return Member{}, err
	}
	if err := s.upsertMember(ctx, tx, m); err != nil {
		return Member{}, err
	}
	event := s.mailed(t, m)
	event.Again = true
	return m, s.Notifications.Publish(ctx, tx, event, t.OwnerID)
}

// Withdraw deletes an invitation by mail, and returns its id. A user who has it receives
// MemberRemoved, which the owner does not see.
func (s *Members) Withdraw(ctx context.Context, thing, invitation string) (string, error) {
	id, invitationID, err := s.parseInvitationPath(thing, invitation)
	if err != nil {
		return "", err
	}
	return invitationID.String(), pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		t, m, err := s.lockedMailed(ctx, tx, id, invitationID)
		if err != nil {
			return err
		}
		if err := s.deleteMember(ctx, tx, id, m.UserID); err != nil {
			return err
		}
		return s.Notifications.PublishEach(ctx, tx, s.ended(t, m, withdrawn)...)
	})
}

// lockedMailed locks a thing, and returns it with one of its invitations by mail to its owner.
func (s *Members) lockedMailed(
	ctx context.Context, tx pgx.Tx, id, invitation uuid.UUID,
) (Thing, Member, error) {
	t, err := s.lockedThing(ctx, tx, id, share)
	if err != nil {
		return Thing{}, Member{}, err
	}
	m, err := s.selectMailed(ctx, tx, id, invitation, "")
	return t, m, pg.IfNoRows(err, errInvitationNotFound)
}

// ExpireMailed deletes the expired invitations by mail. Those of users end too, because otherwise
// the owner would see which e-mails have an account.
func (s *Members) ExpireMailed(ctx context.Context) error {
	left, err := true, error(nil)
	for left && err == nil {
		err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
			things, err := s.lockExpired(ctx, tx, s.Now())
			left = len(things) > 0
			if err != nil || !left {
				return err
			}
			invitations, err := s.deleteExpired(ctx, tx, things, s.Now())
			if err != nil {
				return err
			}
			var events []notification.Addressed
			for _, i := range invitations {
				// The owner counts as the user who removed it.
				t := Thing{
					ID: i.ThingID, OwnerID: i.OwnerID, Name: i.ThingName,
					Reader: Reader{UserID: i.OwnerID},
				}
				events = append(events, s.ended(t, i.Member, expired)...)
			}
			return s.Notifications.PublishEach(ctx, tx, events...)
		})
	}
	return err
}

// ended returns the events of a pending invitation that ends without an answer.
func (s *Members) ended(t Thing, m Member, reason string) []notification.Addressed {
	var events []notification.Addressed
	if m.byMail() {
		l := s.label(t.ID.String(), t.Name)
		events = append(events, notification.Addressed{
			User: t.OwnerID, Data: &budgetv1.InvitationEnded{
				BudgetId: l.BudgetID, BudgetName: l.BudgetName,
				GoalId: l.GoalID, GoalName: l.GoalName, OwnerId: t.OwnerID.String(),
				InvitationId: m.InvitationID.String(), Email: *m.Email, Reason: reason,
			},
		})
	}
	if m.isAttached() {
		events = append(events,
			notification.Addressed{User: m.UserID, Data: s.removed(t, m, m.nameOf(t))})
	}
	return events
}

func (s *Members) mailed(t Thing, m Member) *budgetv1.InvitationMailed {
	l := s.label(t.ID.String(), t.Name)
	return &budgetv1.InvitationMailed{
		BudgetId: l.BudgetID, BudgetName: l.BudgetName, GoalId: l.GoalID, GoalName: l.GoalName,
		OwnerId: t.OwnerID.String(), InvitationId: m.InvitationID.String(), Email: *m.Email,
		Role: m.Role, SharePercent: m.sharePercent(),
	}
}

// mailedProto converts an invitation by mail. It is the same whether or not the e-mail has an
// account.
func (m Member) mailedProto() *budgetv1.Member {
	return &budgetv1.Member{
		BudgetId: m.ThingID.String(), Email: *m.Email, Role: m.Role,
		SharePercent: m.sharePercent(), Status: mailed,
		InvitedAt: calendar.FormatTime(m.InvitedAt), InvitationId: new(m.InvitationID.String()),
		ExpiresAt: new(calendar.FormatTime(*m.ExpiresAt)),
	}
}

func (s *Members) parseInvitationPath(thing, invitation string) (thingID, id uuid.UUID, err error) {
	thingID, err = s.ParseID(thing)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, ok := text.ID(invitation)
	if !ok {
		return uuid.Nil, uuid.Nil, apierr.Invalid("invitationId", "must be a UUID")
	}
	return thingID, id, nil
}

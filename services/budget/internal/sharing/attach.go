package sharing

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// FollowUsers attaches users to the invitations by mail to their e-mails, of all kinds. A user who
// registers without the link of a mail must verify the e-mail first, unless the installation does
// not require that: auth then publishes UserInvited.
func FollowUsers(
	ctx context.Context, tx pgx.Tx, events []outbox.Received, kinds ...*Members,
) error {
	for _, event := range events {
		var user *authv1.User
		switch e := event.Data.(type) {
		case *authv1.UserRegistered:
			if !e.GetUser().GetEmailVerified() {
				continue
			}
			user = e.GetUser()
		case *authv1.UserEmailVerified:
			user = e.GetUser()
		case *authv1.UserInvited:
			user = e.GetUser()
		default:
			continue
		}
		// An invitation locks its thing before the number of the user's invitations, and so does
		// this function. Otherwise both could wait for each other.
		things := make([][]uuid.UUID, len(kinds))
		for i, kind := range kinds {
			var err error
			if things[i], err = kind.lockInviting(ctx, tx, user.GetEmail()); err != nil {
				return err
			}
		}
		for i, kind := range kinds {
			a := attachment{user: event.UserID, email: user.GetEmail()}
			if err := kind.attach(ctx, tx, things[i], a); err != nil {
				return err
			}
		}
	}
	return nil
}

// attachment is a user whose e-mail has invitations.
type attachment struct {
	user  uuid.UUID
	email string
	now   time.Time
	// limit is the number of invitations that the user may still receive.
	limit int64
}

// attach makes the invitations to an e-mail pending for its user, who is notified. The owners are
// not, because they must not learn that the e-mail has an account. Beyond the limits of the user an
// invitation stays without a user until its owner sends it again. A repeated event finds no
// invitation without a user. The things must be locked.
func (s *Members) attach(ctx context.Context, tx pgx.Tx, things []uuid.UUID, a attachment) error {
	if len(things) == 0 {
		return nil
	}
	var err error
	a.now = s.Now().UTC()
	a.limit, err = invitationsLeft(ctx, tx, a.user, a.now)
	if err != nil || a.limit <= 0 {
		return err
	}
	things, err = s.selectAttachable(ctx, tx, things, a)
	if err != nil || len(things) == 0 {
		return err
	}
	// A new invitation replaces a membership that the user rejected or left.
	if err := s.deleteRejected(ctx, tx, things, a.user); err != nil {
		return err
	}
	attached, err := s.attachUser(ctx, tx, things, a)
	if err != nil {
		return err
	}
	if err := insertReceived(ctx, tx, a.user, len(attached), a.now); err != nil {
		return err
	}
	events := make([]notification.Addressed, len(attached))
	for i, invited := range attached {
		events[i] = notification.Addressed{User: a.user, Data: s.sent(invited)}
	}
	return s.Notifications.PublishEach(ctx, tx, events...)
}

// invitationsLeft returns the number of invitations that a user may still receive. It is not
// positive for a user who has reached a limit.
func invitationsLeft(
	ctx context.Context, tx pgx.Tx, user uuid.UUID, now time.Time,
) (int64, error) {
	// The lock of the first count is held while the second one is read.
	unanswered, err := countPendingInvitations(ctx, tx, user)
	if err != nil {
		return 0, err
	}
	received, err := countInvitationsTo(ctx, tx, user, now.Add(-invitationWindow))
	return min(maxPendingInvitations-unanswered, invitationsPerMember-received), err
}

// sent returns the event of an invitation for its user.
func (s *Members) sent(i invitation) *budgetv1.InvitationSent {
	l := s.label(i.ThingID.String(), i.ThingName)
	return &budgetv1.InvitationSent{
		BudgetId: l.BudgetID, BudgetName: l.BudgetName, GoalId: l.GoalID, GoalName: l.GoalName,
		OwnerId: i.OwnerID.String(), MemberId: i.UserID.String(), Role: i.Role,
		SharePercent: i.sharePercent(),
	}
}

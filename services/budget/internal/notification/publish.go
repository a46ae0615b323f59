package notification

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// Addressed is the data of an event for one user. Data is one of the messages of the file
// events.proto. Users who receive different contents of one change have one Addressed each.
type Addressed struct {
	User uuid.UUID
	Data proto.Message
}

// Publish publishes an event with the same data for several users, like PublishEach.
func (s *Server) Publish(
	ctx context.Context, tx pgx.Tx, data proto.Message, users ...uuid.UUID,
) error {
	events := make([]Addressed, len(users))
	for i, user := range users {
		events[i] = Addressed{user, data}
	}
	return s.PublishEach(ctx, tx, events...)
}

// PublishEach adds events to the outbox. tx must be the transaction of the change that they
// describe. A user for whom notifies returns true also gets a notification with the event's id.
func (s *Server) PublishEach(ctx context.Context, tx pgx.Tx, events ...Addressed) error {
	queued := make([]outbox.Event, len(events))
	var notifications []notification
	for i, addressed := range events {
		queued[i] = outbox.Event{ID: s.newID(), UserID: addressed.User, Data: addressed.Data}
		if !notifies(addressed.Data, addressed.User) {
			continue
		}
		n, err := s.unread(queued[i].ID, addressed.User, addressed.Data)
		if err != nil {
			return err
		}
		notifications = append(notifications, n)
	}
	if err := insertNotifications(ctx, tx, notifications); err != nil {
		return err
	}
	// The relay waits for the commit.
	s.wakeRelay()
	return outbox.Add(ctx, tx, queued...)
}

// Store stores the events of other services that a user should not miss as notifications. tx must
// be the transaction that acknowledges the events. A repeated event changes nothing.
func (s *Server) Store(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	var notifications []notification
	for _, received := range events {
		switch received.Data.(type) {
		// A job has ended, minutes after the user started it. An undo has no notification: the user
		// asked for it, and sees its end.
		case *ledgerv1.ImportCommitted, *ledgerv1.ImportFailed:
		default:
			continue
		}
		n, err := s.unread(received.ID, received.UserID, received.Data)
		if err != nil {
			return err
		}
		notifications = append(notifications, n)
	}
	return insertNotifications(ctx, tx, notifications)
}

// notifies reports whether the event is also a notification of the user: it concerns them, and
// another user caused it.
func notifies(data proto.Message, user uuid.UUID) bool {
	switch event := data.(type) {
	case *budgetv1.BudgetThresholdReached, *budgetv1.BudgetCategoriesLost, *budgetv1.GoalReached:
		return true
	// The owner deleted the budget or the goal.
	case *budgetv1.BudgetDeleted:
		return user.String() != event.GetBudget().GetOwnerId()
	case *budgetv1.GoalDeleted:
		return user.String() != event.GetGoal().GetOwnerId()
	// The owner invited.
	case *budgetv1.InvitationSent:
		return user.String() == event.GetMemberId()
	// Nobody answered for 14 days. The owner knows of a withdrawal.
	case *budgetv1.InvitationEnded:
		return event.GetReason() == "expired"
	// The member answered.
	case *budgetv1.InvitationAnswered:
		return user.String() == event.GetOwnerId()
	// The owner changed the terms.
	case *budgetv1.MemberUpdated:
		return user.String() == event.GetMemberId()
	case *budgetv1.MemberRemoved:
		return user.String() != event.GetRemovedBy()
	}
	return false
}

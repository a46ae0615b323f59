package budget

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// addressed is the data of an event for one user.
type addressed struct {
	user uuid.UUID
	data proto.Message
}

// publish adds an event with the same data for several users to the outbox.
func (s *server) publish(ctx context.Context, tx pgx.Tx, data proto.Message, users ...uuid.UUID) error {
	events := make([]addressed, len(users))
	for i, user := range users {
		events[i] = addressed{user, data}
	}
	return s.publishEach(ctx, tx, events...)
}

// publishEach adds events to the outbox. A user for whom notifies returns true also gets a notification with the event's id.
func (s *server) publishEach(ctx context.Context, tx pgx.Tx, events ...addressed) error {
	queued := make([]outbox.Event, len(events))
	var notifications []notification
	for i, e := range events {
		queued[i] = outbox.Event{ID: s.newID(), UserID: e.user, Data: e.data}
		if !notifies(e.data, e.user) {
			continue
		}
		data, err := packed(e.data)
		if err != nil {
			return err
		}
		notifications = append(notifications, notification{
			ID: queued[i].ID, UserID: e.user, Type: outbox.Type(e.data.ProtoReflect().Descriptor().FullName()), Data: data, CreatedAt: s.now().UTC(),
		})
	}
	if err := insertNotifications(ctx, tx, notifications); err != nil {
		return err
	}
	s.relay()
	return outbox.Add(ctx, tx, queued...)
}

// notifies reports whether the event is also a notification of the user: it concerns them, and another user caused it.
func notifies(data proto.Message, user uuid.UUID) bool {
	switch e := data.(type) {
	case *budgetv1.BudgetThresholdReached, *budgetv1.BudgetCategoriesLost:
		return true
	case *budgetv1.BudgetDeleted:
		return user.String() != e.GetBudget().GetOwnerId()
	case *budgetv1.InvitationSent:
		return user.String() == e.GetMemberId()
	case *budgetv1.InvitationAnswered:
		return user.String() == e.GetOwnerId()
	case *budgetv1.MemberUpdated:
		return user.String() == e.GetMemberId()
	case *budgetv1.MemberRemoved:
		return user.String() != e.GetRemovedBy()
	}
	return false
}

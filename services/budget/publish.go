package budget

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// publish adds an event to the outbox, once for each user that it concerns: streams are per user. Those who should not
// miss it get a notification of the same id.
func (s *server) publish(ctx context.Context, tx pgx.Tx, data proto.Message, users ...uuid.UUID) error {
	events, eventType := make([]outbox.Event, len(users)), outbox.Type(data.ProtoReflect().Descriptor().FullName())
	var told []notification
	packed, err := packed(data)
	if err != nil {
		return err
	}
	for i, user := range users {
		events[i] = outbox.Event{ID: s.newID(), UserID: user, Data: data}
		if notifies(data, user) {
			told = append(told, notification{ID: events[i].ID, UserID: user, Type: eventType, Data: packed, CreatedAt: s.now().UTC()})
		}
	}
	if err := insertNotifications(ctx, tx, told); err != nil {
		return err
	}
	s.nudge()
	return outbox.Add(ctx, tx, events...)
}

// notifies tells whether somebody should find the event among the notifications: when it concerns him and was not his own
// doing.
func notifies(data proto.Message, user uuid.UUID) bool {
	switch e := data.(type) {
	case *budgetv1.BudgetThresholdReached:
		return true
	case *budgetv1.BudgetDeleted:
		return user.String() != e.GetBudget().GetOwnerId()
	case *budgetv1.InvitationSent:
		return user.String() == e.GetMemberId()
	case *budgetv1.InvitationAnswered:
		return user.String() == e.GetOwnerId()
	case *budgetv1.MemberRemoved:
		return user.String() != e.GetRemovedBy()
	}
	return false
}

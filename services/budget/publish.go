package budget

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// publish adds an event to the outbox, once for each user that it concerns: streams are per user.
func (s *server) publish(ctx context.Context, tx pgx.Tx, data proto.Message, users ...uuid.UUID) error {
	events := make([]outbox.Event, len(users))
	for i, user := range users {
		events[i] = outbox.Event{ID: s.newID(), UserID: user, Subject: subject(data), Data: data}
	}
	return outbox.Add(ctx, tx, events...)
}

// subject is the one that events.proto promises for the message.
func subject(data proto.Message) string {
	switch data.(type) {
	case *budgetv1.BudgetCreated:
		return "budget.v1.budget.created"
	case *budgetv1.BudgetUpdated:
		return "budget.v1.budget.updated"
	case *budgetv1.BudgetDeleted:
		return "budget.v1.budget.deleted"
	case *budgetv1.InvitationSent:
		return "budget.v1.invitation.sent"
	case *budgetv1.InvitationAnswered:
		return "budget.v1.invitation.answered"
	case *budgetv1.MemberRemoved:
		return "budget.v1.member.removed"
	}
	return fmt.Sprintf("budget.v1.unknown.%T", data)
}

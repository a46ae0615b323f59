package budget

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/erasure"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// consumerName is the name of the service's consumer of all events.
const consumerName = "budget-events"

// consumer returns the service's consumer of all events. Alerts and webhooks share it, because both
// need nearly every event, and each consumer costs NATS and this service the same again (ADR 39).
func (s *server) consumer() outbox.Consumer {
	return outbox.Consumer{
		Name: consumerName, Subject: "*.v1.*.*", Apply: s.applyEvents, Applied: s.wake,
	}
}

// applyEvents must be idempotent, because an event may be delivered more than once. It runs in one
// transaction per batch. The events are acknowledged after the commit. The order matters for
// merges: categories are replaced before the checks for alerts of the same batch are queued.
func (s *server) applyEvents(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	if err := s.followCategories(ctx, tx, events); err != nil {
		return err
	}
	if err := sharing.FollowUsers(ctx, tx, events, s.members, s.goalMembers); err != nil {
		return err
	}
	if err := s.erasures.Queue(ctx, tx, events); err != nil {
		return err
	}
	if err := s.notifications.QueueChecks(ctx, tx, events); err != nil {
		return err
	}
	if err := s.notifications.Store(ctx, tx, events); err != nil {
		return err
	}
	return s.webhooks.QueueDeliveries(ctx, tx, events)
}

func (s *server) wake() {
	s.notifications.Alerts.Wake()
	s.syncs.Wake()
	s.webhooks.Deliveries.Wake()
	s.erasures.Jobs.Wake()
}

// newErasures returns the worker that erases users whose accounts are deleted.
func (s *server) newErasures(awaitApplied func(ctx context.Context) error) *erasure.Eraser {
	return erasure.New(erasure.Dependencies{
		DB: s.db, Notifications: s.notifications, DeleteBudgets: s.deleteBudgets,
		DeleteGoals:  s.goals.DeleteAll,
		AwaitApplied: awaitApplied, Log: s.log, Now: s.now,
	})
}

// deleteBudgets deletes the budgets of an owner whose account is deleted, and returns the events of
// the deletions.
func (s *server) deleteBudgets(
	ctx context.Context, tx pgx.Tx, owner uuid.UUID,
) ([]notification.Addressed, error) {
	budgets, err := lockBudgetsOf(ctx, tx, owner)
	if err != nil {
		return nil, err
	}
	var events []notification.Addressed
	for _, b := range budgets {
		deleted, err := s.delete(ctx, tx, b.seenByOwner())
		if err != nil {
			return nil, err
		}
		events = append(events, deleted...)
	}
	return events, nil
}

// followCategories replaces merged categories in budgets. If a budget is written with a merged
// category after the event was applied, its sync with the ledger repairs it (references.go). The
// sync also repairs budgets of a category that was deleted.
func (s *server) followCategories(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	for _, event := range events {
		deleted, ok := event.Data.(*ledgerv1.CategoryDeleted)
		if !ok {
			continue
		}
		category, err := uuid.Parse(deleted.GetCategoryId())
		if err != nil {
			return fmt.Errorf("reading the id of a deleted category: %w", err)
		}
		// Without a target the category was deleted. Its budgets ask the ledger which of their
		// categories still exist.
		if deleted.ReassignedTo == nil {
			err = queueSyncsOfCategory(ctx, tx, event.UserID, category)
		} else {
			err = s.replaceCategory(ctx, tx, event.UserID, category, deleted.GetReassignedTo())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceCategory replaces a category by the target of its merge in all budgets of an owner. Each
// changed budget has a new version and publishes the change. A repeated event finds no budget with
// the category and does nothing.
func (s *server) replaceCategory(
	ctx context.Context, tx pgx.Tx, owner, category uuid.UUID, into string,
) error {
	target, err := uuid.Parse(into)
	if err != nil {
		return fmt.Errorf("reading the target of a merge: %w", err)
	}
	budgets, err := lockBudgetsOfCategory(ctx, tx, owner, category)
	if err != nil {
		return err
	}
	for _, b := range budgets {
		after := b
		// The owner counts as the user who changed the budget, because the owner merged the
		// categories.
		after.CategoryIDs = replaced(b.CategoryIDs, category, target)
		if _, err := s.replace(ctx, tx, b, after, b.OwnerID); err != nil {
			return err
		}
	}
	return nil
}

// replaced returns the categories with target in the place of category, each once. A budget that
// held both categories then holds the target once.
func replaced(categories []uuid.UUID, category, target uuid.UUID) []uuid.UUID {
	var kept []uuid.UUID
	for _, id := range categories {
		if id == category {
			id = target
		}
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

package budget

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/outbox"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/erasure"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
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
	if err := s.followUsers(ctx, tx, events); err != nil {
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
		deleted, err := s.delete(ctx, tx, seenBudget{budget: b, UserID: owner})
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

// followUsers attaches users to the invitations by mail to their e-mails. A user who registers
// without the link of a mail must verify the e-mail first, unless the installation does not require
// that: auth then publishes UserInvited.
func (s *server) followUsers(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
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
		if err := s.attach(ctx, tx, event.UserID, user.GetEmail()); err != nil {
			return err
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
// invitation without a user.
func (s *server) attach(ctx context.Context, tx pgx.Tx, user uuid.UUID, email string) error {
	budgets, err := lockInviting(ctx, tx, email)
	if err != nil || len(budgets) == 0 {
		return err
	}
	a := attachment{user: user, email: email, now: s.now().UTC()}
	a.limit, err = invitationsLeft(ctx, tx, user, a.now)
	if err != nil || a.limit <= 0 {
		return err
	}
	budgets, err = selectAttachable(ctx, tx, budgets, a)
	if err != nil || len(budgets) == 0 {
		return err
	}
	// A new invitation replaces a membership that the user rejected or left.
	if err := deleteRejected(ctx, tx, budgets, user); err != nil {
		return err
	}
	attached, err := attachUser(ctx, tx, budgets, a)
	if err != nil {
		return err
	}
	if err := insertReceived(ctx, tx, user, len(attached), a.now); err != nil {
		return err
	}
	events := make([]notification.Addressed, len(attached))
	for i, a := range attached {
		events[i] = notification.Addressed{User: user, Data: a.sent()}
	}
	return s.notifications.PublishEach(ctx, tx, events...)
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
func (i invitation) sent() *budgetv1.InvitationSent {
	return &budgetv1.InvitationSent{
		BudgetId: i.BudgetID.String(), BudgetName: i.BudgetName, OwnerId: i.OwnerID.String(),
		MemberId: i.UserID.String(), Role: i.Role, SharePercent: i.sharePercent(),
	}
}

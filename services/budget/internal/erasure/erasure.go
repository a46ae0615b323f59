// Package erasure deletes the data of users whose accounts are deleted from the budget service
// (ADR 145).
//
// The event auth.v1.user.erasing with the name of this service queues an erasure in the table
// erasures. A worker deletes the budgets, goals and memberships of the user, and notifies the
// users with whom they were shared. It deletes the other rows in transactions of up to 5000 rows,
// and replaces the id and the e-mail of the user in rows of other users. The last transaction
// deletes the erasure and publishes budget.v1.user.erased. Each step can be repeated.
//
// Events that are published for other users during the erasure have the nil UUID in the place of
// the user. Earlier events that name the user leave the outbox, and the consumer of this service
// applies them, before the rows that it writes are deleted or changed. So nothing that is published
// or written after budget.v1.user.erased names the user.
//
// erasure.go has the worker and its steps, anonymous.go replaces the user in messages, and
// store_erasure.go has the statements.
package erasure

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
)

// Dependencies are the parts of the process that the package uses.
type Dependencies struct {
	DB            *pgxpool.Pool
	Notifications *notification.Server
	// DeleteBudgets and DeleteGoals delete the budgets and the goals of an owner, and return the
	// events of the deletions.
	DeleteBudgets, DeleteGoals func(
		ctx context.Context, tx pgx.Tx, owner uuid.UUID) ([]notification.Addressed, error)
	// AwaitApplied waits until the consumer of this service has applied all published events.
	AwaitApplied func(ctx context.Context) error
	Log          *slog.Logger
	Now          func() time.Time
}

// Eraser deletes what the service stores about users.
type Eraser struct {
	// Jobs runs the queued erasures.
	Jobs *jobs.Worker

	Dependencies
}

// New returns an eraser. It erases while Jobs.Run is running.
func New(dependencies Dependencies) *Eraser {
	e := &Eraser{Dependencies: dependencies}
	e.Jobs = jobs.NewWorker(jobs.PollInterval, e.Log, "failed to erase the data of a user",
		func(ctx context.Context) (more bool, err error) {
			due, err := claim(ctx, e.DB, e.Now())
			if err != nil || len(due) == 0 {
				return false, err
			}
			return e.erase(ctx, due[0])
		})
	return e
}

// Queue queues the erasures that events start. A repeated event changes nothing while its erasure
// is queued, and is reported again afterwards.
func (e *Eraser) Queue(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	for _, event := range events {
		erasing, ok := event.Data.(*authv1.UserErasing)
		if !ok || erasing.GetService() != "budget" {
			continue
		}
		deletion, err := uuid.Parse(erasing.GetDeletionId())
		if err != nil {
			return fmt.Errorf("reading the id of a deletion: %w", err)
		}
		queued := erasure{DeletionID: deletion, UserID: event.UserID, Email: erasing.GetEmail()}
		if err := insertErasure(ctx, tx, queued); err != nil {
			return err
		}
	}
	return nil
}

// erase runs the steps of an erasure, and reports whether it is complete. While the outbox names
// the user, it ends the lease, and the next poll repeats the erasure.
func (e *Eraser) erase(ctx context.Context, of erasure) (complete bool, err error) {
	shared := func(tx pgx.Tx) error { return e.leave(ctx, tx, of) }
	if err := pg.InTx(ctx, e.DB, shared); err != nil {
		return false, err
	}
	publishing, err := selectPublishing(ctx, e.DB, of)
	if err != nil {
		return false, err
	}
	if publishing {
		return false, release(ctx, e.DB, of.DeletionID)
	}
	// Otherwise the consumer could write a delivery that names the user later.
	waiting, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	if err := e.AwaitApplied(waiting); err != nil {
		return false, err
	}
	for _, statement := range deletions {
		for deleted := true; deleted; {
			if deleted, err = deleteRows(ctx, e.DB, statement, of.UserID); err != nil {
				return false, err
			}
		}
	}
	for _, table := range []mentions{notifications, deliveries} {
		if err := e.anonymize(ctx, table, of); err != nil {
			return false, err
		}
	}
	err = pg.InTx(ctx, e.DB, func(tx pgx.Tx) error {
		erased, err := deleteErasure(ctx, tx, of.DeletionID)
		// Otherwise another replica has completed it.
		if err != nil || !erased {
			return err
		}
		complete = true
		report := &budgetv1.UserErased{DeletionId: of.DeletionID.String()}
		return e.Notifications.Publish(ctx, tx, report, of.DeletionID)
	})
	return complete, err
}

// leave deletes the budgets, the goals and the memberships of a user, with the user's assignments
// to goals. The owners and members are notified. Invitations by mail to the e-mail end without an
// event, because the event would name the e-mail.
func (e *Eraser) leave(ctx context.Context, tx pgx.Tx, of erasure) error {
	if err := lockShared(ctx, tx, of); err != nil {
		return err
	}
	events, err := e.DeleteBudgets(ctx, tx, of.UserID)
	if err != nil {
		return err
	}
	deleted, err := e.DeleteGoals(ctx, tx, of.UserID)
	if err != nil {
		return err
	}
	events = append(events, deleted...)
	if err := deleteAssignments(ctx, tx, of); err != nil {
		return err
	}
	left, err := deleteMemberships(ctx, tx, of)
	if err != nil {
		return err
	}
	for _, m := range left {
		if m.Status == "rejected" || m.ByMail {
			continue
		}
		events = append(events, notification.Addressed{
			User: m.OwnerID, Data: &budgetv1.MemberRemoved{
				BudgetId: m.BudgetID, BudgetName: m.BudgetName,
				GoalId: m.GoalID, GoalName: m.GoalName,
				OwnerId: m.OwnerID.String(), MemberId: uuid.Nil.String(),
				RemovedBy: uuid.Nil.String(),
			},
		})
	}
	var others []notification.Addressed
	for _, event := range events {
		if event.User == of.UserID {
			continue
		}
		of.anonymize(event.Data.ProtoReflect())
		others = append(others, event)
	}
	return e.Notifications.PublishEach(ctx, tx, others...)
}

// anonymize replaces the user in messages of other users. It reads the whole table, because no
// index contains the users that a message names.
func (e *Eraser) anonymize(ctx context.Context, table mentions, of erasure) error {
	var last mention
	for {
		rows, err := selectMentions(ctx, e.DB, table, of, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			content, err := table.replace(of, row.Content)
			if err != nil {
				return err
			}
			if err := updateMention(ctx, e.DB, table, row, content); err != nil {
				return err
			}
		}
		last = rows[len(rows)-1]
	}
}

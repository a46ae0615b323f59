// Package erasure deletes all rows and files of users whose accounts are deleted (ADR 145).
//
// The event auth.v1.user.erasing with the name of this service queues an erasure in the table
// erasures. A worker then deletes the rows of the owner in transactions of up to 5000 rows, the
// objects in the store of files, and the results of the ocr service. The last transaction deletes
// the erasure and publishes ledger.v1.user.erased. Each step can be repeated: if a replica is
// killed, another one continues when the lease of the erasure has ended. A repeated event finds no
// rows and is reported again.
//
// The events of the owner in the outbox are published first. So nothing that is published after
// ledger.v1.user.erased names the owner.
//
// erasure.go has the worker and its steps, store_erasure.go the statements.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/files"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// errLost ends an erasure that another replica has completed.
var errLost = errors.New("another replica completes the erasure")

// Eraser deletes what the ledger and the ocr service store about owners.
type Eraser struct {
	// Jobs runs the queued erasures.
	Jobs *jobs.Worker

	ledger *posting.Ledger
	files  *files.Store
	ocr    ocrv1.OCRServiceClient
}

// New returns an eraser. The store of files may be nil.
func New(
	ledger *posting.Ledger, store *files.Store, ocr ocrv1.OCRServiceClient, log *slog.Logger,
) *Eraser {
	e := &Eraser{ledger: ledger, files: store, ocr: ocr}
	e.Jobs = jobs.NewWorker(jobs.PollInterval, log, "failed to erase the data of a user", e.work)
	return e
}

// Start consumes the events that start erasures, and runs the erasures, until ctx ends.
func (e *Eraser) Start(ctx context.Context, bus *outbox.Bus) {
	go e.Jobs.Run(ctx)
	go bus.Consume(ctx, e.ledger.DB, e.Consumer())
}

// Consumer returns the consumer of the event that starts an erasure.
func (e *Eraser) Consumer() outbox.Consumer {
	return outbox.Consumer{
		Name: "ledger-erasures", Subject: outbox.Type("coffer.auth.v1.UserErasing"),
		Apply: e.queue, Applied: e.Jobs.Wake,
	}
}

func (e *Eraser) queue(ctx context.Context, tx pgx.Tx, events []outbox.Received) error {
	for _, event := range events {
		erasing, ok := event.Data.(*authv1.UserErasing)
		if !ok || erasing.GetService() != "ledger" {
			continue
		}
		deletion, err := uuid.Parse(erasing.GetDeletionId())
		if err != nil {
			return fmt.Errorf("reading the id of a deletion: %w", err)
		}
		if err := insertErasure(ctx, tx, event.UserID, deletion); err != nil {
			return err
		}
	}
	return nil
}

// work runs the due erasures. One that fails is repeated when its lease has ended, and does not
// prevent the others.
func (e *Eraser) work(ctx context.Context) (more bool, err error) {
	due, err := selectDue(ctx, e.ledger.DB)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, owner := range due {
		leased, err := lease(ctx, e.ledger.DB, owner)
		if err == nil && leased {
			err = e.erase(ctx, owner)
		}
		if !errors.Is(err, errLost) {
			errs = append(errs, err)
		}
	}
	return false, errors.Join(errs...)
}

// erase deletes the data of an owner. The rows of a table precede the rows that they reference, so
// that a foreign key deletes no more rows than the limit.
func (e *Eraser) erase(ctx context.Context, owner uuid.UUID) error {
	for _, table := range tables {
		for deleted := true; deleted; {
			err := pg.InTx(ctx, e.ledger.DB, func(tx pgx.Tx) error {
				renewed, err := e.lock(ctx, tx, owner)
				if err == nil && !renewed {
					err = errLost
				}
				if err != nil {
					return err
				}
				deleted, err = deleteRows(ctx, tx, table, owner)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if err := e.files.Erase(ctx, e.ledger.DB, owner, e.ledger.Now()); err != nil {
		return err
	}
	_, err := e.ocr.EraseUser(ctx, &ocrv1.EraseUserRequest{UserId: owner.String()})
	if err != nil {
		return fmt.Errorf("erasing the results of the ocr service: %w", err)
	}
	return e.finish(ctx, owner)
}

// lock makes tx wait for the writes of the owner, and renews the lease.
func (e *Eraser) lock(ctx context.Context, tx pgx.Tx, owner uuid.UUID) (renewed bool, err error) {
	if err := posting.LockOwner(ctx, tx, owner); err != nil {
		return false, err
	}
	return renew(ctx, tx, owner)
}

// finish deletes the last rows of an owner, and reports the erasure. While events of the owner are
// in the outbox, it ends the lease instead, and the next poll repeats the erasure.
func (e *Eraser) finish(ctx context.Context, owner uuid.UUID) error {
	return pg.InTx(ctx, e.ledger.DB, func(tx pgx.Tx) error {
		if _, err := e.lock(ctx, tx, owner); err != nil {
			return err
		}
		publishing, err := selectPublishing(ctx, tx, owner)
		if err != nil {
			return err
		}
		if publishing {
			return release(ctx, tx, owner)
		}
		if err := deleteOwner(ctx, tx, owner); err != nil {
			return err
		}
		deletions, err := deleteErasures(ctx, tx, owner)
		if err != nil {
			return err
		}
		for _, id := range deletions {
			erased := &ledgerv1.UserErased{DeletionId: id.String()}
			if err := e.ledger.Publish(ctx, tx, id, erased); err != nil {
				return err
			}
		}
		return nil
	})
}

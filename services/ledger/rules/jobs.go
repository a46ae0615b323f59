package rules

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// chunks returns the function that applies a rule to the transactions of its job, or that undoes
// the application. The last chunk ends the job.
func (s *Rules) chunks(job jobs.Job) jobs.Chunk {
	run, ended := s.runChunk, done
	if job.Status == undoing {
		run, ended = s.undoChunk, undone
	}
	return func(ctx context.Context, p *jobs.Pace) (finished bool, err error) {
		if finished, err = run(ctx, job, p); err != nil || !finished {
			return false, err
		}
		return true, s.end(ctx, job, ended, "")
	}
}

// runChunk applies a rule to the next transactions of its job, and reports whether there were none.
// The changes, their events and the position of the job commit together, so a job that continues on
// another replica repeats nothing.
func (s *Rules) runChunk(
	ctx context.Context, job jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, job.OwnerID); err != nil {
			return err
		}
		place, err := jobs.Renew[place](ctx, tx, jobTable, job, placeColumns)
		if err != nil {
			return err
		}
		rule, err := selectRule(ctx, tx, job.OwnerID, job.ID)
		if err != nil {
			return err
		}
		ts, err := lockNext(ctx, tx, job.OwnerID, place, pace.Rows())
		if err != nil {
			return err
		}
		if finished = len(ts) == 0; finished {
			return nil
		}
		last := ts[len(ts)-1]
		matched, changed, err := s.applyTo(ctx, tx, rule, ts)
		if err != nil {
			return err
		}
		ids, counts := []uuid.UUID{rule.ID}, []int32{int32(matched)}
		if err := CountApplied(ctx, tx, job.OwnerID, ids, counts, s.Now()); err != nil {
			return err
		}
		return advance(ctx, tx, job, last, len(ts), changed)
	})
	return finished, err
}

// end ends a job and its lease. The event has the rule with the final progress. If the rule was
// deleted, its job was deleted with it, and endJob returns jobs.ErrLostLease.
func (s *Rules) end(ctx context.Context, job jobs.Job, status, problem string) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, job.OwnerID); err != nil {
			return err
		}
		if err := endJob(ctx, tx, job, status, problem); err != nil {
			return err
		}
		_, err := s.publishJob(ctx, tx, job.OwnerID, job.ID)
		return err
	})
}

// publishJob returns a rule whose job has changed, and adds its event.
func (s *Rules) publishJob(
	ctx context.Context, tx pgx.Tx, owner, id uuid.UUID,
) (*ledgerv1.Rule, error) {
	r, err := selectRule(ctx, tx, owner, id)
	if err != nil {
		return nil, err
	}
	event := &ledgerv1.RuleUpdated{OwnerId: owner.String(), Rule: r.Proto()}
	return event.GetRule(), s.Publish(ctx, tx, owner, event)
}

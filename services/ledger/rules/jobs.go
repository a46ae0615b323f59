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
func (s *Rules) chunks(j jobs.Job) jobs.Chunk {
	run, ended := s.runChunk, done
	if j.Status == undoing {
		run, ended = s.undoChunk, undone
	}
	return func(ctx context.Context, p *jobs.Pace) (finished bool, err error) {
		if finished, err = run(ctx, j, p); err != nil || !finished {
			return false, err
		}
		return true, s.end(ctx, j, ended, "")
	}
}

// runChunk applies a rule to the next transactions of its job, and reports whether there were none.
// The changes, their events and the position of the job commit together, so a job that continues on
// another replica repeats nothing.
func (s *Rules) runChunk(
	ctx context.Context, j jobs.Job, pace *jobs.Pace,
) (finished bool, err error) {
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.LockOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		p, err := jobs.Renew[place](ctx, tx, jobTable, j, placeColumns)
		if err != nil {
			return err
		}
		r, err := selectRule(ctx, tx, j.OwnerID, j.ID)
		if err != nil {
			return err
		}
		ts, err := lockNext(ctx, tx, j.OwnerID, p, pace.Rows())
		if err != nil {
			return err
		}
		if finished = len(ts) == 0; finished {
			return nil
		}
		last := ts[len(ts)-1]
		matched, changed, err := s.applyTo(ctx, tx, r, ts)
		if err != nil {
			return err
		}
		ids, counts := []uuid.UUID{r.ID}, []int32{int32(matched)}
		if err := CountApplied(ctx, tx, j.OwnerID, ids, counts, s.Now()); err != nil {
			return err
		}
		return advance(ctx, tx, j, last, len(ts), changed)
	})
	return finished, err
}

// end ends a job and its lease. The event has the rule with the final progress. If the rule was
// deleted, its job was deleted with it, and endJob returns jobs.ErrLostLease.
func (s *Rules) end(ctx context.Context, j jobs.Job, status, problem string) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		if err := endJob(ctx, tx, j, status, problem); err != nil {
			return err
		}
		_, err := s.publishJob(ctx, tx, j.OwnerID, j.ID)
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

package rules

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// pollJobs is the interval at which a replica looks for jobs of other replicas, whose leases have ended. A job of this
	// replica does not wait for it, because ApplyRule wakes the worker.
	pollJobs = 2 * time.Second
	// chunkTimeout limits a chunk, so that a replica whose connection hangs loses its lease before the next chunk. It is
	// shorter than leaseTime.
	chunkTimeout = 45 * time.Second
	// chunkRows is the number of transactions to which a chunk applies a rule. Other writes of the owner wait for one chunk at most.
	chunkRows = 500
)

// Run runs queued jobs, one at a time, until ctx ends. Each replica has one worker. A job runs at the pace of one chunk
// per database transaction, so requests of the owner get their turn between chunks.
func (s *Rules) Run(ctx context.Context) {
	poll := time.NewTicker(pollJobs)
	defer poll.Stop()
	for {
		s.RunQueued(ctx)
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-s.queued:
		}
	}
}

// wake makes the worker of this replica look for jobs.
func (s *Rules) wake() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// RunQueued runs the jobs that no replica leases, and returns when there are none.
func (s *Rules) RunQueued(ctx context.Context) {
	for s.runNext(ctx) {
	}
}

// runNext runs the next job, and reports whether there was one. After an error the job is tried again, with a longer pause each time,
// until it fails. It logs errors instead of returning them, because the job itself stores how it ended. The context has
// the owner as the acting user.
func (s *Rules) runNext(ctx context.Context) bool {
	j, err := leaseJob(ctx, s.DB, s.NewID())
	if errors.Is(err, pgx.ErrNoRows) || ctx.Err() != nil {
		return false
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to lease an application of a rule", "error", err)
		return false
	}
	ctx = caller.With(ctx, caller.Identity{UserID: j.OwnerID})
	if j.Attempts > maxAttempts {
		err = s.end(ctx, j, failed, apierr.Internal.Reason)
	} else {
		err = s.runJob(ctx, j)
	}
	if err != nil && !errors.Is(err, errLostLease) && ctx.Err() == nil {
		s.log.WarnContext(ctx, "failed to apply a rule", "rule", j.RuleID, "attempt", j.Attempts, "error", err)
		if err := releaseJob(ctx, s.DB, j); err != nil {
			s.log.WarnContext(ctx, "failed to release an application of a rule", "rule", j.RuleID, "error", err)
		}
	}
	return true
}

// runJob runs chunks until the job ends. An error that the user can correct ends the job with its code. Such an error
// cannot disappear by a retry, for example a balance that would be out of range. The changes of earlier chunks stay.
func (s *Rules) runJob(ctx context.Context, j job) error {
	for {
		finished, err := s.runChunk(ctx, j)
		if e := apierr.From(err); e != nil && !errors.Is(e, apierr.Unavailable) {
			return s.end(ctx, j, failed, e.Reason)
		}
		if err != nil {
			return err
		}
		if finished {
			return s.end(ctx, j, done, "")
		}
	}
}

// runChunk applies a rule to the next transactions of its job, and reports whether there were none. The changes, their events and the
// position of the job commit together, so a job that continues on another replica repeats nothing.
func (s *Rules) runChunk(ctx context.Context, j job) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	err = pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		p, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		r, err := selectRule(ctx, tx, j.OwnerID, j.RuleID)
		if err != nil {
			return err
		}
		ts, err := lockNext(ctx, tx, j.OwnerID, p, chunkRows)
		if err != nil {
			return err
		}
		if finished = len(ts) == 0; finished {
			return nil
		}
		last := ts[len(ts)-1]
		matched, err := s.applyTo(ctx, tx, r, ts)
		if err != nil {
			return err
		}
		if err := countApplied(ctx, tx, j.OwnerID, []uuid.UUID{r.ID}, []int32{int32(matched)}, s.Now()); err != nil {
			return err
		}
		return advance(ctx, tx, j, last.Date, last.ID, len(ts))
	})
	return finished, err
}

// end ends a job and its lease. The event has the rule with the final progress. If the rule was deleted, its job was
// deleted with it, and endJob returns errLostLease.
func (s *Rules) end(ctx context.Context, j job, status, problem string) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		if err := posting.ShareOwner(ctx, tx, j.OwnerID); err != nil {
			return err
		}
		if err := endJob(ctx, tx, j, status, problem); err != nil {
			return err
		}
		r, err := selectRule(ctx, tx, j.OwnerID, j.RuleID)
		if err != nil {
			return err
		}
		return s.Publish(ctx, tx, j.OwnerID, &ledgerv1.RuleUpdated{OwnerId: j.OwnerID.String(), Rule: r.Proto()})
	})
}

package imports

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/text"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats"
)

const (
	// pollJobs is the interval at which a replica looks for jobs of other replicas, whose leases have ended.
	pollJobs = 2 * time.Second
	// chunkTimeout limits a chunk, so that a replica whose connection hangs loses its lease before the next chunk.
	chunkTimeout = 45 * time.Second
)

// The codes of responses that start a job or find it started.
const (
	codeStarted     = "IMPORT_STARTED"
	codeUndoStarted = "IMPORT_UNDO_STARTED"
	codeFetched     = "IMPORT_FETCHED"
)

// CommitImport queues the job that creates transactions. It has no effect if the import is queued, running or done.
func (s *Imports) CommitImport(ctx context.Context, req *ledgerv1.CommitImportRequest) (*ledgerv1.CommitImportResponse, error) {
	resp := &ledgerv1.CommitImportResponse{Code: codeStarted, Message: "Import started"}
	err := s.queue(ctx, req.GetId(), func(tx pgx.Tx, e entry) (m *ledgerv1.Import, err error) {
		switch e.Status {
		case queued, running, done:
			resp.Code, resp.Message = codeFetched, "Import fetched"
			return e.proto()
		case preview, failed:
		default:
			return nil, errState
		}
		if err := s.checkReady(ctx, tx, e, req.GetForce()); err != nil {
			return nil, err
		}
		e.Status, e.Problem, e.JobDone, e.JobTotal = queued, "", int64(e.Booked+e.Duplicate), int64(e.Ready+e.Matched+e.Booked+e.Duplicate)
		return s.save(ctx, tx, e)
	}, &resp.Import)
	return resp, err
}

// UndoImport queues the job that deletes the transactions. It has no effect if the import is being undone, or was undone.
func (s *Imports) UndoImport(ctx context.Context, req *ledgerv1.UndoImportRequest) (*ledgerv1.UndoImportResponse, error) {
	resp := &ledgerv1.UndoImportResponse{Code: codeUndoStarted, Message: "Undo of the import started"}
	err := s.queue(ctx, req.GetId(), func(tx pgx.Tx, e entry) (*ledgerv1.Import, error) {
		switch e.Status {
		case undoing, undone:
			resp.Code, resp.Message = codeFetched, "Import fetched"
			return e.proto()
		case done, failed:
		default:
			return nil, errState
		}
		e.Status, e.Problem, e.UndoForce, e.JobDone, e.JobTotal = undoing, "", req.GetForce(), 0, int64(e.Booked)
		return s.save(ctx, tx, e)
	}, &resp.Import)
	return resp, err
}

// queue changes an import with fn, stores the result in m and wakes the worker.
func (s *Imports) queue(ctx context.Context, id string, fn func(tx pgx.Tx, e entry) (*ledgerv1.Import, error), m **ledgerv1.Import) error {
	parsed, ok := text.ID(id)
	if !ok {
		return errInvalidID
	}
	err := s.change(ctx, parsed, func(tx pgx.Tx, e entry) (err error) {
		*m, err = fn(tx, e)
		return err
	})
	if err != nil {
		return err
	}
	s.wake()
	return nil
}

// wake makes the worker of this replica look for jobs.
func (s *Imports) wake() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// checkReady returns IMPORT_NOT_READY with a line for each reason why the import cannot be committed.
func (s *Imports) checkReady(ctx context.Context, tx pgx.Tx, e entry, force bool) error {
	details, err := e.detailed()
	if err != nil {
		return err
	}
	var created []string
	for _, a := range details.GetAccounts() {
		if a.GetCreate() {
			created = append(created, a.GetKey())
		}
	}
	reasons, err := selectUnready(ctx, tx, e.OwnerID, e.ID, created)
	if err != nil {
		return err
	}
	var problem *apierr.Error
	add := func(field, message string) {
		if problem == nil {
			problem = errNotReady
		}
		problem = problem.With(field, message)
	}
	for _, r := range reasons {
		switch {
		case r.Wallet:
			add("accounts", fmt.Sprintf("account %q has no wallet (%d rows)", r.Account, r.Count))
		case r.Amount:
			add("defaults.currency", fmt.Sprintf("account %q has no currency (%d rows)", r.Account, r.Count))
		default:
			add("defaults", fmt.Sprintf("%d rows of account %q have no category", r.Count, r.Account))
		}
	}
	if e.Ready+e.Matched+e.Duplicate+e.Booked == 0 {
		add("rows", fmt.Sprintf("none of %d rows can be committed", e.Invalid+e.Skipped))
	}
	if !force && slices.Contains(details.GetWarnings(), formats.BalanceMismatch) {
		add("force", "the rows do not add up to the balances in the file: check them, or commit with force=true")
	}
	if problem == nil {
		return nil
	}
	return problem
}

// Run runs queued jobs, one at a time, until ctx ends. Each replica has one worker.
func (s *Imports) Run(ctx context.Context) {
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

// RunQueued runs the jobs that no replica leases, and returns when there are none.
func (s *Imports) RunQueued(ctx context.Context) {
	for s.runNext(ctx) {
	}
}

// runNext runs the next job, and reports whether there was one. After an error the job is tried again, with a longer pause each time,
// until it fails. A deletion never fails, because the user can no longer see the import.
func (s *Imports) runNext(ctx context.Context) bool {
	j, err := leaseJob(ctx, s.DB, s.NewID(), s.leaseTime)
	if errors.Is(err, pgx.ErrNoRows) || ctx.Err() != nil {
		return false
	}
	if err != nil {
		s.log.WarnContext(ctx, "failed to lease an import", "error", err)
		return false
	}
	ctx = caller.With(ctx, caller.Identity{UserID: j.OwnerID})
	if j.Attempts > maxAttempts && j.Status != deleting {
		err = s.fail(ctx, j, apierr.Internal.Reason)
	} else {
		err = s.runJob(ctx, j)
	}
	if err != nil && !errors.Is(err, errLostLease) && ctx.Err() == nil {
		s.log.WarnContext(ctx, "failed to run an import", "import", j.ID, "attempt", j.Attempts, "error", err)
		if err := releaseJob(ctx, s.DB, j); err != nil {
			s.log.WarnContext(ctx, "failed to release an import", "import", j.ID, "error", err)
		}
	}
	return true
}

// runJob runs chunks until the job ends. A chunk that a client's data makes impossible ends the job with the public error.
func (s *Imports) runJob(ctx context.Context, j job) error {
	for p := (progress{undone: math.MaxInt32}); ; {
		finished, err := s.runChunk(ctx, &j, &p)
		if e := apierr.From(err); e != nil && !errors.Is(e, apierr.Unavailable) {
			return s.fail(ctx, j, e.Reason)
		}
		if err != nil || finished {
			return err
		}
	}
}

// progress holds the numbers of the last rows that this lease of a job considered. The commit reads the rows forward and the undo
// backward. Without the numbers, each chunk would read all rows that are finished.
type progress struct{ committed, undone int32 }

// runChunk runs one step of a job in a database transaction.
func (s *Imports) runChunk(ctx context.Context, j *job, p *progress) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	switch j.Status {
	case queued:
		err := s.prepare(ctx, *j)
		if err == nil {
			j.Status = running
		}
		return false, err
	case running:
		return s.commitChunk(ctx, *j, &p.committed)
	case undoing:
		return s.undoChunk(ctx, *j, &p.undone)
	default:
		return s.deleteChunk(ctx, *j)
	}
}

// fail ends a commit with an error. Another commit continues it.
func (s *Imports) fail(ctx context.Context, j job, reason string) error {
	return pg.InTx(ctx, s.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		status := failed
		if e.Status == undoing {
			// The remaining transactions can be undone again.
			status = done
		}
		if err := setStatus(ctx, tx, e, status, reason, s.Now()); err != nil {
			return err
		}
		m, err := s.current(ctx, tx, j)
		if err != nil {
			return err
		}
		return s.Publish(ctx, tx, j.OwnerID, &ledgerv1.ImportFailed{OwnerId: j.OwnerID.String(), Import: m})
	})
}

// current returns the import of a job as the API shows it.
func (s *Imports) current(ctx context.Context, q pg.Querier, j job) (*ledgerv1.Import, error) {
	e, err := selectImport(ctx, q, j.OwnerID, j.ID)
	if err != nil {
		return nil, err
	}
	return e.proto()
}

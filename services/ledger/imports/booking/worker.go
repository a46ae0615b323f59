// Package booking runs the jobs of imports: a commit, an undo or a deletion, in chunks of one database transaction each. It guarantees that
// each row of a committed import is booked exactly once, even if replicas are killed or two of them commit: the transactions of a chunk,
// the outcome of its rows, the progress of the job and one event commit together.
//
//   - worker.go and store_jobs.go: the worker and the leases. A job is a lease on a row of imports
//   - prepare.go: creates the wallets and categories before the first chunk of a commit
//   - book.go: a chunk of a commit. existing.go: its rows whose transaction exists already. transaction.go: the transactions of a row.
//     pair.go: rows whose transfer has its other leg already
//   - undo.go: a chunk of an undo. delete.go: a chunk of a deletion
package booking

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// pollJobs is the interval at which a replica looks for jobs of other replicas, whose leases have ended.
	pollJobs = 2 * time.Second
	// chunkTimeout limits a chunk, so that a replica whose connection hangs loses its lease before the next chunk.
	chunkTimeout = 45 * time.Second
)

// Worker runs the jobs of imports.
type Worker struct {
	*posting.Ledger
	accounts *accounts.Accounts
	key      staging.AccountKey
	log      *slog.Logger
	// LeaseTime is shorter in tests.
	LeaseTime time.Duration
	// queued wakes the worker when a job was queued at this replica.
	queued chan struct{}
}

// New returns a worker. The jobs wait until Run is called.
func New(a *accounts.Accounts, key staging.AccountKey, log *slog.Logger) *Worker {
	return &Worker{Ledger: a.Ledger, accounts: a, key: key, log: log, LeaseTime: leaseTime, queued: make(chan struct{}, 1)}
}

// Wake makes the worker of this replica look for jobs.
func (w *Worker) Wake() {
	select {
	case w.queued <- struct{}{}:
	default:
	}
}

// Run runs queued jobs, one at a time, until ctx ends. Each replica has one worker: a long import delays other imports at this replica, and
// not the requests of users.
func (w *Worker) Run(ctx context.Context) {
	poll := time.NewTicker(pollJobs)
	defer poll.Stop()
	for {
		w.RunQueued(ctx)
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-w.queued:
		}
	}
}

// RunQueued runs the jobs that no replica leases, and returns when there are none.
func (w *Worker) RunQueued(ctx context.Context) {
	for w.runNext(ctx) {
	}
}

// runNext runs the next job, and reports whether there was one. After an error the job is tried again, with a longer pause each time,
// until it fails. A deletion never fails, because the user can no longer see the import.
func (w *Worker) runNext(ctx context.Context) bool {
	j, err := leaseJob(ctx, w.DB, w.NewID(), w.LeaseTime)
	if errors.Is(err, pgx.ErrNoRows) || ctx.Err() != nil {
		return false
	}
	if err != nil {
		w.log.WarnContext(ctx, "failed to lease an import", "error", err)
		return false
	}
	ctx = caller.With(ctx, caller.Identity{UserID: j.OwnerID})
	if j.Attempts > maxAttempts && j.Status != staging.Deleting {
		err = w.fail(ctx, j, apierr.Internal.Reason)
	} else {
		err = w.runJob(ctx, j)
	}
	if err != nil && !errors.Is(err, errLostLease) && ctx.Err() == nil {
		w.log.WarnContext(ctx, "failed to run an import", "import", j.ID, "attempt", j.Attempts, "error", err)
		if err := releaseJob(ctx, w.DB, j); err != nil {
			w.log.WarnContext(ctx, "failed to release an import", "import", j.ID, "error", err)
		}
	}
	return true
}

// runJob runs chunks until the job ends. A chunk that a client's data makes impossible ends the job with the public error.
func (w *Worker) runJob(ctx context.Context, j job) error {
	for p := (progress{undone: math.MaxInt32}); ; {
		finished, err := w.runChunk(ctx, &j, &p)
		if e := apierr.From(err); e != nil && !errors.Is(e, apierr.Unavailable) {
			return w.fail(ctx, j, e.Reason)
		}
		if err != nil || finished {
			return err
		}
	}
}

// progress holds the numbers of the last rows that this lease of a job considered. The commit reads the rows forward and the undo
// backward. Without the numbers, each chunk would read all rows that are finished.
type progress struct{ committed, undone int32 }

// runChunk runs one step of a job in a database transaction. Between two chunks no lock is held, so other writes of the owner wait for one
// chunk at most.
func (w *Worker) runChunk(ctx context.Context, j *job, p *progress) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	switch j.Status {
	case staging.Queued:
		err := w.prepare(ctx, *j)
		if err == nil {
			j.Status = staging.Running
		}
		return false, err
	case staging.Running:
		return w.commitChunk(ctx, *j, &p.committed)
	case staging.Undoing:
		return w.undoChunk(ctx, *j, &p.undone)
	default:
		return w.deleteChunk(ctx, *j)
	}
}

// fail ends a commit with an error. Another commit continues it.
func (w *Worker) fail(ctx context.Context, j job, reason string) error {
	return pg.InTx(ctx, w.DB, func(tx pgx.Tx) error {
		e, err := renewLease(ctx, tx, j)
		if err != nil {
			return err
		}
		status := staging.Failed
		if e.Status == staging.Undoing {
			// The remaining transactions can be undone again.
			status = staging.Done
		}
		if err := setStatus(ctx, tx, e, status, reason, w.Now()); err != nil {
			return err
		}
		m, err := w.current(ctx, tx, j)
		if err != nil {
			return err
		}
		return w.Publish(ctx, tx, j.OwnerID, &ledgerv1.ImportFailed{OwnerId: j.OwnerID.String(), Import: m})
	})
}

// current returns the import of a job as the API shows it.
func (w *Worker) current(ctx context.Context, q pg.Querier, j job) (*ledgerv1.Import, error) {
	e, err := staging.SelectImport(ctx, q, j.OwnerID, j.ID)
	if err != nil {
		return nil, err
	}
	return e.Proto()
}

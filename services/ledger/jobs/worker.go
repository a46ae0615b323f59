// Package jobs runs the jobs of a table in the background: those of imports and those of rules. It
// has the policy that both share, and the tables have the statements.
//
// Each row of such a table has the columns lease, leased_until and attempts. A replica runs a job
// while it holds the lease of the row, and a job has chunks of one database transaction each. Each
// chunk renews the lease first and keeps the row locked, so no other replica takes the job during a
// chunk. The job of a replica that was killed continues on another one when the lease has ended,
// and a replica that stops ends its leases at once (ADR 81, ADR 106).
//
// A job shares the ledger with requests and with other jobs. A chunk holds the owner's lock for
// about chunkTime: Pace adapts its rows. After turnChunks chunks the worker continues with another
// job if one waits, the one with the least work first.
//
// After an error the job is tried again, with a longer pause each time. It fails after maxAttempts
// without progress, or at once with a public error, which the user must resolve (ADR 89). While the
// disk is full it waits.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// chunkTimeout limits a chunk, so that a replica whose connection hangs stops the job.
	chunkTimeout = 45 * time.Second
	// leaseTime is the time after which another replica may take the job of a replica that does not
	// renew its lease.
	leaseTime = 6 * time.Second
	// pollInterval is the interval at which a replica looks for jobs of other replicas, whose leases
	// have ended. A job of this replica does not wait for it, because Wake follows each queued job.
	pollInterval = time.Second
	// turnChunks is the number of chunks after which a job lets another one run.
	turnChunks = 10
	// maxAttempts is the number of leases without progress after which a job fails. The pauses between
	// them take two minutes.
	maxAttempts = 8
	// maxPause is the longest pause before the next attempt.
	maxPause = time.Minute
	// diskPause is the pause while the disk of PostgreSQL is full.
	diskPause = 10 * time.Second
	// releaseTimeout limits the release of a lease at shutdown. Without it, the lease ends by itself.
	releaseTimeout = 5 * time.Second
)

// ErrLostLease is returned by a chunk if another replica has taken the job, or its row was changed
// or deleted.
var ErrLostLease = errors.New("another replica has taken the job")

// Job is a job that this replica leases.
type Job struct {
	OwnerID uuid.UUID `db:"owner_id"`
	// ID is the id of the import or of the rule.
	ID    uuid.UUID
	Lease uuid.UUID
	// Status is the status of the job when it was leased.
	Status string
	// Attempts is the number of leases since the job last made progress, including this one.
	Attempts int
	// Endless is set if the job never fails, and is tried again until it ends.
	Endless bool `db:"-"`
	// LeaseTime is the duration of the lease, which each chunk renews.
	LeaseTime time.Duration `db:"-"`
}

// pause returns the time before the next attempt. It doubles with each attempt.
func (j Job) pause() time.Duration {
	return min(time.Second<<(min(j.Attempts, maxAttempts)-1), maxPause)
}

// Chunk runs the next chunk of a job, and reports whether it was the last one. Its transaction
// takes the owner's lock with posting.LockOwner: this lock is granted in the order of the requests
// for it, so writes of the owner that wait for a chunk precede the next one. Then it asks the pace
// for the number of rows.
type Chunk func(ctx context.Context, p *Pace) (finished bool, err error)

// Table has the operations on the jobs of one table. The context of a chunk and of Fail has the
// owner of the job as the acting user.
type Table struct {
	// Name is the name of the table in log lines.
	Name string
	// Lease leases the next job for d and counts the attempt, or returns pgx.ErrNoRows. The next job
	// is the one that waits longest, but one with more work waits longer.
	Lease func(ctx context.Context, q pg.Querier, lease uuid.UUID, d time.Duration) (Job, error)
	// Release ends a lease early, after a pause. It reduces the number of attempts to j.Attempts.
	Release func(ctx context.Context, q pg.Querier, j Job, pause time.Duration) error
	// Yield ends a lease if another job waits, and reports whether it did.
	Yield func(ctx context.Context, q pg.Querier, j Job) (bool, error)
	// Chunks returns the function that runs the chunks of a job, one with each call.
	Chunks func(j Job) Chunk
	// Fail ends a job with an error.
	Fail func(ctx context.Context, j Job, reason string) error
}

// Worker runs the jobs of a table, one at a time. Each replica has one worker of each table.
type Worker struct {
	table Table
	book  *posting.Ledger
	log   *slog.Logger
	// LeaseTime is shorter in tests.
	LeaseTime time.Duration
	// queued wakes the worker.
	queued chan struct{}
}

// NewWorker returns a worker. The jobs wait until Run is called.
func NewWorker(t Table, book *posting.Ledger, log *slog.Logger) *Worker {
	return &Worker{table: t, book: book, log: log.With("table", t.Name), LeaseTime: leaseTime, queued: make(chan struct{}, 1)}
}

// Wake makes the worker look for jobs. It must be called after a job was queued.
func (w *Worker) Wake() {
	select {
	case w.queued <- struct{}{}:
	default:
	}
}

// Run runs queued jobs until ctx ends.
func (w *Worker) Run(ctx context.Context) {
	poll := time.NewTicker(pollInterval)
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

// runNext runs the next job until it ends or lets another one run, and reports whether there was
// one. It logs errors instead of returning them, because the row of the job has its outcome.
func (w *Worker) runNext(ctx context.Context) bool {
	j, err := w.table.Lease(ctx, w.book.DB, w.book.NewID(), w.LeaseTime)
	if err != nil {
		if !errors.Is(err, pgx.ErrNoRows) && ctx.Err() == nil {
			w.log.WarnContext(ctx, "failed to lease a job", "error", err)
		}
		return false
	}
	j.LeaseTime = w.LeaseTime
	ctx = caller.With(ctx, caller.Identity{UserID: j.OwnerID})
	err = w.runJob(ctx, j)
	if err == nil || errors.Is(err, ErrLostLease) {
		return true
	}
	pause := j.pause()
	switch {
	case ctx.Err() != nil:
		// The replica stops. Another one continues the job at once, and the attempt does not count.
		pause = 0
		j.Attempts--
	case pg.IsDiskFull(err):
		// The attempt does not count: a job must survive a disk that is full for hours. The lease usually
		// succeeds, because it needs no new page.
		pause = diskPause
		j.Attempts--
		fallthrough
	default:
		w.log.WarnContext(ctx, "failed to run a job", "id", j.ID, "attempt", j.Attempts, "error", err)
	}
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := w.table.Release(release, w.book.DB, j, pause); err != nil {
		w.log.WarnContext(ctx, "failed to release a job", "id", j.ID, "error", err)
	}
	return ctx.Err() == nil
}

// runJob runs a job, or ends it if it must fail. A public error cannot disappear by a retry, for
// example a balance that would be out of range. The changes of earlier chunks stay.
func (w *Worker) runJob(ctx context.Context, j Job) error {
	if j.Attempts > maxAttempts && !j.Endless {
		return w.table.Fail(ctx, j, apierr.Internal.Reason)
	}
	err := w.runTurn(ctx, j)
	if e := apierr.From(err); e != nil && !errors.Is(e, apierr.Unavailable) && !j.Endless {
		return w.table.Fail(ctx, j, e.Reason)
	}
	return err
}

// runTurn runs chunks until the job ends, or until another job waits after turnChunks of them.
func (w *Worker) runTurn(ctx context.Context, j Job) error {
	run, p := w.table.Chunks(j), NewPace(w.book.Now)
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		finished, err := runChunk(ctx, run, p)
		if err != nil || finished {
			return err
		}
		if n%turnChunks != 0 {
			continue
		}
		if yielded, err := w.table.Yield(ctx, w.book.DB, j); err != nil || yielded {
			return err
		}
	}
}

// runChunk runs a chunk, and adapts the next one to its duration.
func runChunk(ctx context.Context, run Chunk, p *Pace) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	finished, err = run(ctx, p)
	p.end()
	return finished, err
}

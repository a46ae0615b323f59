package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// chunkTimeout limits a chunk, so that a replica whose connection hangs stops the job.
	chunkTimeout = 45 * time.Second
	// leaseTime is the time after which another replica may take the job of a replica that does not
	// renew its lease.
	leaseTime = 6 * time.Second
	// leasePoll is shorter than PollInterval, because users wait for jobs.
	leasePoll = time.Second
	// turnChunks is the number of chunks after which a job lets another one run.
	turnChunks = 10
	// maxAttempts is the number of leases without progress after which a job fails. The pauses
	// between them take two minutes.
	maxAttempts = 8
	firstPause  = time.Second
	lastPause   = time.Minute
	// diskPause is the pause while the disk of PostgreSQL is full.
	diskPause = 10 * time.Second
	// releaseTimeout limits the release of a lease at shutdown. A lease also ends by itself.
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
	// LeaseTime is the duration of the lease, which each chunk renews.
	LeaseTime time.Duration `db:"-"`
}

// Chunk runs the next chunk of a job, and reports whether it was the last one. Its transaction
// takes a lock of the owner that PostgreSQL grants in the order of requests, so writes of the owner
// that wait for a chunk precede the next one. Then it asks the pace for the number of rows, and
// calls Renew.
type Chunk func(ctx context.Context, p *Pace) (finished bool, err error)

// Handler runs the jobs of a table. The context has the owner of the job as the acting user.
type Handler struct {
	// Chunks returns the function that runs the chunks of a job, one with each call.
	Chunks func(j Job) Chunk
	Fail   func(ctx context.Context, j Job, reason string) error
}

// Queue runs the jobs of a table, one at a time. Each replica has one queue of each table.
//
// Each chunk renews the lease of the job and keeps its row locked, so no other replica takes the
// job during a chunk. A replica that stops ends its leases at once, and the jobs of a killed one
// continue when the leases have ended (ADR 81).
//
// Pace adapts a chunk so that it holds the owner's lock for about chunkTime. After turnChunks
// chunks the queue continues with another job if one waits (ADR 106).
//
// After an error the job is tried again, with a longer pause each time. It fails after maxAttempts
// without progress, or at once with a public error, which the user must resolve (ADR 89). While the
// disk is full it waits.
type Queue struct {
	*Worker
	table Table
	Handler
	db  *pgxpool.Pool
	now func() time.Time
	log *slog.Logger
	// LeaseTime is shorter in tests.
	LeaseTime time.Duration
	// failures discards its values unless Measure was called.
	failures metric.Int64Counter
}

// NewQueue returns a queue. The jobs wait until Run is called. now is the clock of Pace; the clock
// of the database decides about leases, so the clocks of replicas may differ.
func NewQueue(
	t Table, h Handler, db *pgxpool.Pool, now func() time.Time, log *slog.Logger,
) *Queue {
	log = log.With("table", t.Name)
	q := &Queue{
		table: t, Handler: h, db: db, now: now, log: log, LeaseTime: leaseTime,
		failures: noop.Int64Counter{},
	}
	q.Worker = NewWorker(leasePoll, q.log, "failed to lease a job", q.runNext)
	return q
}

// runNext runs the next job until it ends or lets another one run, and reports whether there was
// one. It logs errors of the job instead of returning them, because the row of the job has its
// outcome.
func (q *Queue) runNext(ctx context.Context) (bool, error) {
	job, err := q.table.Lease(ctx, q.db, q.LeaseTime)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ctx = caller.With(ctx, caller.Identity{UserID: job.OwnerID})
	if err := q.runJob(ctx, job); err != nil && !errors.Is(err, ErrLostLease) {
		q.release(ctx, job, err)
	}
	return true, nil
}

func (q *Queue) release(ctx context.Context, job Job, err error) {
	pause := Backoff(job.Attempts, firstPause, lastPause)
	switch {
	case ctx.Err() != nil:
		// Another replica continues the job at once, and the attempt does not count.
		pause = 0
		job.Attempts--
	case pg.IsDiskFull(err):
		// The attempt does not count: a job must survive a disk that is full for hours. The lease
		// usually succeeds, because it needs no new page.
		pause = diskPause
		job.Attempts--
		fallthrough
	default:
		q.log.WarnContext(ctx, "failed to run a job",
			"id", job.ID, "attempt", job.Attempts, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := q.table.Release(ctx, q.db, job, pause); err != nil {
		q.log.WarnContext(ctx, "failed to release a job", "id", job.ID, "error", err)
	}
}

// runJob runs a job, or ends it if it must fail. A public error cannot disappear by a retry, for
// example a balance that would be out of range. The changes of earlier chunks stay.
func (q *Queue) runJob(ctx context.Context, job Job) error {
	endless := job.Status == q.table.Endless
	if job.Attempts > maxAttempts && !endless {
		return q.fail(ctx, job, apierr.Internal.Reason)
	}
	err := q.runTurn(ctx, job)
	if e := apierr.From(err); e != nil && !errors.Is(e, apierr.Unavailable) && !endless {
		return q.fail(ctx, job, e.Reason)
	}
	return err
}

// fail ends a job with the code of an error, and counts it.
func (q *Queue) fail(ctx context.Context, job Job, reason string) error {
	if err := q.Fail(ctx, job, reason); err != nil {
		return err
	}
	q.countFailure(ctx, reason, 1)
	return nil
}

// runTurn runs chunks until the job ends, or until another job waits after turnChunks of them.
func (q *Queue) runTurn(ctx context.Context, job Job) error {
	run, pace := q.Chunks(job), NewPace(q.now)
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		finished, err := runChunk(ctx, run, pace)
		if err != nil || finished {
			return err
		}
		if n%turnChunks != 0 {
			continue
		}
		if yielded, err := q.table.Yield(ctx, q.db, job); err != nil || yielded {
			return err
		}
	}
}

func runChunk(ctx context.Context, run Chunk, p *Pace) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, chunkTimeout)
	defer cancel()
	finished, err = run(ctx, p)
	p.end()
	return finished, err
}

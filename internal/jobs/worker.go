// Package jobs runs the work that is queued in tables of PostgreSQL, on any number of replicas.
//
// A Worker waits for a wake or a poll. A replica leases rows with SKIP LOCKED: simultaneous
// replicas take different rows. The rows of a killed replica are due again when their lease has
// ended. There are three kinds of work (ADR 113):
//
//   - A Queue runs long jobs in chunks of one database transaction each, in turns with the jobs of
//     other owners: the imports and the rules of the ledger.
//   - Due leases rows in batches. They are deleted afterwards, unless they were queued again with a
//     new seq: the checks of budgets for alerts, and their reports to the ledger.
//   - Webhooks use a Worker, and lease rows themselves.
//
// A request waits with Wait for the progress of a job.
package jobs

import (
	"context"
	"log/slog"
	"time"
)

// PollInterval is the usual interval at which a worker looks for work of which no wake informed it,
// because another replica left it or it became due.
const PollInterval = 5 * time.Second

// Work does some of the due work, and reports whether more is due.
type Work func(ctx context.Context) (more bool, err error)

// Worker calls a function while work is due.
type Worker struct {
	work    Work
	failure string
	log     *slog.Logger
	poll    *time.Ticker
	woken   chan struct{}
}

// NewWorker returns a worker. After an error, which is logged with the message failure, it waits
// like after the last work.
func NewWorker(poll time.Duration, log *slog.Logger, failure string, work Work) *Worker {
	return &Worker{
		work: work, failure: failure, log: log,
		poll: time.NewTicker(poll), woken: make(chan struct{}, 1),
	}
}

// Wake makes the worker look for work. It must be called after the commit that queues the work.
func (w *Worker) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Run works until ctx ends. If several goroutines call it, a wake or a poll starts one of them.
func (w *Worker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		w.RunQueued(ctx)
		select {
		case <-ctx.Done():
		case <-w.poll.C:
		case <-w.woken:
		}
	}
}

// RunQueued works until no more is due, or until the work fails.
func (w *Worker) RunQueued(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := w.work(ctx)
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, w.failure, "error", err)
		}
		if err != nil || !more {
			return
		}
	}
}

// Backoff returns the pause after an attempt: first after attempt 1, and twice the previous one
// after each other attempt, but not more than last.
func Backoff(attempt int, first, last time.Duration) time.Duration {
	return min(first<<min(attempt-1, 16), last)
}

// Due returns the beginning of a statement that leases rows of a table until $2: due are the keys
// of the first $3 rows, in the order of seq, whose lease has ended before $1.
func Due(table, key string) string {
	return `
		WITH due AS (
			SELECT ` + key + `
			FROM ` + table + `
			WHERE leased_until < $1
			ORDER BY seq
			LIMIT $3
			FOR UPDATE SKIP LOCKED
		)`
}

// Package jobs runs the work that is queued in tables of PostgreSQL, on any number of replicas.
//
// A Worker waits for work: a wake starts it at once, and it polls for work that became due or that
// another replica left. What is due, a replica leases with SKIP LOCKED: simultaneous replicas take
// different rows, and the rows of a killed replica are due again when their lease has ended. Three
// kinds of work use it:
//
//   - Jobs that take long (queue.go, table.go): the imports and the rules of the ledger. A Queue
//     runs a job in chunks of one database transaction each, in turns with the jobs of other owners.
//   - Rows that are done at once and deleted, many with one call of another service (Due): the
//     checks of budgets for alerts, and the reports of budgets to the ledger. A row that is queued
//     again while it is leased gets a new seq, so the deletion does not lose it.
//   - Deliveries to webhooks. They lease the webhook and not the delivery, to keep its order, so
//     package webhook has its own statements.
package jobs

import (
	"context"
	"log/slog"
	"time"
)

// PollInterval is the usual interval at which a worker looks for work of which no wake informed it,
// because another replica left it or it became due.
const PollInterval = 5 * time.Second

// Worker calls a function while work is due.
type Worker struct {
	work    func(ctx context.Context) (more bool, err error)
	failure string
	log     *slog.Logger
	poll    *time.Ticker
	woken   chan struct{}
}

// NewWorker returns a worker that calls work until it reports that no more is due. After an error,
// which is logged with the message failure, it waits like after the last work.
func NewWorker(
	poll time.Duration, log *slog.Logger, failure string,
	work func(ctx context.Context) (more bool, err error),
) *Worker {
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
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = w.work(ctx); err != nil {
			if ctx.Err() == nil {
				w.log.WarnContext(ctx, w.failure, "error", err)
			}
			return
		}
	}
}

// Backoff returns the pause after an attempt: first after attempt 1, and twice the previous one
// after each other attempt, but not more than last.
func Backoff(attempt int, first, last time.Duration) time.Duration {
	return min(first<<min(attempt-1, 16), last)
}

// Due returns the beginning of a statement that leases rows of a table: due are the keys of up to
// $3 rows whose lease has ended before $1, in the order of seq. The statement sets leased_until to
// $2. Rows that are not deleted until then are due again.
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

package transactions

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/idem"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// maxGroup limits the rows of a statement, and with them the time that its last request waits.
	maxGroup = 128
	// maxQueued is the maximum length of the queue. Further requests are rejected immediately with
	// SERVICE_UNAVAILABLE. A request whose client has disconnected counts until a writer removes
	// it, and counts in no other limit.
	maxQueued = 4096
	// writeTimeout limits a statement. It cannot be taken from the requests, because all of them
	// may have been canceled.
	writeTimeout = 10 * time.Second
	// groupLockTimeout limits how long a group waits for each lock, for example of a wallet or
	// category that is being changed. It is longer than another replica takes to write to the same
	// wallet.
	groupLockTimeout = 3 * time.Second
	// soloLockTimeout applies when a group that timed out is retried one transaction at a time. It
	// is short because the rest of the group waits.
	soloLockTimeout = 20 * time.Millisecond
)

// writers is the number of goroutines that insert transactions, and so the maximum number of
// concurrent statements. More writers divide the same load into smaller groups, each of which costs
// a statement. With fewer, a single request waits for the commit of an unrelated group if the disk
// is slow.
var writers = max(4, 2*runtime.GOMAXPROCS(0))

// batcher implements group commit: it inserts the transactions of simultaneous requests with one
// statement and one commit.
//
// A free writer takes all requests in the queue, whether one or many, and never waits for more. It
// skips requests of an owner for whom another writer is writing, so that statements never wait for
// each other's numbers and balances.
type batcher struct {
	db        *pgxpool.Pool
	committed func()
	// single makes each group one of a single owner (posting.Ledger.Distributed).
	single bool

	mu sync.Mutex
	// queue is in order of arrival.
	queue []*pendingCreate
	// busy holds the owners of the statements in progress.
	busy map[uuid.UUID]bool
	// wake holds one token per writer that should look at the queue.
	wake chan struct{}
}

// pendingCreate is the transaction of one request, from submit until its outcome is known.
type pendingCreate struct {
	// ctx is the context of the request. If it ends before a writer takes the request, nothing is
	// written.
	ctx    context.Context //nolint:containedctx // The request waits in the queue.
	t      posting.Transaction
	event  outbox.Event
	record idem.Record
	// done receives the outcome. Its buffer holds one, so that a writer never waits for the
	// request.
	done chan outcome
}

type outcome struct {
	// written is false if the wallet or the category does not belong to the owner, or if the
	// idempotency key was used before.
	written bool
	err     error
	// statement is the span of the shared statement.
	statement trace.SpanContext
}

// newBatcher returns a batcher without writers; run starts them. The batcher calls committed after
// each commit.
func newBatcher(db *pgxpool.Pool, committed func()) *batcher {
	wake := make(chan struct{}, writers)
	return &batcher{db: db, committed: committed, busy: map[uuid.UUID]bool{}, wake: wake}
}

func (b *batcher) measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ledger")
	length, err := meter.Int64ObservableGauge("ledger.queue.length",
		metric.WithDescription("Transactions that are queued for a writer."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(length, int64(b.length()))
		return nil
	}, length)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

func (b *batcher) length() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}

// run starts the writers and returns. They stop when ctx ends. A statement in progress is then
// canceled, and queued requests wait until their own contexts end. So the caller ends ctx only
// after the last request.
func (b *batcher) run(ctx context.Context) {
	for range writers {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-b.wake:
					// Runnable requests can reach the queue first. This is not a wait: without
					// runnable requests, Gosched returns immediately.
					runtime.Gosched()
					group := b.take()
					b.write(ctx, groupLockTimeout, group)
					b.release(group)
				}
			}
		}()
	}
}

// wakeWriter wakes one writer. It does nothing if there is a token for each of them, because then
// all will look at the queue.
func (b *batcher) wakeWriter() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take removes the queued requests whose owners are idle, at most maxGroup, and marks those owners
// busy until release. It drops requests whose context has ended. These need no outcome, because
// submit has returned already.
func (b *batcher) take() []*pendingCreate {
	b.mu.Lock()
	defer b.mu.Unlock()
	var group, left []*pendingCreate
	// own holds the owners that are busy because of this group. Further requests of them join the
	// group.
	own := map[uuid.UUID]bool{}
	for _, create := range b.queue {
		owner := create.t.OwnerID
		switch {
		case create.ctx.Err() != nil:
		case len(group) == maxGroup || b.busy[owner] && !own[owner],
			b.single && len(group) > 0 && !own[owner]:
			left = append(left, create)
		default:
			group, own[owner], b.busy[owner] = append(group, create), true, true
		}
	}
	b.queue = left
	// A full group, or one of a single owner, may leave requests of idle owners to the next writer.
	// Otherwise the release of the busy owners wakes a writer.
	if len(left) > 0 && len(group) > 0 && (len(group) == maxGroup || b.single) {
		b.wakeWriter()
	}
	return group
}

// release marks the owners of a group idle. No other group contains them, because take skips busy
// owners.
func (b *batcher) release(group []*pendingCreate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range group {
		delete(b.busy, p.t.OwnerID)
	}
	// An empty group has released no owner, so the queue still holds requests of busy owners only.
	// Their writer wakes the next one.
	if len(group) > 0 && len(b.queue) > 0 {
		b.wakeWriter()
	}
}

// enqueue adds a request to the queue and wakes a writer. It returns false if the queue is full.
func (b *batcher) enqueue(p *pendingCreate) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == maxQueued {
		return false
	}
	b.queue = append(b.queue, p)
	b.wakeWriter()
	return true
}

// submit inserts a transaction with its event and idempotency record, and updates the balance and
// the monthly total. It returns true after the commit. It returns false without an error if nothing
// was written, because the wallet or the category does not belong to the owner or because the key
// was used before. If ctx ends first, the outcome is unknown.
func (b *batcher) submit(
	ctx context.Context, t posting.Transaction, event outbox.Event, record idem.Record,
) (bool, error) {
	done := make(chan outcome, 1)
	create := &pendingCreate{ctx: ctx, t: t, event: event, record: record, done: done}
	if !b.enqueue(create) {
		return false, apierr.Unavailable
	}
	select {
	case out := <-done:
		trace.SpanFromContext(ctx).AddLink(trace.Link{SpanContext: out.statement})
		return out.written, out.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// write inserts a group with one statement and sends each request its outcome. If PostgreSQL
// rejects the group, or a lock times out, each transaction is retried alone, so that one bad
// request cannot fail its neighbors. After any other error the outcome is unknown, so nothing is
// retried and all requests fail. writeTimeout limits the statement of the group and all retries
// together.
func (b *batcher) write(ctx context.Context, lockTimeout time.Duration, group []*pendingCreate) {
	if len(group) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	ctx, span := startSpan(ctx, group)
	defer span.End()
	ts := make([]posting.Transaction, len(group))
	events := make([]outbox.Event, len(group))
	records := make([]idem.Record, len(group))
	for i, p := range group {
		ts[i], events[i], records[i] = p.t, p.event, p.record
	}
	rows, err := outbox.Encode(events...)
	if err != nil {
		fail(group, err)
		return
	}
	var written map[uuid.UUID]bool
	err = pg.Retry(func() error {
		written, err = posting.Insert(ctx, b.db, lockTimeout, ts, rows, records)
		return err
	})
	switch {
	case err == nil:
		b.committed()
		for _, p := range group {
			p.done <- outcome{written: written[p.t.ID], statement: span.SpanContext()}
		}
	case len(group) > 1 && (pg.IsDataError(err) || pg.IsLocked(err)):
		// After a data error the retries keep the group's timeout. A request must not fail because
		// another one was rejected.
		if pg.IsLocked(err) {
			lockTimeout = soloLockTimeout
		}
		for _, p := range group {
			b.write(ctx, lockTimeout, []*pendingCreate{p})
		}
	default:
		fail(group, err)
	}
}

// startSpan starts the span of a group's statement. Its parent is the first sampled request of the
// group; submit links the spans of the other requests to it. It starts no span if no request is
// sampled.
func startSpan(ctx context.Context, group []*pendingCreate) (context.Context, trace.Span) {
	for _, p := range group {
		if parent := trace.SpanContextFromContext(p.ctx); parent.IsSampled() {
			size := trace.WithAttributes(attribute.Int("coffer.group.size", len(group)))
			return otel.Tracer("github.com/coffer-budget/coffer/services/ledger").
				Start(trace.ContextWithSpanContext(ctx, parent), "insert transactions", size)
		}
	}
	return ctx, noop.Span{}
}

func fail(group []*pendingCreate, err error) {
	for _, p := range group {
		p.done <- outcome{err: err}
	}
}

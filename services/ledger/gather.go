package ledger

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
)

const (
	// maxGroup bounds a statement, and with it how long its last request waits.
	maxGroup = 128
	// maxQueued is how many requests may wait for a writer; more are turned away at once. Those whose callers have gone count
	// until their turn, and in no other limit.
	maxQueued = 4096
	// writeTime bounds a statement that nobody may be waiting for any more.
	writeTime = 10 * time.Second
	// groupPatience is how long a group waits for a lock that somebody else's change to one's category or wallet holds: longer
	// than another replica takes to write to the wallet. lonePatience is that of one of it that is written alone then, with the
	// others waiting for its turn to end.
	groupPatience = 3 * time.Second
	lonePatience  = 20 * time.Millisecond
)

// writers is how many statements that book transactions run at once. More share the same work among smaller groups, each with
// a statement's cost of its own; fewer have a lone request wait for somebody else's commit where the disk is slow.
var writers = max(4, 2*runtime.GOMAXPROCS(0))

// gatherer books the transactions of simultaneous requests in common statements: under load, many share one commit. A free
// writer takes what is waiting, one request or many, and never waits for company. It leaves what is for a wallet that another
// writes to, so statements never wait for each other's balances.
type gatherer struct {
	db *pgxpool.Pool
	// committed is called after each commit.
	committed func()
	mu        sync.Mutex
	// waiting is in the order of coming.
	waiting []*booked
	// writing are the wallets of the statements under way.
	writing map[uuid.UUID]bool
	// wake has a token for each writer that may find something to do.
	wake chan struct{}
}

// booked is a request's transaction on its way.
type booked struct {
	// ctx is the request's: one that has ended before its turn is not written.
	ctx    context.Context //nolint:containedctx // The request waits while its transaction is in the queue.
	t      transaction
	event  outbox.Event
	record idem.Record
	// done gets the outcome; it has room for it, so that no writer waits.
	done chan outcome
}

type outcome struct {
	// written is false when wallet or category are not the owner's, or the key was used before.
	written bool
	err     error
	// statement is the span of the statement that it shared with others.
	statement trace.SpanContext
}

func newGatherer(db *pgxpool.Pool, committed func()) *gatherer {
	return &gatherer{db: db, committed: committed, writing: map[uuid.UUID]bool{}, wake: make(chan struct{}, writers)}
}

// measure publishes how many requests wait for a writer, until stop is called.
func (g *gatherer) measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ledger")
	length, err := meter.Int64ObservableGauge("ledger.queue.length", metric.WithDescription("Transactions that wait for a writer."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(length, int64(g.length()))
		return nil
	}, length)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

func (g *gatherer) length() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// run writes until ctx ends.
func (g *gatherer) run(ctx context.Context) {
	for range writers {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-g.wake:
					// Whoever could run now comes along. That is not waiting for company: when there is none, nobody runs first.
					runtime.Gosched()
					group := g.take()
					g.write(ctx, groupPatience, group)
					g.release(group)
				}
			}
		}()
	}
}

// nudge has a writer look at what is waiting. With a token for each of them there already, all will.
func (g *gatherer) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// take is what is waiting for wallets that nobody writes to, which are the taker's until release.
func (g *gatherer) take() []*booked {
	g.mu.Lock()
	defer g.mu.Unlock()
	var group, left []*booked
	own := map[uuid.UUID]bool{}
	for _, b := range g.waiting {
		wallet := b.t.WalletID
		switch {
		case b.ctx.Err() != nil:
		case len(group) == maxGroup || g.writing[wallet] && !own[wallet]:
			left = append(left, b)
		default:
			group, own[wallet], g.writing[wallet] = append(group, b), true, true
		}
	}
	g.waiting = left
	if len(left) > 0 && len(group) == maxGroup {
		g.nudge()
	}
	return group
}

func (g *gatherer) release(group []*booked) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range group {
		delete(g.writing, b.t.WalletID)
	}
	// Who has taken nothing has made nothing free.
	if len(group) > 0 && len(g.waiting) > 0 {
		g.nudge()
	}
}

// enqueue reports false when too many are waiting.
func (g *gatherer) enqueue(b *booked) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == maxQueued {
		return false
	}
	g.waiting = append(g.waiting, b)
	g.nudge()
	return true
}

// book returns when the transaction is committed, with its event, balance and totals, or will never be; when ctx ends
// before that, nobody knows. It reports false when the wallet or the category is not the owner's, or the key was used before.
func (g *gatherer) book(ctx context.Context, t transaction, event outbox.Event, record idem.Record) (bool, error) {
	b := &booked{ctx: ctx, t: t, event: event, record: record, done: make(chan outcome, 1)}
	if !g.enqueue(b) {
		return false, apierr.Unavailable
	}
	select {
	case out := <-b.done:
		trace.SpanFromContext(ctx).AddLink(trace.Link{SpanContext: out.statement})
		return out.written, out.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// write books a group in one statement. What Postgres refuses for one of them must not fail the others, nor a lock that one
// waits for: then each has its own. After any other error nobody knows whether it was committed, and nothing is tried again.
func (g *gatherer) write(ctx context.Context, patience time.Duration, group []*booked) {
	if len(group) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	ctx, span := startSpan(ctx, group)
	defer span.End()
	ts, events, records := make([]transaction, len(group)), make([]outbox.Event, len(group)), make([]idem.Record, len(group))
	for i, b := range group {
		ts[i], events[i], records[i] = b.t, b.event, b.record
	}
	rows, err := outbox.Encode(events...)
	if err != nil {
		fail(group, err)
		return
	}
	var written map[uuid.UUID]bool
	err = pg.Retry(func() error {
		written, err = insertTransactions(ctx, g.db, patience, ts, rows, records)
		return err
	})
	switch {
	case err == nil:
		g.committed()
		for _, b := range group {
			b.done <- outcome{written: written[b.t.ID], statement: span.SpanContext()}
		}
	case len(group) > 1 && (pg.IsDataError(err) || pg.IsLocked(err)):
		if pg.IsLocked(err) {
			patience = lonePatience
		}
		for _, b := range group {
			g.write(ctx, patience, []*booked{b})
		}
	default:
		fail(group, err)
	}
}

// startSpan starts one for the statement in the trace of the first request that is sampled; the others link to it.
func startSpan(ctx context.Context, group []*booked) (context.Context, trace.Span) {
	for _, b := range group {
		if parent := trace.SpanContextFromContext(b.ctx); parent.IsSampled() {
			ctx, span := otel.Tracer("github.com/coffer-budget/coffer/services/ledger").Start(trace.ContextWithSpanContext(ctx, parent),
				"book transactions", trace.WithAttributes(attribute.Int("coffer.group.size", len(group))))
			return ctx, span
		}
	}
	return ctx, noop.Span{}
}

func fail(group []*booked, err error) {
	for _, b := range group {
		b.done <- outcome{err: err}
	}
}

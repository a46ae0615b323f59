package ledger

import (
	"context"
	"fmt"
	"hash/maphash"
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
	// writers is how many statements that book transactions run at once.
	writers = 8
	// maxGroup bounds a statement, and with it how long its last request waits.
	maxGroup = 128
	// maxQueued is how many requests may wait for one writer; more are turned away at once.
	maxQueued = 512
	// writeTime bounds a statement that nobody may be waiting for any more.
	writeTime = 10 * time.Second
)

// gatherer books the transactions of simultaneous requests in common statements: under load, many share one commit. A free
// writer takes what has queued up, one request or many, and never waits for company. The requests for one wallet have one
// writer, so statements never wait for each other's balances.
type gatherer struct {
	db     *pgxpool.Pool
	seed   maphash.Seed
	queues [writers]chan *booked
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

func newGatherer(db *pgxpool.Pool) *gatherer {
	g := &gatherer{db: db, seed: maphash.MakeSeed()}
	for i := range g.queues {
		g.queues[i] = make(chan *booked, maxQueued)
	}
	return g
}

// measure publishes how many requests wait for a writer, until stop is called.
func (g *gatherer) measure() (stop func() error, err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/services/ledger")
	length, err := meter.Int64ObservableGauge("ledger.queue.length", metric.WithDescription("Transactions that wait for a writer."))
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		n := 0
		for _, queue := range g.queues {
			n += len(queue)
		}
		o.ObserveInt64(length, int64(n))
		return nil
	}, length)
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	return registered.Unregister, nil
}

// run writes until ctx ends.
func (g *gatherer) run(ctx context.Context) {
	for _, queue := range g.queues {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case first := <-queue:
					g.write(ctx, gathered(first, queue))
				}
			}
		}()
	}
}

// book returns when the transaction is committed, with its event, balance and totals, or will never be; when ctx ends
// before that, nobody knows. It reports false when the wallet or the category is not the owner's, or the key was used before.
func (g *gatherer) book(ctx context.Context, t transaction, event outbox.Event, record idem.Record) (bool, error) {
	b := &booked{ctx: ctx, t: t, event: event, record: record, done: make(chan outcome, 1)}
	select {
	case g.queues[maphash.Bytes(g.seed, t.WalletID[:])%writers] <- b:
	default:
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

// gathered is first and what else is there by now.
func gathered(first *booked, queue <-chan *booked) []*booked {
	group := make([]*booked, 0, len(queue)+1)
	for b := first; ; {
		if b.ctx.Err() == nil {
			group = append(group, b)
		}
		if len(group) == maxGroup {
			return group
		}
		select {
		case b = <-queue:
		default:
			return group
		}
	}
}

// write books a group in one statement. What Postgres refuses for one of them must not fail the others: then each has its
// own. After any other error nobody knows whether it was committed, and nothing is tried again.
func (g *gatherer) write(ctx context.Context, group []*booked) {
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
		written, err = insertTransactions(ctx, g.db, ts, rows, records)
		return err
	})
	switch {
	case err == nil:
		for _, b := range group {
			b.done <- outcome{written: written[b.t.ID], statement: span.SpanContext()}
		}
	case len(group) > 1 && pg.IsRefused(err):
		for _, b := range group {
			g.write(ctx, []*booked{b})
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

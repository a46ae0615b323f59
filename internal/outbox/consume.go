package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	ackWait      = 10 * time.Second
	consumeBatch = 256
	// consumeWait is how long one question to NATS for events stands.
	consumeWait = 30 * time.Second
)

// Consumer is a service's interest in events. Its replicas share the work.
type Consumer struct {
	// Name is the consumer's own in the whole installation, as auth-audit.
	Name string
	// Subject of the events, as ledger.v1.transaction.created; * stands for one part. It is one, and Apply leaves out what is
	// of no concern: to look for several, NATS goes through the subjects of all users for each event.
	Subject string
	// Apply makes the events' effects in tx, all or none. An event may come more than once, also twice in one call, and with
	// several replicas after a younger one of the same user: keys that the effects have by nature make that harmless. It must
	// not call another service. When it fails for several events it is asked again for each alone.
	Apply func(ctx context.Context, tx pgx.Tx, events []Received) error
	// Applied, if set, is called after effects were committed.
	Applied func()
}

// Consume has each event applied at least once, until ctx ends.
func (b *Bus) Consume(ctx context.Context, pool *pgxpool.Pool, c Consumer) {
	stop := b.observe("coffer.events.lag", attribute.String("consumer", c.Name),
		func(ctx context.Context) (int64, error) { return b.Lag(ctx, c.Name) },
		metric.WithUnit("{event}"), metric.WithDescription("Events that a consumer has not applied yet."))
	defer stop()
	for ctx.Err() == nil {
		if err := b.consume(ctx, pool, c); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "consuming events", "consumer", c.Name, "error", err)
		}
		pause(ctx, relayRetry)
	}
}

func (b *Bus) consume(ctx context.Context, pool *pgxpool.Pool, c Consumer) error {
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable:       c.Name,
		FilterSubject: c.Subject + ".*",
		AckPolicy:     jetstream.AckExplicitPolicy,
		// What a killed consumer held comes again after this; an Apply that takes longer is done twice.
		AckWait:       ackWait,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("creating consumer %s: %w", c.Name, err)
	}
	for ctx.Err() == nil {
		messages, err := next(ctx, consumer)
		if err != nil {
			return fmt.Errorf("reading consumer %s: %w", c.Name, err)
		}
		b.handle(ctx, pool, messages, c)
	}
	return nil
}

// next waits for one message, and takes along what else is there: many share a commit, and none waits for company.
func next(ctx context.Context, consumer jetstream.Consumer) ([]jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, consumeWait)
	defer cancel()
	first, err := consumer.Next(jetstream.FetchContext(ctx))
	// The question ends a little before its context does.
	if errors.Is(err, nats.ErrTimeout) || ctx.Err() != nil && err != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	messages := []jetstream.Msg{first}
	more, err := consumer.FetchNoWait(consumeBatch - 1)
	if err != nil {
		return messages, nil
	}
	for m := range more.Messages() {
		messages = append(messages, m)
	}
	return messages, nil
}

// handle acknowledges what is applied; what failed comes again, later each time.
func (b *Bus) handle(ctx context.Context, pool *pgxpool.Pool, messages []jetstream.Msg, c Consumer) {
	var events []Received
	var readable []jetstream.Msg
	for _, m := range messages {
		e, err := decode(m)
		if err != nil {
			// It will not become readable by waiting, and it must not stop the others.
			b.log.ErrorContext(ctx, "dropping an event", "consumer", c.Name, "error", err)
			_ = m.TermWithReason("not decodable")
			continue
		}
		events, readable = append(events, e), append(readable, m)
	}
	if len(events) == 0 {
		return
	}
	err := b.apply(ctx, pool, c, events)
	switch {
	case err == nil:
		for _, m := range readable {
			_ = m.Ack()
		}
		if c.Applied != nil {
			c.Applied()
		}
	case ctx.Err() != nil:
		// They come again.
	case len(readable) > 1:
		for _, m := range readable {
			b.handle(ctx, pool, []jetstream.Msg{m}, c)
		}
	default:
		b.log.WarnContext(ctx, "applying an event", "consumer", c.Name, "event", events[0].ID, "subject", events[0].Subject, "error", err)
		_ = readable[0].NakWithDelay(backoff(readable[0]))
	}
}

// apply is seen in the trace of every event; the statements, which the events share, in that of the first one, to which the
// others link.
func (b *Bus) apply(ctx context.Context, pool *pgxpool.Pool, c Consumer, events []Received) error {
	applying := ctx
	for _, e := range events {
		own, span := startSpan(ctx, e.traceparent, c.Name+" "+e.Subject, trace.SpanKindConsumer)
		defer span.End()
		if applying != ctx {
			span.AddLink(trace.LinkFromContext(applying))
		} else if span.IsRecording() {
			applying = own
		}
	}
	return pg.InTx(applying, pool, func(tx pgx.Tx) error { return c.Apply(applying, tx, events) })
}

func backoff(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return time.Second
	}
	return min(time.Minute, 100*time.Millisecond<<min(meta.NumDelivered, 10))
}

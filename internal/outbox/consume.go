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
	// ackWait is the time after which NATS delivers an unacknowledged event again.
	ackWait = 10 * time.Second
	// consumeBatch is the maximum number of events that share a transaction. maxBatch limits their
	// size.
	consumeBatch = 256
	fetchTimeout = 30 * time.Second
)

// Consumer configures a durable JetStream consumer. All replicas that use its name share the
// events.
type Consumer struct {
	// Name is unique in the installation, for example auth-audit.
	Name string
	// Subject selects events by type, for example ledger.v1.transaction.created; * matches one
	// token. There is only one subject, and Apply ignores the events it does not need: with several
	// filters, NATS scans the subjects of all users for each event.
	Subject string
	// Apply writes the effects of the events in tx, all or none. Delivery is at-least-once: an
	// event may be repeated, even within one call, and with several replicas it may arrive after a
	// younger event of the same user. Apply must be idempotent, by means of the natural keys of its
	// effects. It must not call another service. If it fails for several events, it is called again
	// for each of them alone.
	Apply func(ctx context.Context, tx pgx.Tx, events []Received) error
	// Applied, if not nil, is called after the effects have been committed. It must not block.
	Applied func()
}

// Consume applies each event at least once, until ctx ends. After an error, such as NATS being
// unavailable, it tries again.
func (b *Bus) Consume(ctx context.Context, pool *pgxpool.Pool, subscription Consumer) {
	stop := b.observe("coffer.events.lag", attribute.String("consumer", subscription.Name),
		func(ctx context.Context) (int64, error) { return b.Lag(ctx, subscription.Name) },
		metric.WithUnit("{event}"),
		metric.WithDescription("Events that a consumer has not applied yet."))
	defer stop()
	for ctx.Err() == nil {
		if err := b.consume(ctx, pool, subscription); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "failed to consume events", "consumer", subscription.Name,
				"error", err)
		}
		sleep(ctx, retryInterval)
	}
}

func (b *Bus) consume(ctx context.Context, pool *pgxpool.Pool, subscription Consumer) error {
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable:       subscription.Name,
		FilterSubject: subscription.Subject + ".*",
		AckPolicy:     jetstream.AckExplicitPolicy,
		// The events of a killed replica are delivered again after this time. An Apply that
		// takes longer is repeated.
		AckWait:       ackWait,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("creating consumer %s: %w", subscription.Name, err)
	}
	for ctx.Err() == nil {
		messages, err := next(ctx, consumer)
		if err != nil {
			return fmt.Errorf("reading consumer %s: %w", subscription.Name, err)
		}
		for len(messages) > 0 {
			n := batchLength(messages)
			b.handle(ctx, pool, messages[:n], subscription)
			messages = messages[n:]
		}
	}
	return nil
}

// batchLength returns how many of the first messages share a transaction: at most as many as have
// maxBatch bytes together, but at least one.
func batchLength(messages []jetstream.Msg) int {
	size := 0
	for i, m := range messages {
		if size += len(m.Data()); i > 0 && size > maxBatch {
			return i
		}
	}
	return len(messages)
}

// next waits for one message and returns it with the others that are available. A batch shares one
// commit, and no message waits for a batch to fill. It returns no messages if none arrives within
// fetchTimeout.
func next(ctx context.Context, consumer jetstream.Consumer) ([]jetstream.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	first, err := consumer.Next(jetstream.FetchContext(ctx))
	// The server ends the pull request a little before ctx expires.
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

// handle applies a batch and acknowledges its messages. If the batch fails, each message is handled
// alone. A message that still fails is delivered again with exponential backoff.
func (b *Bus) handle(
	ctx context.Context, pool *pgxpool.Pool, messages []jetstream.Msg, consumer Consumer,
) {
	var events []Received
	var readable []jetstream.Msg
	for _, message := range messages {
		e, err := decode(message)
		if err != nil {
			// A retry would fail in the same way, and the other events must not wait for it.
			b.log.ErrorContext(ctx, "failed to decode an event, dropping it",
				"consumer", consumer.Name, "error", err)
			_ = message.TermWithReason("not decodable")
			continue
		}
		events, readable = append(events, e), append(readable, message)
	}
	if len(events) == 0 {
		return
	}
	err := b.apply(ctx, pool, consumer, events)
	switch {
	case err == nil:
		for _, message := range readable {
			_ = message.Ack()
		}
		if consumer.Applied != nil {
			consumer.Applied()
		}
	case ctx.Err() != nil:
		// The process is stopping. NATS delivers the messages again after ackWait.
	case len(readable) > 1:
		for _, message := range readable {
			b.handle(ctx, pool, []jetstream.Msg{message}, consumer)
		}
	default:
		b.log.WarnContext(ctx, "failed to apply an event", "consumer", consumer.Name,
			"event", events[0].ID, "subject", events[0].Subject, "error", err)
		_ = readable[0].NakWithDelay(backoff(readable[0]))
	}
}

// apply calls consumer.Apply in a transaction. Each traced event gets a span in its own trace. The
// SQL statements, which the events share, appear in the trace of the first event; the spans of the
// others link to it.
func (b *Bus) apply(
	ctx context.Context, pool *pgxpool.Pool, consumer Consumer, events []Received,
) error {
	applying := ctx
	for _, e := range events {
		own, span := startSpan(ctx, e.traceparent, consumer.Name+" "+e.Subject,
			trace.SpanKindConsumer)
		defer span.End()
		if applying != ctx {
			span.AddLink(trace.LinkFromContext(applying))
		} else if span.IsRecording() {
			applying = own
		}
	}
	return pg.InTx(applying, pool, func(tx pgx.Tx) error {
		return consumer.Apply(applying, tx, events)
	})
}

// backoff returns the delay before the next delivery of a message: 0.2 s after the first attempt,
// doubled each time, at most one minute.
func backoff(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return time.Second
	}
	return min(time.Minute, 100*time.Millisecond<<min(meta.NumDelivered, 10))
}

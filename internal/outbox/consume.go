package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coffer-budget/coffer/internal/pg"
)

const ackWait = 10 * time.Second

// Consumer is a service's interest in events. Its replicas share the work.
type Consumer struct {
	// Name is the consumer's own in the whole installation, as budget-alerts.
	Name string
	// Subjects of events, as ledger.v1.transaction.created; * stands for one part.
	Subjects []string
	// Apply makes the event's effect in tx. It must not depend on the order of events, and must not call another service.
	Apply func(ctx context.Context, tx pgx.Tx, e Received) error
	// Applied, if set, is called after an effect was committed.
	Applied func()
}

// Consume has each event applied exactly once in effect, until ctx ends: what Apply writes commits together with the
// event's id, in this table of the service's schema:
//
//	CREATE TABLE consumed_events (
//	    consumer    text        NOT NULL,
//	    id          uuid        NOT NULL,
//	    consumed_at timestamptz NOT NULL DEFAULT now(),
//	    CONSTRAINT consumed_events_pkey PRIMARY KEY (consumer, id)
//	);
//
// An event may come more than once and, with several replicas, after a younger one of the same user.
func (b *Bus) Consume(ctx context.Context, pool *pgxpool.Pool, c Consumer) {
	for ctx.Err() == nil {
		if err := b.consume(ctx, pool, c); err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "consuming events", "consumer", c.Name, "error", err)
		}
		pause(ctx, relayRetry)
	}
}

func (b *Bus) consume(ctx context.Context, pool *pgxpool.Pool, c Consumer) error {
	filters := make([]string, len(c.Subjects))
	for i, s := range c.Subjects {
		filters[i] = s + ".*"
	}
	consumer, err := b.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable:        c.Name,
		FilterSubjects: filters,
		AckPolicy:      jetstream.AckExplicitPolicy,
		// What a killed consumer held comes again after this; an Apply that takes longer is done twice, harmlessly.
		AckWait:       ackWait,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("creating consumer %s: %w", c.Name, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(16))
	if err != nil {
		return fmt.Errorf("reading consumer %s: %w", c.Name, err)
	}
	defer messages.Stop()
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	for {
		m, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading consumer %s: %w", c.Name, err)
		}
		b.handle(ctx, pool, m, c)
	}
}

// handle acknowledges what is applied; what failed comes again, later each time.
func (b *Bus) handle(ctx context.Context, pool *pgxpool.Pool, m jetstream.Msg, c Consumer) {
	e, err := decode(m)
	if err != nil {
		// It will not become readable by waiting, and it must not stop the others.
		b.log.ErrorContext(ctx, "dropping an event", "consumer", c.Name, "error", err)
		_ = m.TermWithReason("not decodable")
		return
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO consumed_events (consumer, id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, c.Name, e.ID)
		if err != nil {
			return fmt.Errorf("recording an event: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		return c.Apply(ctx, tx, e)
	})
	if err != nil {
		b.log.WarnContext(ctx, "applying an event", "consumer", c.Name, "event", e.ID, "subject", e.Subject, "error", err)
		_ = m.NakWithDelay(backoff(m))
		return
	}
	_ = m.Ack()
	if c.Applied != nil {
		c.Applied()
	}
}

func backoff(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return time.Second
	}
	return min(time.Minute, 100*time.Millisecond<<min(meta.NumDelivered, 10))
}

// SweepConsumed forgets events that the stream no longer holds, hourly until ctx ends.
func (b *Bus) SweepConsumed(ctx context.Context, pool *pgxpool.Pool) {
	for ctx.Err() == nil {
		_, err := pool.Exec(ctx, `DELETE FROM consumed_events WHERE consumed_at < now() - $1::interval`, 2*Retention)
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "forgetting old events", "error", err)
		}
		pause(ctx, time.Hour)
	}
}

package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

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
	// Name is the consumer's own in the whole installation, as budget-alerts.
	Name string
	// Subjects of events, as ledger.v1.transaction.created; * stands for one part.
	Subjects []string
	// Apply makes the events' effects in tx, all or none. It must not depend on their order, and must not call another
	// service. When it fails for several it is asked again for each alone.
	Apply func(ctx context.Context, tx pgx.Tx, events []Received) error
	// Applied, if set, is called after effects were committed.
	Applied func()
}

// Consume has each event applied exactly once in effect, until ctx ends: what Apply writes commits together with the
// events' ids, in this table of the service's schema:
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
	if err != nil && ctx.Err() != nil {
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
	err := c.apply(ctx, pool, events)
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

func (c Consumer) apply(ctx context.Context, pool *pgxpool.Pool, events []Received) error {
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		type row struct{ ID uuid.UUID }
		// Sorted, so that two consumers of the same events wait for each other and not in a circle.
		fresh, err := pg.All[row](ctx, tx, `
			INSERT INTO consumed_events (consumer, id)
			SELECT $1, id FROM unnest($2::uuid[]) AS e (id) GROUP BY id ORDER BY id
			ON CONFLICT DO NOTHING
			RETURNING id`, c.Name, ids)
		if err != nil {
			return fmt.Errorf("recording events: %w", err)
		}
		unseen := make(map[uuid.UUID]bool, len(fresh))
		for _, r := range fresh {
			unseen[r.ID] = true
		}
		var todo []Received
		for _, e := range events {
			if unseen[e.ID] {
				delete(unseen, e.ID)
				todo = append(todo, e)
			}
		}
		if len(todo) == 0 {
			return nil
		}
		return c.Apply(ctx, tx, todo)
	})
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

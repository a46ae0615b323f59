package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/coffer-budget/coffer/internal/pg"
)

const ackWait = 10 * time.Second

// Consume hands each event with one of the subjects to apply exactly once in effect: apply's writes commit together with
// the event's id, in this table of the service's schema:
//
//	CREATE TABLE consumed_events (
//	    id          uuid        NOT NULL CONSTRAINT consumed_events_pkey PRIMARY KEY,
//	    consumed_at timestamptz NOT NULL DEFAULT now()
//	);
//
// An event may come more than once and, with several replicas of a service, after a younger one of the same user;
// apply must not depend on the order. Consume returns when ctx ends. name is the consumer's, shared by replicas.
func Consume(ctx context.Context, pool *pgxpool.Pool, js jetstream.JetStream, name string, subjects []string, log *slog.Logger, apply func(ctx context.Context, tx pgx.Tx, e Received) error) {
	for ctx.Err() == nil {
		err := consume(ctx, pool, js, name, subjects, log, apply)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "consuming events", "error", err)
		}
		pause(ctx, relayRetry)
	}
}

func consume(ctx context.Context, pool *pgxpool.Pool, js jetstream.JetStream, name string, subjects []string, log *slog.Logger, apply func(context.Context, pgx.Tx, Received) error) error {
	filters := make([]string, len(subjects))
	for i, s := range subjects {
		filters[i] = s + ".*"
	}
	consumer, err := js.CreateOrUpdateConsumer(ctx, Stream, jetstream.ConsumerConfig{
		Durable:        name,
		FilterSubjects: filters,
		AckPolicy:      jetstream.AckExplicitPolicy,
		// What a killed consumer held comes again after this; an apply that takes longer is done twice, harmlessly.
		AckWait:       ackWait,
		DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("creating consumer %s: %w", name, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(16))
	if err != nil {
		return fmt.Errorf("reading consumer %s: %w", name, err)
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
			return fmt.Errorf("reading consumer %s: %w", name, err)
		}
		handle(ctx, pool, m, log, apply)
	}
}

// handle acknowledges what is applied; what failed comes again, later each time.
func handle(ctx context.Context, pool *pgxpool.Pool, m jetstream.Msg, log *slog.Logger, apply func(context.Context, pgx.Tx, Received) error) {
	e, err := Decode(m)
	if err != nil {
		// It will not become readable by waiting, and it must not stop the others.
		log.ErrorContext(ctx, "dropping an event", "error", err)
		_ = m.TermWithReason("not decodable")
		return
	}
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO consumed_events (id) VALUES ($1) ON CONFLICT DO NOTHING`, e.ID)
		if err != nil {
			return fmt.Errorf("recording an event: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		return apply(ctx, tx, e)
	})
	if err != nil {
		log.WarnContext(ctx, "applying an event", "event", e.ID, "subject", e.Subject, "error", err)
		_ = m.NakWithDelay(backoff(m))
		return
	}
	_ = m.Ack()
}

func backoff(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return time.Second
	}
	return min(time.Minute, 100*time.Millisecond<<min(meta.NumDelivered, 10))
}

// SweepConsumed forgets events that the stream no longer holds, hourly until ctx ends.
func SweepConsumed(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) {
	for ctx.Err() == nil {
		_, err := pool.Exec(ctx, `DELETE FROM consumed_events WHERE consumed_at < now() - $1::interval`, 2*Retention)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "forgetting old events", "error", err)
		}
		pause(ctx, time.Hour)
	}
}

package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	relayBatch = 256
	// relayPause is how long an event may wait; a NOTIFY would take a lock that all commits share.
	relayPause     = 100 * time.Millisecond
	relayRetry     = time.Second
	publishTimeout = 5 * time.Second
)

type entry struct {
	Seq       int64
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	Subject   string
	Data      []byte
	CreatedAt time.Time `db:"created_at"`
}

// Relay publishes the events of the pool's schema until ctx ends, whenever NATS and Postgres are both there. One of a
// service's replicas does the work, the others wait for its lock.
func (b *Bus) Relay(ctx context.Context, pool *pgxpool.Pool) {
	stop := b.observe("coffer.outbox.age", "How long the oldest event has waited to be published, in milliseconds.",
		attribute.NewSet(attribute.String("service", b.service)), waiting(pool))
	defer stop()
	for ctx.Err() == nil {
		err := b.EnsureStream(ctx)
		if err == nil {
			err = b.relay(ctx, pool)
		}
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "relaying events", "error", err)
		}
		pause(ctx, relayRetry)
	}
}

// relay works for as long as its connection, and so its lock, lives.
func (b *Bus) relay(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("acquiring a connection: %w", err)
	}
	// The session holds a lock that must not go back to the pool.
	defer func() { _ = conn.Hijack().Close(context.WithoutCancel(ctx)) }()
	var held bool
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext('coffer outbox'), hashtext(current_schema()))`).Scan(&held)
	if err != nil || !held {
		return err
	}
	for ctx.Err() == nil {
		n, err := b.relayOnce(ctx, conn)
		if err != nil {
			return err
		}
		if n < relayBatch {
			pause(ctx, relayPause)
		}
	}
	return nil
}

func (b *Bus) relayOnce(ctx context.Context, conn *pgxpool.Conn) (int, error) {
	entries, err := pg.All[entry](ctx, conn, `
		SELECT seq, id, user_id, subject, data, created_at
		FROM outbox
		ORDER BY seq
		LIMIT $1`, relayBatch)
	if err != nil {
		return 0, fmt.Errorf("reading the outbox: %w", err)
	}
	done, publishErr := b.publish(ctx, entries)
	if len(done) > 0 {
		if _, err := conn.Exec(ctx, `DELETE FROM outbox WHERE seq = ANY($1)`, done); err != nil {
			return 0, fmt.Errorf("emptying the outbox: %w", err)
		}
	}
	return len(done), publishErr
}

// publish sends the entries in order, several at a time, and returns the leading ones that JetStream has stored.
// Those after a failed one are sent again next time; JetStream drops what it had taken.
func (b *Bus) publish(ctx context.Context, entries []entry) ([]int64, error) {
	acks := make([]jetstream.PubAckFuture, 0, len(entries))
	for _, e := range entries {
		m, err := e.message(b.service)
		if err != nil {
			return nil, err
		}
		ack, err := b.js.PublishMsgAsync(m, jetstream.WithMsgID(e.ID.String()), jetstream.WithExpectStream(streamName))
		if err != nil {
			return nil, fmt.Errorf("publishing %s: %w", e.Subject, err)
		}
		acks = append(acks, ack)
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	var done []int64
	for i, ack := range acks {
		select {
		case <-ack.Ok():
			done = append(done, entries[i].Seq)
		case err := <-ack.Err():
			return done, fmt.Errorf("publishing %s: %w", entries[i].Subject, err)
		case <-ctx.Done():
			return done, fmt.Errorf("waiting for JetStream: %w", ctx.Err())
		}
	}
	return done, nil
}

func (e entry) message(service string) (*nats.Msg, error) {
	var data anypb.Any
	if err := proto.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("decoding event %s: %w", e.ID, err)
	}
	m := nats.NewMsg(e.Subject + "." + e.UserID.String())
	m.Data = data.GetValue()
	m.Header.Set(headerSpecVersion, "1.0")
	m.Header.Set(headerID, e.ID.String())
	m.Header.Set(headerSource, "/coffer/"+service)
	m.Header.Set(headerType, e.Subject)
	m.Header.Set(headerSchema, data.GetTypeUrl())
	m.Header.Set(headerSubject, e.UserID.String())
	m.Header.Set(headerTime, e.CreatedAt.UTC().Format(time.RFC3339Nano))
	m.Header.Set(headerContentType, "application/protobuf")
	return m, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

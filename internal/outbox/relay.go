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
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// relayBatch is the maximum number of events published per query of the outbox. A query ends
	// before with an event that reaches maxBatch.
	relayBatch = 256
	// minPollInterval is how long an event may wait while there is traffic. The relay polls because
	// a NOTIFY takes a lock that all committing transactions share.
	minPollInterval = 100 * time.Millisecond
	// maxPollInterval is the limit to which the interval doubles while there are no events and no
	// wake messages.
	maxPollInterval = 10 * time.Second
	retryInterval   = time.Second
	// relayTimeout limits one query-and-publish cycle. A connection that hangs is closed after it,
	// which releases the lock.
	relayTimeout   = 30 * time.Second
	publishTimeout = 5 * time.Second
	// syncDelay is how long an event stays in the outbox after NATS acknowledged it. NATS syncs to
	// disk every second (sync_interval). Syncing each message costs a fifth of the database's
	// commits per second, because they share the disk.
	syncDelay = 3 * time.Second
)

type entry struct {
	Seq       int64
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	Subject   string
	Data      []byte
	CreatedAt time.Time `db:"created_at"`
	// Traceparent is empty if the request was not traced.
	Traceparent string
}

// Relay publishes the events of the pool's schema until ctx ends, whenever NATS and PostgreSQL are
// both available. Every replica of a service runs it. The replica that holds an advisory lock does
// the work; the others try for the lock every second.
func (b *Bus) Relay(ctx context.Context, pool *pgxpool.Pool) { b.relayFrom(ctx, pool, false) }

// RelayDistributed is Relay for an outbox whose rows are distributed over servers by user_id. The
// snapshot of one server does not show the transactions that run on the others, so there is no
// watermark: each query starts at the first row, and skips the acknowledged ones.
func (b *Bus) RelayDistributed(ctx context.Context, pool *pgxpool.Pool) {
	b.relayFrom(ctx, pool, true)
}

func (b *Bus) relayFrom(ctx context.Context, pool *pgxpool.Pool, distributed bool) {
	stop := b.observe("coffer.outbox.age", attribute.String("service", b.service), oldestAge(pool),
		metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest event in the outbox. Some seconds are normal."))
	defer stop()
	for ctx.Err() == nil {
		err := b.EnsureStream(ctx)
		if err == nil {
			err = b.relay(ctx, pool, distributed)
		}
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "failed to relay events", "error", err)
			b.reportUnstored(err)
		}
		sleep(ctx, retryInterval)
	}
}

// relay polls the outbox and publishes its events until an error. It returns nil at once if another
// replica holds the lock. The lock belongs to the session of one connection, so that PostgreSQL
// releases it when the process dies.
func (b *Bus) relay(ctx context.Context, pool *pgxpool.Pool, distributed bool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("acquiring a connection: %w", err)
	}
	// The connection is closed, because a session that holds the lock must not return to the pool.
	defer func() { _ = conn.Hijack().Close(context.WithoutCancel(ctx)) }()
	var locked bool
	err = conn.QueryRow(ctx, `
		SELECT pg_try_advisory_lock(hashtext('coffer outbox'), hashtext(current_schema()))`,
	).Scan(&locked)
	if err != nil || !locked {
		return err
	}
	progress := progress{
		distributed: distributed, acknowledged: map[int64]acknowledgment{},
		reconnects: b.conn.Stats().Reconnects,
	}
	woken := make(chan struct{}, 1)
	sub, err := b.conn.Subscribe(wakeSubject(b.service), func(*nats.Msg) {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return fmt.Errorf("subscribing to wake messages: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	interval := minPollInterval
	for ctx.Err() == nil {
		cycle, cancel := context.WithTimeout(ctx, relayTimeout)
		n, err := b.relayOnce(cycle, conn, &progress)
		cancel()
		if err != nil {
			return err
		}
		interval = min(2*interval, maxPollInterval)
		if n > 0 {
			interval = minPollInterval
		}
		if n == relayBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		case <-woken:
			// The wake message may be sent before the transaction of its events commits. Wait for
			// the commit.
			interval = minPollInterval
			sleep(ctx, interval)
		}
	}
	return nil
}

// Wake makes the service's relay, in whichever replica it runs, poll the outbox soon. Call it after
// adding events. If the message is lost, the events wait for the relay's next poll, at most
// maxPollInterval. It is cheap: it sends at most one message per minPollInterval.
func (b *Bus) Wake() {
	now, last := time.Now().UnixNano(), b.woken.Load()
	if now-last >= int64(minPollInterval) && b.woken.CompareAndSwap(last, now) {
		_ = b.conn.Publish(wakeSubject(b.service), nil)
	}
}

// wakeSubject returns the core NATS subject that wakes a service's relay. The stream does not store
// its messages.
func wakeSubject(service string) string { return "outbox." + service }

// relayOnce publishes one batch of events and returns how many NATS acknowledged.
func (b *Bus) relayOnce(ctx context.Context, conn *pgxpool.Conn, done *progress) (int, error) {
	// NATS may have restarted and lost acknowledged events that were not on disk. All events in the
	// outbox are published again, and NATS drops those it has.
	if b.conn.Stats().Reconnects != done.reconnects {
		return 0, errReconnected
	}
	if !done.distributed {
		if last, err := done.advanceWatermark(ctx, conn); err != nil || last == 0 {
			return 0, err
		}
	}
	entries, err := pg.All[entry](ctx, conn, `
		SELECT seq, id, user_id, subject, data, created_at, traceparent
		FROM (
			SELECT seq, id, user_id, subject, data, created_at,
				coalesce(traceparent, '') AS traceparent,
				sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before
			FROM (
				SELECT *
				FROM outbox
				WHERE seq > $1 AND seq <> ALL($2)
				ORDER BY seq
				LIMIT $3
			) AS first
		) AS o
		WHERE before < $4
		ORDER BY seq`, done.cursor, done.acknowledgedAfter(done.cursor), relayBatch, maxBatch)
	if err != nil {
		return 0, fmt.Errorf("reading the outbox: %w", err)
	}
	n, err := b.publish(ctx, entries)
	for _, e := range entries[:n] {
		done.acknowledged[e.Seq] = acknowledgment{e.UserID, time.Now()}
	}
	if err != nil {
		return 0, err
	}
	done.cursor = max(done.cursor, done.watermark)
	if len(entries) == relayBatch || dataSize(entries) >= maxBatch {
		// More events may follow.
		done.cursor = min(done.cursor, entries[len(entries)-1].Seq)
	}
	return n, b.deleteStored(ctx, conn, done)
}

func dataSize(entries []entry) int {
	size := 0
	for _, e := range entries {
		size += len(e.Data)
	}
	return size
}

// publish publishes the entries in order without waiting for each acknowledgment. It returns the
// number of leading entries that NATS acknowledged. The entries after a failed one are published
// again later, and JetStream drops the duplicates.
func (b *Bus) publish(ctx context.Context, entries []entry) (int, error) {
	acks := make([]jetstream.PubAckFuture, 0, len(entries))
	for _, entry := range entries {
		msg, err := entry.message(b.service)
		if err != nil {
			return 0, err
		}
		traced, span := startSpan(ctx, entry.Traceparent, "publish "+entry.Subject,
			trace.SpanKindProducer)
		defer span.End()
		if traceparent := Traceparent(traced); traceparent != nil {
			msg.Header.Set(headerTraceparent, *traceparent)
		}
		ack, err := b.js.PublishMsgAsync(msg, jetstream.WithMsgID(entry.ID.String()),
			jetstream.WithExpectStream(streamName))
		if err != nil {
			return 0, fmt.Errorf("publishing %s: %w", entry.Subject, err)
		}
		acks = append(acks, ack)
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	for i, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return i, fmt.Errorf("publishing %s: %w", entries[i].Subject, err)
		case <-ctx.Done():
			return i, fmt.Errorf("publishing %s: %w", entries[i].Subject, errNotAcknowledged)
		}
	}
	return len(entries), nil
}

// message encodes the event in the binary mode of the CloudEvents protocol binding for NATS.
func (e entry) message(service string) (*nats.Msg, error) {
	var data anypb.Any
	if err := proto.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("decoding event %s: %w", e.ID, err)
	}
	msg := nats.NewMsg(e.Subject + "." + e.UserID.String())
	msg.Data = data.GetValue()
	msg.Header.Set(headerSpecVersion, "1.0")
	msg.Header.Set(headerID, e.ID.String())
	msg.Header.Set(headerSource, "/coffer/"+service)
	msg.Header.Set(headerType, e.Subject)
	msg.Header.Set(headerSchema, data.GetTypeUrl())
	msg.Header.Set(headerSubject, e.UserID.String())
	msg.Header.Set(headerTime, e.CreatedAt.UTC().Format(time.RFC3339Nano))
	msg.Header.Set(headerContentType, "application/protobuf")
	return msg, nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

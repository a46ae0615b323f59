package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	relayBatch = 256
	// relayPause is how long an event may wait; a NOTIFY would take a lock that all commits share.
	relayPause = 100 * time.Millisecond
	// relayRest is what the pause grows to while there are no events, and nobody nudges.
	relayRest  = 10 * time.Second
	relayRetry = time.Second
	// relayTime is after when a connection that does not answer is given up, and with it the lock.
	relayTime      = 30 * time.Second
	publishTimeout = 5 * time.Second
	// settleTime is how long an event stays in the outbox after NATS took it. NATS writes to disk every second
	// (sync_interval); to have it do so for every message costs the database's commits, which share the disk, a fifth.
	settleTime = 3 * time.Second
)

type entry struct {
	Seq       int64
	ID        uuid.UUID
	UserID    uuid.UUID `db:"user_id"`
	Subject   string
	Data      []byte
	CreatedAt time.Time `db:"created_at"`
	// Traceparent is empty when the request was not traced.
	Traceparent string
}

// Relay publishes the events of the pool's schema until ctx ends, whenever NATS and Postgres are both there. One of a
// service's replicas does the work, the others wait for its lock.
func (b *Bus) Relay(ctx context.Context, pool *pgxpool.Pool) {
	stop := b.observe("coffer.outbox.age", attribute.String("service", b.service), waiting(pool),
		metric.WithUnit("s"), metric.WithDescription("Age of the oldest event in the outbox; some seconds are usual."))
	defer stop()
	for ctx.Err() == nil {
		err := b.EnsureStream(ctx)
		if err == nil {
			err = b.relay(ctx, pool)
		}
		if err != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "failed to relay events", "error", err)
			b.reportUnstored(err)
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
	w := window{sent: map[int64]time.Time{}, reconnects: b.conn.Stats().Reconnects}
	nudged := make(chan struct{}, 1)
	sub, err := b.conn.Subscribe(nudgeSubject(b.service), func(*nats.Msg) {
		select {
		case nudged <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return fmt.Errorf("listening for nudges: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	rest := relayPause
	for ctx.Err() == nil {
		looking, cancel := context.WithTimeout(ctx, relayTime)
		n, err := b.relayOnce(looking, conn, &w)
		cancel()
		if err != nil {
			return err
		}
		rest = min(2*rest, relayRest)
		if n > 0 {
			rest = relayPause
		}
		if n == relayBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		case <-nudged:
			// Meanwhile the transaction commits.
			rest = relayPause
			pause(ctx, rest)
		}
	}
	return nil
}

// Wake makes the service's relay, in whichever replica it runs, poll the outbox soon. Call it after adding events. If the
// message is lost, the events wait for the relay's next poll, at most 10 seconds.
func (b *Bus) Wake() {
	now, last := time.Now().UnixNano(), b.nudged.Load()
	if now-last >= int64(relayPause) && b.nudged.CompareAndSwap(last, now) {
		_ = b.conn.Publish(nudgeSubject(b.service), nil)
	}
}

// nudgeSubject is none of the stream's.
func nudgeSubject(service string) string { return "outbox." + service }

// window is what the relay remembers of the outbox.
type window struct {
	// sent holds when NATS took the events that are still in the outbox.
	sent map[int64]time.Time
	// seen: all events up to it were sent, and no other will appear.
	seen int64
	// complete: no event up to it will appear that is not there by now.
	complete int64
	// next is what complete will be once all transactions before xid have ended.
	next, xid int64
	emptied   time.Time
	// reconnects of the connection: NATS may have come back without what it had not written to disk.
	reconnects uint64
}

var errReconnected = errors.New("connected to NATS anew")

func (b *Bus) relayOnce(ctx context.Context, conn *pgxpool.Conn, w *window) (int, error) {
	// All that is in the outbox goes out again, and NATS drops what it has.
	if b.conn.Stats().Reconnects != w.reconnects {
		return 0, errReconnected
	}
	if last, err := w.look(ctx, conn); err != nil || last == 0 {
		return 0, err
	}
	entries, err := pg.All[entry](ctx, conn, `
		SELECT seq, id, user_id, subject, data, created_at, coalesce(traceparent, '') AS traceparent
		FROM outbox
		WHERE seq > $1 AND seq <> ALL($2)
		ORDER BY seq
		LIMIT $3`, w.seen, w.sentAbove(w.seen), relayBatch)
	if err != nil {
		return 0, fmt.Errorf("reading the outbox: %w", err)
	}
	done, err := b.publish(ctx, entries)
	for _, seq := range done {
		w.sent[seq] = time.Now()
	}
	if err != nil {
		return 0, err
	}
	w.seen = max(w.seen, w.complete)
	if len(entries) == relayBatch {
		w.seen = min(w.seen, entries[relayBatch-1].Seq)
	}
	return len(done), b.empty(ctx, conn, w)
}

// look moves complete. Events do not appear in the order of their numbers: a number is taken when a row is written, and the
// row appears when its transaction ends. Once all transactions that ran at some moment have ended, no number that was taken
// by then is still to appear. It returns the last number there is, 0 for an empty outbox.
func (w *window) look(ctx context.Context, conn *pgxpool.Conn) (int64, error) {
	type row struct{ Last, Oldest, Newest int64 }
	r, err := pg.One[row](ctx, conn, `
		SELECT coalesce((SELECT max(seq) FROM outbox), 0) AS last,
			pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
			pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS newest`)
	if err != nil {
		return 0, fmt.Errorf("looking for transactions in flight: %w", err)
	}
	if r.Oldest >= w.xid {
		w.complete, w.next, w.xid = w.next, max(w.next, r.Last), r.Newest
	}
	return r.Last, nil
}

func (w *window) sentAbove(seq int64) []int64 {
	above := []int64{}
	for s := range w.sent {
		if s > seq {
			above = append(above, s)
		}
	}
	return above
}

// empty deletes what NATS has written to disk by now, provided that it answers over the connection by which it took it: one
// that is away may come back without what was last.
func (b *Bus) empty(ctx context.Context, conn *pgxpool.Conn, w *window) error {
	now := time.Now()
	if now.Sub(w.emptied) < relayRetry {
		return nil
	}
	w.emptied = now
	var settled []int64
	for seq, at := range w.sent {
		if now.Sub(at) >= settleTime {
			settled = append(settled, seq)
		}
	}
	if len(settled) == 0 {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, relayRetry)
	defer cancel()
	if err := b.conn.FlushWithContext(asking); err != nil || b.conn.Stats().Reconnects != w.reconnects {
		return nil
	}
	slices.Sort(settled)
	if _, err := conn.Exec(ctx, `DELETE FROM outbox WHERE seq = ANY($1)`, settled); err != nil {
		return fmt.Errorf("emptying the outbox: %w", err)
	}
	for _, seq := range settled {
		delete(w.sent, seq)
	}
	return nil
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
		traced, span := startSpan(ctx, e.Traceparent, "publish "+e.Subject, trace.SpanKindProducer)
		defer span.End()
		if traceparent := Traceparent(traced); traceparent != nil {
			m.Header.Set(headerTraceparent, *traceparent)
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
			return done, fmt.Errorf("publishing %s: %w", entries[i].Subject, errNotAcknowledged)
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

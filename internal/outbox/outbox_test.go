package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

var schema = fstest.MapFS{"migrations/0001_outbox.sql": {Data: []byte(`
	CREATE TABLE outbox (
		seq        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
		id         uuid        NOT NULL,
		user_id    uuid        NOT NULL,
		subject    text        NOT NULL,
		data       bytea       NOT NULL,
		created_at timestamptz NOT NULL DEFAULT now(),
		traceparent text
	);
	CREATE TABLE applied (seq bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY, user_id uuid NOT NULL, n bigint NOT NULL);`)}}

func setup(t *testing.T) (*pgxpool.Pool, *Bus) {
	t.Helper()
	pool := pgtest.New(t, schema)
	bus, err := Connect(Config{NATSURL: natstest.New(t), NATSReplicas: 1}, "ledger", slog.Default())
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	return pool, bus
}

const subject = "ledger.v1.wallet.deleted"

// numbered returns an event that carries n.
func numbered(user uuid.UUID, n int64) Event {
	return Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: &ledgerv1.WalletDeleted{WalletId: strconv.FormatInt(n, 10)}}
}

func n(e Received) int64 {
	n, err := strconv.ParseInt(e.Data.(*ledgerv1.WalletDeleted).GetWalletId(), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func add(t *testing.T, pool *pgxpool.Pool, user uuid.UUID, n int64) {
	t.Helper()
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		return Add(t.Context(), tx, numbered(user, n))
	})
	require.NoError(t, err)
}

func record(ctx context.Context, tx pgx.Tx, events []Received) error {
	for _, e := range events {
		if _, err := tx.Exec(ctx, `INSERT INTO applied (id, user_id, n) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, e.ID, e.UserID, n(e)); err != nil {
			return err
		}
	}
	return nil
}

func applied(t *testing.T, pool *pgxpool.Pool, user uuid.UUID) []int64 {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT n FROM applied WHERE user_id = $1 ORDER BY seq`, user)
	require.NoError(t, err)
	ns, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return ns
}

func TestConsumeReceivesPublishedEvent(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	got := make(chan Received, 1)
	running.Go(func() {
		bus.Consume(ctx, pool, Consumer{Name: "test", Subject: subject, Apply: func(_ context.Context, _ pgx.Tx, events []Received) error {
			got <- events[0]
			return nil
		}})
	})
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 42)
	e := <-got
	require.Equal(t, user, e.UserID)
	require.Equal(t, subject, e.Subject)
	require.EqualValues(t, 42, n(e))
	require.WithinDuration(t, time.Now(), e.Time, time.Minute)
	require.Eventually(t, func() bool {
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&left))
		return left == 0
	}, time.Minute, 10*time.Millisecond)
	cancel()
	running.Wait()
}

// TestWakeReachesRelayOfAnotherReplica adds an event in one replica while the relay of another one
// holds the lock.
func TestWakeReachesRelayOfAnotherReplica(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	other, err := Connect(Config{NATSURL: bus.conn.ConnectedUrl(), NATSReplicas: 1}, "ledger", slog.Default())
	require.NoError(t, err)
	t.Cleanup(other.Close)
	go bus.Relay(t.Context(), pool)
	got := make(chan Received, 2)
	go bus.Consume(t.Context(), pool, Consumer{Name: "test", Subject: subject, Apply: func(_ context.Context, _ pgx.Tx, events []Received) error {
		got <- events[0]
		return nil
	}})
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	<-got
	// By then the poll interval has grown to more than six seconds.
	time.Sleep(syncDelay + 4*time.Second)
	add(t, pool, user, 2)
	other.Wake()
	select {
	case e := <-got:
		require.EqualValues(t, 2, n(e))
	case <-time.After(4 * time.Second):
		require.Fail(t, "the event waits for the next poll")
	}
}

func TestRelayIgnoresRolledBackEvents(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	user := uuid.Must(uuid.NewV7())
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, Add(t.Context(), tx, numbered(user, 1)))
		return fmt.Errorf("refused")
	})
	require.Error(t, err)
	add(t, pool, user, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go bus.Relay(ctx, pool)
	go bus.Consume(ctx, pool, Consumer{Name: "test", Subject: subject, Apply: record})
	require.Eventually(t, func() bool { return len(applied(t, pool, user)) > 0 }, time.Minute, 10*time.Millisecond)
	require.Equal(t, []int64{2}, applied(t, pool, user))
}

// TestRelayAndConsumeExactlyOnceDespiteRestarts stops relays and consumers in the middle of
// publishing, applying and acknowledging. Every event must be applied exactly once, and the stream
// must contain it once, in the order of its user.
func TestRelayAndConsumeExactlyOnceDespiteRestarts(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	const users, each = 4, 100
	ids := make([]uuid.UUID, users)
	var writers sync.WaitGroup
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7())
		writers.Go(func() {
			for n := range int64(each) {
				add(t, pool, ids[i], n)
			}
		})
	}
	var failures sync.Map
	flaky := func(ctx context.Context, tx pgx.Tx, events []Received) error {
		if err := record(ctx, tx, events); err != nil {
			return err
		}
		for _, e := range events {
			// Fail twice: in a batch, and alone.
			tries, _ := failures.LoadOrStore(e.ID, new(atomic.Int32))
			if e.Sequence%17 == 0 && tries.(*atomic.Int32).Add(1) <= 2 {
				return fmt.Errorf("failing event %d", e.Sequence)
			}
		}
		return nil
	}
	done := func() bool {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM applied`).Scan(&n))
		return n >= users*each
	}
	for life := 1; !done() && life < 30; life++ {
		span := time.Duration(20+37*life%150) * time.Millisecond
		if life > 15 {
			// Long enough for NATS to redeliver the messages of the stopped consumers.
			span = ackWait
		}
		ctx, cancel := context.WithTimeout(t.Context(), span)
		var running sync.WaitGroup
		running.Go(func() { bus.Relay(ctx, pool) })
		running.Go(func() {
			bus.Consume(ctx, pool, Consumer{Name: "test", Subject: subject, Apply: flaky})
		})
		running.Wait()
		cancel()
	}
	writers.Wait()
	require.True(t, done())
	for _, user := range ids {
		seen := map[int64]int{}
		for _, n := range applied(t, pool, user) {
			seen[n]++
		}
		for n := range int64(each) {
			require.Equal(t, 1, seen[n], "event %d of user %s", n, user)
		}
	}
	requireStreamInOrder(t, bus, ids)
}

func requireStreamInOrder(t *testing.T, bus *Bus, users []uuid.UUID) {
	t.Helper()
	for _, user := range users {
		followed := follow(t, bus, user, 0, 100)
		for i, e := range followed {
			require.EqualValues(t, i, n(e))
		}
	}
}

// follow returns the next count events of a user.
func follow(t *testing.T, bus *Bus, user uuid.UUID, after uint64, count int) []Received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var followed []Received
	err := bus.Follow(ctx, user, after, func(e Received) error {
		require.Equal(t, user, e.UserID)
		if followed = append(followed, e); len(followed) == count {
			return errEnough
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	return followed
}

var errEnough = errors.New("enough")

func TestFollowYieldsUsersEventsFromAnySequence(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	user, other := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	for i := range int64(10) {
		add(t, pool, user, i)
		add(t, pool, other, -i)
	}
	all := follow(t, bus, user, 0, 10)
	for i, e := range all {
		require.EqualValues(t, i, n(e))
		require.Equal(t, "/coffer/ledger", e.Source)
	}
	require.EqualValues(t, 4, n(follow(t, bus, user, all[3].Sequence, 1)[0]))

	end, err := bus.End(ctx)
	require.NoError(t, err)
	for _, place := range []uint64{end, end + 1000} {
		later := make(chan Received, 100)
		following, stop := context.WithCancel(ctx)
		running.Go(func() {
			_ = bus.Follow(following, user, place, func(e Received) error { later <- e; return following.Err() })
		})
		var e Received
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			add(t, pool, user, 99)
			select {
			case e = <-later:
			case <-time.After(300 * time.Millisecond):
				require.Fail(c, "nothing yet")
			}
		}, time.Minute, 10*time.Millisecond)
		require.EqualValues(t, 99, n(e))
		stop()
	}
}

func TestConsumeDeliversToEveryConsumer(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	got := make(chan string, 10)
	for _, name := range []string{"one", "other"} {
		running.Go(func() {
			bus.Consume(ctx, pool, Consumer{Name: name, Subject: "*.v1.wallet.*", Apply: func(context.Context, pgx.Tx, []Received) error {
				got <- name
				return nil
			}})
		})
	}
	add(t, pool, uuid.Must(uuid.NewV7()), 7)
	require.ElementsMatch(t, []string{"one", "other"}, []string{<-got, <-got})
}

func TestNextSurvivesFetchTimeout(t *testing.T) {
	t.Parallel()
	_, bus := setup(t)
	require.NoError(t, bus.EnsureStream(t.Context()))
	consumer, err := bus.js.CreateConsumer(t.Context(), streamName, jetstream.ConsumerConfig{FilterSubject: subject + ".*"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	messages, err := next(ctx, consumer)
	require.NoError(t, err, "a fetch without events is not an error")
	require.Empty(t, messages)
	_, err = bus.js.Publish(t.Context(), subject+"."+uuid.NewString(), nil)
	require.NoError(t, err)
	messages, err = next(t.Context(), consumer)
	require.NoError(t, err)
	require.Len(t, messages, 1)
}

func TestRelayStartsBeforeNATS(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := lis.Addr().String()
	require.NoError(t, lis.Close())
	bus, err := Connect(Config{NATSURL: "nats://" + addr, NATSReplicas: 1}, "ledger", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	natstest.Start(t, addr)
	require.EqualValues(t, 1, n(follow(t, bus, user, 0, 1)[0]))
}

// TestRelayPublishesLateCommits commits an event with a low seq after later ones have been
// published.
func TestRelayPublishesLateCommits(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	late, prompt := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	require.NoError(t, Add(t.Context(), tx, numbered(late, 1)))
	for i := range int64(10) {
		add(t, pool, prompt, i)
		time.Sleep(100 * time.Millisecond)
	}
	follow(t, bus, prompt, 0, 10)
	require.NoError(t, tx.Commit(t.Context()))
	require.EqualValues(t, 1, n(follow(t, bus, late, 0, 1)[0]))
}

// TestRelayResendsUnsyncedEventsAfterReconnect restarts NATS without an event that it had
// acknowledged but not synced.
func TestRelayResendsUnsyncedEventsAfterReconnect(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	first, stop := natstest.Start(t, "127.0.0.1:-1")
	bus, err := Connect(Config{NATSURL: first, NATSReplicas: 1}, "ledger", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	follow(t, bus, user, 0, 1)
	stop()
	// Longer than syncDelay: the event must not be deleted while NATS is down.
	time.Sleep(syncDelay + 2*retryInterval)
	natstest.Start(t, strings.TrimPrefix(first, "nats://"))
	require.EqualValues(t, 1, n(follow(t, bus, user, 0, 1)[0]))
}

func TestFollowDeletesItsConsumer(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	go bus.Relay(t.Context(), pool)
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	for range 3 {
		follow(t, bus, user, 0, 1)
	}
	stream, err := bus.js.Stream(t.Context(), streamName)
	require.NoError(t, err)
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	require.Zero(t, info.State.Consumers)
}

// TestAddRejectsLargeEvents requires that an event that NATS would reject is not added. It would
// block all later events of the service.
func TestAddRejectsLargeEvents(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	user := uuid.Must(uuid.NewV7())
	sized := func(size int) Event {
		// The tag and the length of the field take four bytes.
		return Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: &ledgerv1.WalletDeleted{WalletId: strings.Repeat("1", size-4)}}
	}
	require.Error(t, Add(t.Context(), pool, sized(maxData+1)))
	require.NoError(t, Add(t.Context(), pool, sized(maxData)))
	add(t, pool, user, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { bus.Relay(ctx, pool) })
	defer running.Wait()
	defer cancel()
	events := follow(t, bus, user, 0, 2)
	require.Equal(t, maxData, proto.Size(events[0].Data))
	require.EqualValues(t, 2, n(events[1]))
}

// TestRelayLargeEvents publishes and applies more large events than a batch may have.
func TestRelayLargeEvents(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	user := uuid.Must(uuid.NewV7())
	const count = 20
	for i := range count {
		large := &ledgerv1.WalletDeleted{WalletId: strconv.Itoa(i), OwnerId: strings.Repeat("x", maxData-10)}
		require.NoError(t, Add(t.Context(), pool, Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: large}))
	}
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.NoError(t, bus.EnsureStream(t.Context()))
	p, published := &progress{acknowledged: map[int64]time.Time{}, reconnects: bus.conn.Stats().Reconnects}, 0
	for published < count {
		n, err := bus.relayOnce(t.Context(), conn, p)
		require.NoError(t, err)
		require.LessOrEqual(t, n, maxBatch/maxData+1)
		published += n
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		bus.Consume(ctx, pool, Consumer{Name: "test", Subject: subject, Apply: func(ctx context.Context, tx pgx.Tx, events []Received) error {
			assert.LessOrEqual(t, len(events), maxBatch/maxData)
			return record(ctx, tx, events)
		}})
	})
	require.Eventually(t, func() bool { return len(applied(t, pool, user)) == count }, time.Minute, 10*time.Millisecond)
	for i, n := range applied(t, pool, user) {
		require.EqualValues(t, i, n)
	}
}

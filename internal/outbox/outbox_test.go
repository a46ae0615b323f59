package outbox

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
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
	CREATE TABLE applied (
		seq bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY, user_id uuid NOT NULL,
		n bigint NOT NULL);`)}}

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
	return Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: &ledgerv1.WalletDeleted{
		WalletId: strconv.FormatInt(n, 10),
	}}
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
		_, err := tx.Exec(ctx, `
			INSERT INTO applied (id, user_id, n) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			e.ID, e.UserID, n(e))
		if err != nil {
			return err
		}
	}
	return nil
}

// applying returns the consumer of subject that runs apply.
func applying(apply func(context.Context, pgx.Tx, []Received) error) Consumer {
	return Consumer{Name: "test", Subject: subject, Apply: apply}
}

// sending returns the consumer of subject that sends the first event of each batch.
func sending(to chan<- Received) Consumer {
	return applying(func(_ context.Context, _ pgx.Tx, events []Received) error {
		to <- events[0]
		return nil
	})
}

// background runs work until the test ends.
func background(t *testing.T, work func(ctx context.Context)) {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() { work(t.Context()) })
	t.Cleanup(running.Wait)
}

func applied(t *testing.T, pool *pgxpool.Pool, user uuid.UUID) []int64 {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT n FROM applied WHERE user_id = $1 ORDER BY seq`,
		user)
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
	running.Go(func() { bus.Consume(ctx, pool, sending(got)) })
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 42)
	e := <-got
	require.Equal(t, user, e.UserID)
	require.Equal(t, subject, e.Subject)
	require.EqualValues(t, 42, n(e))
	require.WithinDuration(t, time.Now(), e.Time, time.Minute)
	require.Eventually(t, func() bool {
		left := pgtest.Value[int](t, pool, `SELECT count(*) FROM outbox`)
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
	config := Config{NATSURL: bus.conn.ConnectedUrl(), NATSReplicas: 1}
	other, err := Connect(config, "ledger", slog.Default())
	require.NoError(t, err)
	t.Cleanup(other.Close)
	go bus.Relay(t.Context(), pool)
	got := make(chan Received, 2)
	go bus.Consume(t.Context(), pool, sending(got))
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

func TestConsumeDeliversToEveryConsumer(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
	got := make(chan string, 10)
	for _, name := range []string{"one", "other"} {
		background(t, func(ctx context.Context) {
			apply := func(context.Context, pgx.Tx, []Received) error {
				got <- name
				return nil
			}
			bus.Consume(ctx, pool, Consumer{Name: name, Subject: "*.v1.wallet.*", Apply: apply})
		})
	}
	add(t, pool, uuid.Must(uuid.NewV7()), 7)
	require.ElementsMatch(t, []string{"one", "other"}, []string{<-got, <-got})
}

func TestNextSurvivesFetchTimeout(t *testing.T) {
	t.Parallel()
	_, bus := setup(t)
	require.NoError(t, bus.EnsureStream(t.Context()))
	consumer, err := bus.js.CreateConsumer(t.Context(), streamName,
		jetstream.ConsumerConfig{FilterSubject: subject + ".*"})
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

// TestAddRejectsLargeEvents requires that an event that NATS would reject is not added. It would
// block all later events of the service.
func TestAddRejectsLargeEvents(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	user := uuid.Must(uuid.NewV7())
	sized := func(size int) Event {
		// The tag and the length of the field take four bytes.
		return Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: &ledgerv1.WalletDeleted{
			WalletId: strings.Repeat("1", size-4),
		}}
	}
	require.Error(t, Add(t.Context(), pool, sized(maxData+1)))
	require.NoError(t, Add(t.Context(), pool, sized(maxData)))
	add(t, pool, user, 2)
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
	events := follow(t, bus, user, 0, 2)
	require.Equal(t, maxData, proto.Size(events[0].Data))
	require.EqualValues(t, 2, n(events[1]))
}

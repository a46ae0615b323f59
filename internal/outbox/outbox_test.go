package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

var schema = fstest.MapFS{"migrations/0001_outbox.sql": {Data: []byte(`
	CREATE TABLE outbox (
		seq        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
		id         uuid        NOT NULL,
		user_id    uuid        NOT NULL,
		subject    text        NOT NULL,
		data       bytea       NOT NULL,
		created_at timestamptz NOT NULL DEFAULT now()
	);
	CREATE TABLE consumed_events (
		id          uuid        NOT NULL CONSTRAINT consumed_events_pkey PRIMARY KEY,
		consumed_at timestamptz NOT NULL DEFAULT now()
	);
	CREATE TABLE applied (seq bigint GENERATED ALWAYS AS IDENTITY, user_id uuid NOT NULL, n bigint NOT NULL);`)}}

func setup(t *testing.T) (*pgxpool.Pool, jetstream.JetStream) {
	t.Helper()
	pool := pgtest.New(t, schema)
	conn, js, err := Connect(natstest.New(t), t.Name())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	require.NoError(t, EnsureStream(t.Context(), js, 1))
	return pool, js
}

func add(t *testing.T, pool *pgxpool.Pool, user uuid.UUID, n int64) {
	t.Helper()
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		return Add(t.Context(), tx, Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Subject: "ledger.v1.test.happened", Data: wrapperspb.Int64(n)})
	})
	require.NoError(t, err)
}

func record(ctx context.Context, tx pgx.Tx, e Received) error {
	_, err := tx.Exec(ctx, `INSERT INTO applied (user_id, n) VALUES ($1, $2)`, e.UserID, e.Data.(*wrapperspb.Int64Value).GetValue())
	return err
}

func applied(t *testing.T, pool *pgxpool.Pool, user uuid.UUID) []int64 {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT n FROM applied WHERE user_id = $1 ORDER BY seq`, user)
	require.NoError(t, err)
	ns, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return ns
}

func TestAnEventArrivesOnceWithAllThatWasSaid(t *testing.T) {
	t.Parallel()
	pool, js := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { Relay(ctx, pool, js, "ledger", slog.Default()) })
	got := make(chan Received, 1)
	running.Go(func() {
		Consume(ctx, pool, js, "test", []string{"ledger.v1.test.happened"}, slog.Default(), func(_ context.Context, _ pgx.Tx, e Received) error {
			got <- e
			return nil
		})
	})
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 42)
	e := <-got
	require.Equal(t, user, e.UserID)
	require.Equal(t, "ledger.v1.test.happened", e.Subject)
	require.EqualValues(t, 42, e.Data.(*wrapperspb.Int64Value).GetValue())
	require.WithinDuration(t, time.Now(), e.Time, time.Minute)
	require.Eventually(t, func() bool {
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&left))
		return left == 0
	}, 10*time.Second, 10*time.Millisecond)
	cancel()
	running.Wait()
}

func TestAnEventOfARolledBackChangeIsNotPublished(t *testing.T) {
	t.Parallel()
	pool, js := setup(t)
	user := uuid.Must(uuid.NewV7())
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, Add(t.Context(), tx, Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Subject: "ledger.v1.test.happened", Data: wrapperspb.Int64(1)}))
		return fmt.Errorf("refused")
	})
	require.Error(t, err)
	add(t, pool, user, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go Relay(ctx, pool, js, "ledger", slog.Default())
	go Consume(ctx, pool, js, "test", []string{"ledger.v1.test.happened"}, slog.Default(), record)
	require.Eventually(t, func() bool { return len(applied(t, pool, user)) > 0 }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, []int64{2}, applied(t, pool, user))
}

// Relays and consumers die at random points: in the middle of publishing, applying, acknowledging. In effect every event
// must still be applied exactly once, and the stream must hold it once, in the order of its user.
func TestWhateverDiesEachEventIsStoredInOrderAndAppliedExactlyOnce(t *testing.T) {
	t.Parallel()
	pool, js := setup(t)
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
	flaky := func(ctx context.Context, tx pgx.Tx, e Received) error {
		if err := record(ctx, tx, e); err != nil {
			return err
		}
		if _, failedBefore := failures.LoadOrStore(e.ID, true); !failedBefore && e.Sequence%17 == 0 {
			return fmt.Errorf("failing event %d once", e.Sequence)
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
			// Long enough for what the dead consumers held to come again.
			span = ackWait
		}
		ctx, cancel := context.WithTimeout(t.Context(), span)
		var running sync.WaitGroup
		running.Go(func() { Relay(ctx, pool, js, "ledger", slog.Default()) })
		running.Go(func() {
			Consume(ctx, pool, js, "test", []string{"ledger.v1.test.happened"}, slog.Default(), flaky)
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
	requireStreamInOrder(t, js, ids)
}

func requireStreamInOrder(t *testing.T, js jetstream.JetStream, users []uuid.UUID) {
	t.Helper()
	for _, user := range users {
		c, err := js.OrderedConsumer(t.Context(), Stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"*.v1.*.*." + user.String()}})
		require.NoError(t, err)
		batch, err := c.Fetch(1000, jetstream.FetchMaxWait(500*time.Millisecond))
		require.NoError(t, err)
		next := int64(0)
		for m := range batch.Messages() {
			e, err := Decode(m)
			require.NoError(t, err)
			require.Equal(t, next, e.Data.(*wrapperspb.Int64Value).GetValue())
			next++
		}
		require.EqualValues(t, 100, next)
	}
}

func TestRunMakesTheStreamAndRelaysOnceNATSIsThere(t *testing.T) {
	t.Parallel()
	pool, url := pgtest.New(t, schema), natstest.New(t)
	conn, js, err := Connect(url, t.Name())
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)

	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { Run(ctx, Config{NATSURL: url, NATSReplicas: 1}, pool, "ledger", slog.New(slog.DiscardHandler)) })
	defer running.Wait()
	defer cancel()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		stream, err := js.Stream(ctx, Stream)
		require.NoError(c, err)
		m, err := stream.GetLastMsgForSubject(ctx, "ledger.v1.test.happened."+user.String())
		require.NoError(c, err)
		require.Equal(c, "/coffer/ledger", m.Header.Get(headerSource))
	}, 30*time.Second, 20*time.Millisecond)
}

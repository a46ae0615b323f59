package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

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
	go bus.Relay(t.Context(), pool)
	go bus.Consume(t.Context(), pool, applying(record))
	require.Eventually(t, func() bool { return len(applied(t, pool, user)) > 0 }, time.Minute,
		10*time.Millisecond)
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
		n := pgtest.Value[int](t, pool, `SELECT count(*) FROM applied`)
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

func TestRelayStartsBeforeNATS(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := lis.Addr().String()
	require.NoError(t, lis.Close())
	bus, err := Connect(Config{NATSURL: "nats://" + addr, NATSReplicas: 1}, "ledger",
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
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
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
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

// TestRelayDistributedPublishesHiddenCommits commits an event with a low seq after later ones have
// been published and deleted. No snapshot has shown its transaction, as if it ran on another
// server.
func TestRelayDistributedPublishesHiddenCommits(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	_, err := pool.Exec(t.Context(), `
		ALTER TABLE outbox RENAME TO plain;
		CREATE TABLE outbox (LIKE plain INCLUDING DEFAULTS INCLUDING IDENTITY,
			PRIMARY KEY (user_id, seq)) PARTITION BY HASH (user_id);
		CREATE TABLE first PARTITION OF outbox FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE second PARTITION OF outbox FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		CREATE INDEX ON outbox (seq)`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	background(t, func(ctx context.Context) { bus.RelayDistributed(ctx, pool) })
	late, prompt := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	require.Error(t, pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, Add(t.Context(), tx, numbered(late, 1)))
		return fmt.Errorf("not committed")
	}))
	for i := range int64(relayBatch + 1) {
		add(t, pool, prompt, i)
	}
	follow(t, bus, prompt, 0, relayBatch+1)
	require.Eventually(t, func() bool {
		left, err := pg.Value[int](t.Context(), pool, `SELECT count(*) FROM outbox`)
		require.NoError(t, err)
		return left == 0
	}, time.Minute, retryInterval)
	rows, err := Encode(numbered(late, 1))
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
		INSERT INTO outbox (seq, id, user_id, subject, data) OVERRIDING SYSTEM VALUE
		VALUES (1, $1, $2, $3, $4)`, rows.IDs[0], late, rows.Subjects[0], rows.Data[0])
	require.NoError(t, err)
	require.EqualValues(t, 1, n(follow(t, bus, late, 0, 1)[0]))
}

// TestRelayResendsUnsyncedEventsAfterReconnect restarts NATS without an event that it had
// acknowledged but not synced.
func TestRelayResendsUnsyncedEventsAfterReconnect(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, schema)
	first, stop := natstest.Start(t, "127.0.0.1:-1")
	bus, err := Connect(Config{NATSURL: first, NATSReplicas: 1}, "ledger",
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	background(t, func(ctx context.Context) { bus.Relay(ctx, pool) })
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	follow(t, bus, user, 0, 1)
	stop()
	// Longer than syncDelay: the event must not be deleted while NATS is down.
	time.Sleep(syncDelay + 2*retryInterval)
	natstest.Start(t, strings.TrimPrefix(first, "nats://"))
	require.EqualValues(t, 1, n(follow(t, bus, user, 0, 1)[0]))
}

// TestRelayLargeEvents publishes and applies more large events than a batch may have.
func TestRelayLargeEvents(t *testing.T) {
	t.Parallel()
	pool, bus := setup(t)
	user := uuid.Must(uuid.NewV7())
	const count = 20
	for i := range count {
		large := &ledgerv1.WalletDeleted{
			WalletId: strconv.Itoa(i), OwnerId: strings.Repeat("x", maxData-10),
		}
		require.NoError(t,
			Add(t.Context(), pool, Event{ID: uuid.Must(uuid.NewV7()), UserID: user, Data: large}))
	}
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.NoError(t, bus.EnsureStream(t.Context()))
	p := &progress{
		acknowledged: map[int64]acknowledgment{}, reconnects: bus.conn.Stats().Reconnects,
	}
	published := 0
	for published < count {
		n, err := bus.relayOnce(t.Context(), conn, p)
		require.NoError(t, err)
		require.LessOrEqual(t, n, maxBatch/maxData+1)
		published += n
	}
	apply := applying(func(ctx context.Context, tx pgx.Tx, events []Received) error {
		assert.LessOrEqual(t, len(events), maxBatch/maxData)
		return record(ctx, tx, events)
	})
	background(t, func(ctx context.Context) { bus.Consume(ctx, pool, apply) })
	require.Eventually(t, func() bool { return len(applied(t, pool, user)) == count }, time.Minute,
		10*time.Millisecond)
	for i, n := range applied(t, pool, user) {
		require.EqualValues(t, i, n)
	}
}

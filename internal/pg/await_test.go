package pg_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

// logged is a log handler that sends each message with its attribute "limit".
type logged chan string

func (l logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logged) WithGroup(string) slog.Handler            { return l }
func (l logged) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "limit" {
			r.Message += " for " + a.Value.String()
		}
		return true
	})
	l <- r.Message
	return nil
}

func TestAwaitServer(t *testing.T) {
	t.Parallel()
	target := os.Getenv("TEST_DATABASE_URL")
	if target == "" {
		t.Skip("needs PostgreSQL")
	}
	t.Run("logs_and_waits_until_connections_are_accepted", func(t *testing.T) {
		t.Parallel()
		address, start := startsLater(t, target)
		lines := make(logged, 100)
		done := make(chan error, 1)
		go func() { done <- pg.AwaitServer(t.Context(), address, time.Minute, slog.New(lines)) }()
		require.Equal(t, "failed to reach the database, trying again for 1m0s", <-lines)
		start()
		require.NoError(t, <-done)
		require.Empty(t, lines, "one line, not one for each attempt")
	})
	t.Run("gives_up_at_its_limit_with_the_last_failure", func(t *testing.T) {
		t.Parallel()
		address, _ := startsLater(t, target)
		err := pg.AwaitServer(t.Context(), address, time.Second, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "gave up waiting for the database after 1s")
		require.True(t, pg.IsUnreachable(err), "%v", err)
	})
	t.Run("ends_with_its_context", func(t *testing.T) {
		t.Parallel()
		address, _ := startsLater(t, target)
		ctx, cancel := context.WithCancel(t.Context())
		lines := make(logged, 100)
		done := make(chan error, 1)
		go func() { done <- pg.AwaitServer(ctx, address, time.Minute, slog.New(lines)) }()
		<-lines
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestAwaitMigrations(t *testing.T) {
	t.Parallel()
	target, name := schemaToMigrate(t)
	first := withSearchPath(target, name)
	lines := make(logged, 100)
	done := make(chan error, 1)
	log := slog.New(lines)
	go func() { done <- pg.AwaitMigrations(t.Context(), first, migrations, time.Minute, log) }()
	require.Equal(t, "failed to reach the schema, trying again for 1m0s", <-lines,
		"there is no schema yet")
	require.NoError(t, pg.Migrate(t.Context(), target, name, migrations))
	require.NoError(t, <-done)

	later := withSecond("SELECT 1;")
	err := pg.AwaitMigrations(t.Context(), first, later, time.Second, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "the schema is behind")
	require.NoError(t, pg.Migrate(t.Context(), target, name, later))
	require.NoError(t, pg.AwaitMigrations(t.Context(), first, migrations, time.Minute,
		slog.New(slog.DiscardHandler)),
		"the previous release runs on the new schema")
}

// startsLater returns the URL of a proxy in front of PostgreSQL. It closes each connection until
// start is called.
func startsLater(t *testing.T, target string) (address string, start func()) {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	started := make(chan struct{})
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			select {
			case <-started:
				go forward(conn, to.Host)
			default:
				_ = conn.Close()
			}
		}
	}()
	from := *to
	from.Host = lis.Addr().String()
	return from.String(), func() { close(started) }
}

// forward copies data between a connection and the server.
func forward(conn net.Conn, to string) {
	defer func() { _ = conn.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(server, conn); _ = server.Close() })
	both.Go(func() { _, _ = io.Copy(conn, server); _ = conn.Close() })
	both.Wait()
}

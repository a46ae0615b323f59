package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestMigrate starts the command before the server accepts connections. It changes the process's
// environment and logger, so it does not run in parallel.
func TestMigrate(t *testing.T) {
	target := os.Getenv("TEST_DATABASE_URL")
	if target == "" {
		t.Skip("needs PostgreSQL")
	}
	to, err := url.Parse(target)
	require.NoError(t, err)
	name := "migrated_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	execute(t, target, `CREATE ROLE `+name)
	t.Cleanup(func() {
		execute(t, target, `DROP SCHEMA IF EXISTS `+name+` CASCADE; DROP ROLE `+name)
	})
	before := slog.Default()
	t.Cleanup(func() { SetLogger(before) })
	lines, log := io.Pipe()
	SetLogger(NewLogger(log, slog.LevelInfo))

	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := *to
	address.Host = lis.Addr().String()
	require.NoError(t, lis.Close())
	t.Setenv("MIGRATION_DATABASE_URL", address.String())
	done := make(chan error, 1)
	after := Command{"migrate", func(_ context.Context, url string, _ []string, _ io.Writer) error {
		require.Equal(t, address.String(), url)
		execute(t, target, `ALTER TABLE `+name+`.t ADD COLUMN after_migrations int`)
		return nil
	}}
	migrations := fstest.MapFS{
		"migrations/0001_t.sql": {Data: []byte("-- +goose Up\nCREATE TABLE t ();")},
	}
	go func() { done <- migrate(t.Context(), name, migrations, after) }()
	line := make([]byte, 4096)
	n, err := lines.Read(line)
	require.NoError(t, err)
	require.Contains(t, string(line[:n]), `"msg":"failed to reach the database, trying again"`)
	go func() { _, _ = io.Copy(io.Discard, lines) }()

	lis, err = net.Listen("tcp", lis.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	go relay(lis, to.Host)
	require.NoError(t, <-done)
	execute(t, target, `SELECT after_migrations FROM `+name+`.t`)

	search := to.Query()
	search.Set("search_path", name)
	to.RawQuery = search.Encode()
	t.Setenv("DATABASE_URL", "")
	served := ""
	await := awaitSchema(migrations, func() error {
		served = os.Getenv("DATABASE_URL")
		return nil
	})
	require.NoError(t, await.Run(t.Context(), to.String(), nil, io.Discard))
	require.Empty(t, served)
	require.NoError(t, await.Run(t.Context(), to.String(), []string{"serve"}, io.Discard))
	require.Equal(t, to.String(), served)
	require.ErrorContains(t, await.Run(t.Context(), to.String(), []string{"run"}, io.Discard),
		"must be serve, or none")
}

func TestUnknownCommand(t *testing.T) {
	t.Parallel()
	require.EqualError(t, unknown("check", []Command{{Name: "migrate"}, {Name: "verify"}}),
		`unknown command "check": must be one of migrate, ready, version, verify, or none to serve`)
}

func relay(lis net.Listener, to string) {
	for {
		conn, err := lis.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			_ = conn.Close()
			continue
		}
		go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
		go func() { _, _ = io.Copy(conn, server); _ = conn.Close() }()
	}
}

func execute(t *testing.T, target, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.WithoutCancel(t.Context()), target)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(context.WithoutCancel(t.Context()), sql)
	require.NoError(t, err)
}

// Package pgtest provides each test with a separate schema on a real PostgreSQL server (ADR 12).
//
// Behind and Besides run a call while another transaction is open, to test locks.
//
// New creates the schema, applies a service's migrations, and returns a pool. The schema is dropped when the test ends, so tests run in
// parallel and need no cleanup. The server is that of TEST_DATABASE_URL, a superuser's URL. `make test` starts a temporary
// server and sets the variable. Without the variable tests fail, and with `go test -short` they are skipped.
package pgtest

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

// New returns a pool on a new schema with the migrations applied. The schema is dropped when the test ends.
func New(t testing.TB, migrations fs.FS) *pgxpool.Pool {
	t.Helper()
	server := os.Getenv("TEST_DATABASE_URL")
	if server == "" {
		if testing.Short() {
			t.Skip("needs Postgres")
		}
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, which starts a temporary PostgreSQL, or set it to a superuser's URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// Tests of several packages run at the same time on one server, so the name must be unique.
	schema := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	pool, err := pg.Open(ctx, withSchema(t, server, schema))
	require.NoError(t, err)
	t.Cleanup(func() {
		pool.Close()
		drop(t, server, schema)
	})
	_, err = pool.Exec(ctx, "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	require.NoError(t, apply(ctx, pool, migrations))
	return pool
}

// apply executes the migrations without goose, whose annotations are SQL comments. One round trip for each file takes about 20 ms for a
// schema.
func apply(ctx context.Context, pool *pgxpool.Pool, migrations fs.FS) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		// CONCURRENTLY would wait for the transactions of all other tests, and is not needed before the schema is in use.
		if _, err := pool.Exec(ctx, strings.ReplaceAll(string(text), " CONCURRENTLY", ""), pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("applying %s: %w", path.Base(name), err)
		}
	}
	return nil
}

// withSchema returns the URL of the server with a schema as search_path.
func withSchema(t testing.TB, server, schema string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	q := u.Query()
	q.Set("search_path", schema)
	// Many tests run in parallel on one server, so a new connection may wait longer than the second that a service allows.
	q.Set("pool_max_conns", "8")
	q.Set("connect_timeout", "60")
	u.RawQuery = q.Encode()
	return u.String()
}

// drop drops a schema.
func drop(t testing.TB, server, schema string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
	require.NoError(t, err)
}

// Package pgtest gives each test a separate schema on a real PostgreSQL server.
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

// New returns a pool on a fresh schema with the migrations applied; the schema goes with the test. The server is
// TEST_DATABASE_URL, which `make test` sets to a throw-away one.
func New(t testing.TB, migrations fs.FS) *pgxpool.Pool {
	t.Helper()
	server := os.Getenv("TEST_DATABASE_URL")
	if server == "" {
		if testing.Short() {
			t.Skip("needs Postgres")
		}
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, which starts a throw-away Postgres, or set it to a superuser's URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

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

// apply runs the files as they are: goose's annotations are comments, and one round trip a file keeps a schema at some
// 20 ms.
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
		// Nobody else uses the schema yet, and CONCURRENTLY would wait for all other tests.
		if _, err := pool.Exec(ctx, strings.ReplaceAll(string(text), " CONCURRENTLY", ""), pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("applying %s: %w", path.Base(name), err)
		}
	}
	return nil
}

func withSchema(t testing.TB, server, schema string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	q := u.Query()
	q.Set("search_path", schema)
	// Many tests run side by side against one server.
	q.Set("pool_max_conns", "8")
	u.RawQuery = q.Encode()
	return u.String()
}

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

// Package pgtest provides each test with a separate database on a real PostgreSQL server (ADR 12).
//
// New creates the database with a service's migrations, and returns a pool. The database is dropped
// when the test ends, so tests run in parallel and need no cleanup. The server is that of
// TEST_DATABASE_URL, a superuser's URL. `make test` starts a temporary server and sets the
// variable. Without the variable tests fail, and with `go test -short` they are skipped.
//
// Behind and Besides run a call while another transaction is open, to test locks.
//
// The migrations are executed once for each server, into a template. Databases of tests are copies
// of it. NewFilled does the same with rows that several tests read. Their tables have the same ids,
// so a query of pg_locks must also compare the database.
package pgtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

const schema = "test"

// New returns a pool on a new database with the migrations applied.
func New(t testing.TB, migrations fs.FS) *pgxpool.Pool {
	t.Helper()
	return open(t, migrations, Rows{})
}

// Rows are the rows of a filled template.
type Rows struct {
	// Version changes with the rows.
	Version string
	// Insert inserts the rows in a database with the migrations.
	Insert func(context.Context, *pgx.Conn) error
}

// NewFilled returns a pool on a new database with the migrations and rows that take seconds to
// insert. They are inserted once for each server.
func NewFilled(t testing.TB, migrations fs.FS, rows Rows) *pgxpool.Pool {
	t.Helper()
	return open(t, migrations, rows)
}

func open(t testing.TB, migrations fs.FS, rows Rows) *pgxpool.Pool {
	t.Helper()
	server := os.Getenv("TEST_DATABASE_URL")
	if server == "" {
		if testing.Short() {
			t.Skip("needs Postgres")
		}
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, " +
			"which starts a temporary PostgreSQL, or set it to a superuser's URL")
	}
	// Another test may insert millions of rows in the template meanwhile.
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Minute)
	defer cancel()
	files, err := read(migrations)
	require.NoError(t, err)
	// Tests of several packages run at the same time on one server, so the name must be unique.
	database := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	require.NoError(t, onServer(ctx, server, func(conn *pgx.Conn) error {
		template, err := makeTemplate(ctx, conn, server, files, rows)
		if err != nil {
			return err
		}
		return clone(ctx, conn, database, template)
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		require.NoError(t, onServer(ctx, server, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "DROP DATABASE "+database+" WITH (FORCE)")
			return err
		}))
	})
	of, err := urlOf(server, database)
	require.NoError(t, err)
	pool, err := pg.Open(ctx, of)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func onServer(ctx context.Context, server string, run func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return run(conn)
}

// read returns the text of each migration, without goose, whose annotations are SQL comments.
func read(migrations fs.FS) ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	files := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		// CONCURRENTLY would wait for the transactions of all other tests, and is not needed before
		// the schema is in use.
		files[i] = strings.ReplaceAll(string(text), " CONCURRENTLY", "")
	}
	return files, nil
}

// makeTemplate returns the name of the database with the migrations and rows, and creates it if the
// server does not have it. The name contains their hash. A persistent server keeps one template of
// about 10 MB for each version of a service's migrations, and those with rows.
func makeTemplate(
	ctx context.Context, conn *pgx.Conn, server string, files []string, rows Rows,
) (string, error) {
	content := strings.Join(append(files, rows.Version), "\x00")
	template := fmt.Sprintf("template_%x", sha256.Sum256([]byte(content)))[:40]
	var exists bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`,
		template).Scan(&exists)
	if err != nil || exists {
		return template, err
	}
	// Tests of other packages may create it at the same time. The lock ends with the connection.
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext($1))`, template); err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`,
		template).Scan(&exists)
	if err != nil || exists {
		return template, err
	}
	// An interrupted test leaves the database with its temporary name.
	made := template + "_new"
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+made+" WITH (FORCE)"); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+made); err != nil {
		return "", err
	}
	if err := migrate(ctx, server, made, files, rows); err != nil {
		return "", err
	}
	// Autovacuum does not connect to it either, so it is always free to be copied.
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+made+" ALLOW_CONNECTIONS false"); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+made+" RENAME TO "+template)
	return template, err
}

// migrate applies the migrations and inserts the rows.
func migrate(ctx context.Context, server, database string, files []string, rows Rows) error {
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return err
	}
	config.Database, config.RuntimeParams["search_path"] = database, schema
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for i, text := range append([]string{"CREATE SCHEMA " + schema}, files...) {
		if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("applying migration %d: %w", i, err)
		}
	}
	if rows.Insert == nil {
		return nil
	}
	return rows.Insert(ctx, conn)
}

// clone creates a database as a copy of the template. From PostgreSQL 15 on, copying blocks instead
// of files is the default. It needs three times as much processor time.
func clone(ctx context.Context, conn *pgx.Conn, database, template string) error {
	statement := "CREATE DATABASE " + database + " TEMPLATE " + template
	major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	if version, _ := strconv.Atoi(major); version >= 15 {
		statement += " STRATEGY file_copy"
	}
	_, err := conn.Exec(ctx, statement)
	return err
}

func urlOf(server, database string) (string, error) {
	target, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	target.Path = "/" + database
	q := target.Query()
	q.Set("search_path", schema)
	// Many tests run in parallel on one server, so a new connection may wait longer than the second
	// that a service allows.
	q.Set("pool_max_conns", "8")
	q.Set("connect_timeout", "60")
	target.RawQuery = q.Encode()
	return target.String(), nil
}

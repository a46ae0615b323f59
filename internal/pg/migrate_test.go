package pg_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestMigrateConcurrently(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	db := openSchema(t, url, name)
	require.Error(t, pg.CheckMigrated(t.Context(), db, migrations))
	var all sync.WaitGroup
	failures := make(chan error, 2)
	for range cap(failures) {
		all.Go(func() { failures <- pg.Migrate(t.Context(), url, name, migrations) })
	}
	all.Wait()
	for range cap(failures) {
		require.NoError(t, <-failures)
	}
	require.NoError(t, pg.CheckMigrated(t.Context(), db, migrations))
	later := withSecond("SELECT 1;")
	require.ErrorContains(t, pg.AwaitSchema(t.Context(), db, later, nil), "the schema is behind")
	require.ErrorContains(t, pg.Migrate(t.Context(), url, "x; DROP TABLE things", migrations),
		"not a plain identifier")
}

// TestMigrateGrantsConcurrently migrates a schema without pending migrations many times at once:
// all that is left to do is to grant. Concurrent grants on a table fail unless each waits for the
// one before.
func TestMigrateGrantsConcurrently(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	require.NoError(t, pg.Migrate(t.Context(), url, name, migrations))
	var all sync.WaitGroup
	failures := make(chan error, 6)
	for range cap(failures) {
		all.Go(func() { failures <- pg.Migrate(t.Context(), url, name, migrations) })
	}
	all.Wait()
	for range cap(failures) {
		require.NoError(t, <-failures)
	}
}

// TestMigrateGrantsNewTables fails after the first of two migrations, whose table the role of the
// service can already use.
func TestMigrateGrantsNewTables(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	require.Error(t, pg.Migrate(t.Context(), url, name, fstest.MapFS{
		"migrations/0001_a.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (n bigserial);")},
		"migrations/0002_b.sql": {Data: []byte("-- +goose Up\nSELECT 1 / 0;")},
	}))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	pgtest.Exec(t, conn, fmt.Sprintf(`
		GRANT USAGE ON SCHEMA %[1]s TO %[1]s; SET ROLE %[1]s;
		INSERT INTO %[1]s.a DEFAULT VALUES`, name))
}

// TestMigrateKeepsTheLockTimeout migrates after a migration that sets its own lock timeout.
func TestMigrateKeepsTheLockTimeout(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	require.NoError(t, pg.Migrate(t.Context(), url, name, fstest.MapFS{
		"migrations/0001_a.sql": {
			Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nSET lock_timeout = 0;"),
		},
		"migrations/0002_b.sql": {Data: []byte("-- +goose Up\n" +
			"CREATE TABLE b AS SELECT current_setting('lock_timeout') AS lock_timeout;")},
	}))
	require.Equal(t, "2s", pgtest.Value[string](t, openSchema(t, url, name),
		`SELECT lock_timeout FROM b`))
}

// TestMigrateYieldsToTransactionsOnItsTable holds a table lock for longer than the lock timeout of
// a migration. Meanwhile other statements on the table must not wait behind the migration for long.
func TestMigrateYieldsToTransactionsOnItsTable(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	require.NoError(t, pg.Migrate(t.Context(), url, name, migrations))
	db := openSchema(t, url, name)
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, `SELECT FROM things`)

	migrated := make(chan error, 1)
	go func() {
		migrated <- pg.Migrate(t.Context(), url, name,
			withSecond("ALTER TABLE things ADD COLUMN more int;"))
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := db.QueryRow(t.Context(), `
			SELECT EXISTS (SELECT FROM pg_locks
				WHERE relation = 'things'::regclass AND NOT granted)`).Scan(&waiting)
		return err == nil && waiting
	}, time.Minute, 10*time.Millisecond)
	patient, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = db.Exec(patient, `SELECT FROM things`)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-migrated)
}

// TestMigrateCreatesIndexConcurrently uses the form that CONTRIBUTING.md asks for. It waits for
// earlier transactions without a timeout, and blocks no writer.
func TestMigrateCreatesIndexConcurrently(t *testing.T) {
	t.Parallel()
	url, name := schemaToMigrate(t)
	require.NoError(t, pg.Migrate(t.Context(), url, name, migrations))
	db := openSchema(t, url, name)
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE things SET n = n`)
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() {
		second := withSecond("SET lock_timeout = 0;\nDROP INDEX IF EXISTS things_n;\n" +
			"CREATE INDEX CONCURRENTLY things_n ON things (n);")
		file := second["migrations/0002_more.sql"]
		file.Data = append([]byte("-- +goose NO TRANSACTION\n"), file.Data...)
		migrated <- pg.Migrate(t.Context(), url, name, second)
	}()
	for range 3 {
		select {
		case err := <-migrated:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Second):
		}
		_, err = db.Exec(t.Context(),
			`INSERT INTO things (id, n) SELECT max(id) + 1, 1 FROM things`)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-migrated)
	valid := pgtest.Value[bool](t, db,
		`SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_n'::regclass`)
	require.True(t, valid)
}

func withSecond(sql string) fstest.MapFS {
	return fstest.MapFS{
		"migrations/0001_things.sql": migrations["migrations/0001_things.sql"],
		"migrations/0002_more.sql":   {Data: []byte("-- +goose Up\n" + sql)},
	}
}

// schemaToMigrate creates a role. It returns the role's name and the URL of a user that may create
// the schema of that name.
func schemaToMigrate(t *testing.T) (url, name string) {
	t.Helper()
	if url = os.Getenv("TEST_DATABASE_URL"); url == "" {
		t.Skip("needs TEST_DATABASE_URL")
	}
	name = "migrated_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	do := func(sql string) {
		conn, err := pgx.Connect(context.Background(), url)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), sql)
		require.NoError(t, err)
	}
	do(`CREATE ROLE ` + name)
	t.Cleanup(func() {
		do(fmt.Sprintf(`DROP SCHEMA IF EXISTS %[1]s CASCADE; DROP ROLE %[1]s`, name))
	})
	return url, name
}

func withSearchPath(url, name string) string {
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	return url + separator + "search_path=" + name
}

func openSchema(t *testing.T, url, name string) *pgxpool.Pool {
	t.Helper()
	db, err := pg.Open(t.Context(), withSearchPath(url, name))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

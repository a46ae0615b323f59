package pg_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

var migrations = fstest.MapFS{"migrations/0001_things.sql": {Data: []byte(`-- +goose Up
CREATE TABLE things (id int PRIMARY KEY, n int NOT NULL CONSTRAINT things_n_positive CHECK (n > 0));
INSERT INTO things (id, n) VALUES (1, 1), (2, 1);`)}}

func TestInTxCommitsOrRollsBack(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	count := func() (n int) {
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM things`).Scan(&n))
		return n
	}
	insert := func(ctx context.Context, tx pgx.Tx, id int) {
		_, err := tx.Exec(ctx, `INSERT INTO things (id, n) VALUES ($1, 1)`, id)
		require.NoError(t, err)
	}
	failure := errors.New("no")
	require.ErrorIs(t, pg.InTx(t.Context(), db, func(tx pgx.Tx) error { insert(t.Context(), tx, 3); return failure }), failure)
	require.Equal(t, 2, count())

	canceled, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, pg.InTx(canceled, db, func(tx pgx.Tx) error { insert(canceled, tx, 3); cancel(); return nil }), context.Canceled)
	require.Equal(t, 2, count())
	require.Panics(t, func() {
		_ = pg.InTx(t.Context(), db, func(tx pgx.Tx) error { insert(t.Context(), tx, 3); panic("no") })
	})
	require.Equal(t, 2, count())
	require.Zero(t, db.Stat().AcquiredConns(), "no connection is left in a transaction")

	require.NoError(t, pg.InTx(t.Context(), db, func(tx pgx.Tx) error { insert(t.Context(), tx, 3); return nil }))
	require.Equal(t, 3, count())
}

// TestInTxRetriesDeadlock makes two transactions lock two rows in opposite order.
func TestInTxRetriesDeadlock(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	var holding, both sync.WaitGroup
	holding.Add(2)
	tries := make(chan struct{}, 8)
	for patience, order := range map[string][]int{"20ms": {1, 2}, "2s": {2, 1}} {
		both.Go(func() {
			met := false
			err := pg.InTx(t.Context(), db, func(tx pgx.Tx) error {
				tries <- struct{}{}
				// The transaction that detects the deadlock is the victim. With equal timeouts both might
				// detect it.
				if _, err := tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = '`+patience+`'`); err != nil {
					return err
				}
				for _, id := range order {
					if _, err := tx.Exec(t.Context(), `UPDATE things SET n = n + 1 WHERE id = $1`, id); err != nil {
						return err
					}
					if !met {
						met = true
						holding.Done()
						holding.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	require.GreaterOrEqual(t, len(tries), 3, "one of the two was the deadlock's victim")
	var n int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT sum(n) FROM things`).Scan(&n))
	require.Equal(t, 6, n)

	endless := 0
	require.Error(t, pg.Retry(func() error { endless++; return &pgconn.PgError{Code: "40001"} }))
	require.Equal(t, 3, endless, "attempts")
}

func TestIsViolationAndIsDataError(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	_, err := db.Exec(t.Context(), `INSERT INTO things (id, n) VALUES (3, 0)`)
	err = fmt.Errorf("inserting: %w", err)
	require.True(t, pg.IsViolation(err, "things_n_positive"))
	require.False(t, pg.IsViolation(err, "things_pkey"))
	require.True(t, pg.IsDataError(err))
	require.False(t, pg.IsUnavailable(err))
	_, err = db.Exec(t.Context(), `SELECT 2147483647::int + 1`)
	require.True(t, pg.IsOutOfRange(err))
	require.False(t, pg.IsViolation(err, ""))
}

func TestIsUnavailableAfterConnectionEnds(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, migrations)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, conn.Conn().PgConn().PID())
	require.NoError(t, err)
	for range 2 {
		_, err = conn.Exec(t.Context(), `SELECT 1`)
		require.Error(t, err)
		require.True(t, pg.IsUnavailable(err), "%v", err)
	}
	_, err = pool.Exec(t.Context(), `SELECT 1/0`)
	require.False(t, pg.IsUnavailable(err), "%v", err)
}

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	for state, want := range map[string]bool{
		"08006": true,  // connection failure
		"53100": true,  // disk full
		"53200": true,  // out of memory
		"53300": true,  // too many connections
		"57P01": true,  // administrator's shutdown
		"57P02": true,  // crash of another backend
		"57P03": true,  // starting up
		"58030": true,  // I/O error
		"57014": false, // query canceled
		"22003": false, // numeric value out of range
		"40001": false, // serialization failure
		"XX001": false, // data corrupted
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			_, err := db.Exec(t.Context(), `DO $$ BEGIN RAISE 'x' USING ERRCODE = '`+state+`'; END $$`)
			require.Error(t, err)
			require.Equal(t, want, pg.IsUnavailable(fmt.Errorf("inserting: %w", err)), "%v", err)
		})
	}
}

func TestOpenReportsClosedPortAsUnavailable(t *testing.T) {
	t.Parallel()
	nobody, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := nobody.Addr().String()
	require.NoError(t, nobody.Close())
	gone, err := pg.Open(t.Context(), "postgres://u@"+addr+"/none?search_path=x")
	require.NoError(t, err, "Open does not wait for the server")
	defer gone.Close()
	begin := time.Now()
	_, err = gone.Exec(t.Context(), `SELECT 1`)
	require.True(t, pg.IsUnavailable(err), "%v", err)
	require.Less(t, time.Since(begin), 10*time.Second)
}

// TestOpenReportsSilentServerAsUnavailable covers a machine without power, which does not reject
// connections.
func TestOpenReportsSilentServerAsUnavailable(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	db, err := pg.Open(t.Context(), "postgres://u@"+silent.Addr().String()+"/none?search_path=x")
	require.NoError(t, err)
	defer db.Close()
	begin := time.Now()
	_, err = db.Exec(t.Context(), `SELECT 1`)
	require.True(t, pg.IsUnavailable(err), "%v", err)
	require.Less(t, time.Since(begin), 2*time.Second)
}

func TestOpenAndMigrateHidePasswordOfInvalidURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:hunter2@host:port/x", "mysql://u:hunter2@host/x", "postgres://u:hunter2@host/x?sslmode=maybe"} {
		_, err := pg.Open(t.Context(), url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
		err = pg.Migrate(t.Context(), url, "x", migrations)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

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
	require.ErrorContains(t, pg.Migrate(t.Context(), url, "x; DROP TABLE things", migrations), "not a plain identifier")
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
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`GRANT USAGE ON SCHEMA %[1]s TO %[1]s; SET ROLE %[1]s; INSERT INTO %[1]s.a DEFAULT VALUES`, name))
	require.NoError(t, err)
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
	_, err = tx.Exec(t.Context(), `SELECT FROM things`)
	require.NoError(t, err)

	migrated := make(chan error, 1)
	go func() {
		migrated <- pg.Migrate(t.Context(), url, name, withSecond("ALTER TABLE things ADD COLUMN more int;"))
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'things'::regclass AND NOT granted)`).Scan(&waiting)
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
		second := withSecond("SET lock_timeout = 0;\nDROP INDEX IF EXISTS things_n;\nCREATE INDEX CONCURRENTLY things_n ON things (n);")
		second["migrations/0002_more.sql"].Data = append([]byte("-- +goose NO TRANSACTION\n"), second["migrations/0002_more.sql"].Data...)
		migrated <- pg.Migrate(t.Context(), url, name, second)
	}()
	for range 3 {
		select {
		case err := <-migrated:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Second):
		}
		_, err = db.Exec(t.Context(), `INSERT INTO things (id, n) SELECT max(id) + 1, 1 FROM things`)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-migrated)
	var valid bool
	require.NoError(t, db.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_n'::regclass`).Scan(&valid))
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
	t.Cleanup(func() { do(fmt.Sprintf(`DROP SCHEMA IF EXISTS %[1]s CASCADE; DROP ROLE %[1]s`, name)) })
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

type named struct{ Name *string }

type thing struct {
	named
	Number int `db:"n"`
	Bytes  []byte
}

func TestAllScansByColumnName(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	const values = ` FROM (VALUES (1, 'one', '\x01'::bytea), (2, NULL, NULL), (3, 'three', '\x03')) AS v (n, name, bytes) ORDER BY n`
	all, err := pg.All[thing](t.Context(), db, `SELECT bytes, n, name`+values)
	require.NoError(t, err)
	require.Equal(t, []thing{
		{named: named{new("one")}, Number: 1, Bytes: []byte{1}}, {Number: 2}, {named: named{new("three")}, Number: 3, Bytes: []byte{3}},
	}, all, "no row keeps a value of the row before")

	all, err = pg.All[thing](t.Context(), db, `SELECT bytes, n, name FROM (SELECT 1 AS n, '' AS name, ''::bytea AS bytes) AS none WHERE false`)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = pg.One[thing](t.Context(), db, `SELECT bytes, n, name`+values)
	require.ErrorIs(t, err, pgx.ErrTooManyRows)
	_, err = pg.One[thing](t.Context(), db, `SELECT 1 AS n, '' AS name, ''::bytea AS bytes WHERE false`)
	require.ErrorIs(t, err, pgx.ErrNoRows)

	_, err = pg.All[thing](t.Context(), db, `SELECT n, name`+values)
	require.ErrorContains(t, err, "Bytes")
	_, err = pg.All[thing](t.Context(), db, `SELECT n, name, bytes, n + 1 AS more`+values)
	require.ErrorContains(t, err, "more")
	_, err = pg.All[thing](t.Context(), db, `SELECT n, n AS name, bytes, 1 / (n - 2)`+values)
	require.Error(t, err)
	require.Zero(t, db.Stat().AcquiredConns())
}

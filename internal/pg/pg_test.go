package pg_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	insert := func(tx pgx.Tx, id int) {
		pgtest.Exec(t, tx, `INSERT INTO things (id, n) VALUES ($1, 1)`, id)
	}
	failure := errors.New("no")
	require.ErrorIs(t, pg.InTx(t.Context(), db,
		func(tx pgx.Tx) error { insert(tx, 3); return failure }), failure)
	require.Equal(t, 2, count())

	canceled, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, pg.InTx(canceled, db,
		func(tx pgx.Tx) error { insert(tx, 3); cancel(); return nil }), context.Canceled)
	require.Equal(t, 2, count())
	require.Panics(t, func() {
		_ = pg.InTx(t.Context(), db,
			func(tx pgx.Tx) error { insert(tx, 3); panic("no") })
	})
	require.Equal(t, 2, count())
	require.Zero(t, db.Stat().AcquiredConns(), "no connection is left in a transaction")

	require.NoError(t,
		pg.InTx(t.Context(), db, func(tx pgx.Tx) error { insert(tx, 3); return nil }))
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
				// The transaction that detects the deadlock is the victim. With equal timeouts both
				// might detect it.
				_, err := tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = '`+patience+`'`)
				if err != nil {
					return err
				}
				for _, id := range order {
					_, err := tx.Exec(t.Context(), `UPDATE things SET n = n + 1 WHERE id = $1`, id)
					if err != nil {
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
	n := pgtest.Value[int](t, db, `SELECT sum(n) FROM things`)
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
	for name, want := range map[string]bool{
		"things_pkey": true, "things_pkey_102008": true, "things_pkey_": false,
		"things_pkey_other": false, "things_pkey1": false, "other_things_pkey": false,
	} {
		copied := &pgconn.PgError{Code: "23505", ConstraintName: name}
		require.Equal(t, want, pg.IsViolation(copied, "things_pkey"), name)
	}
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
			_, err := db.Exec(t.Context(),
				`DO $$ BEGIN RAISE 'x' USING ERRCODE = '`+state+`'; END $$`)
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
	for _, url := range []string{
		"postgres://u:hunter2@host:port/x", "mysql://u:hunter2@host/x",
		"postgres://u:hunter2@host/x?sslmode=maybe",
	} {
		_, err := pg.Open(t.Context(), url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
		err = pg.Migrate(t.Context(), url, "x", migrations)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

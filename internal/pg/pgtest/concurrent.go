package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// Behind runs call while hold's transaction is open, and requires that call waits for a lock of
// that transaction. It then commits the transaction and returns the result of call.
func Behind(t *testing.T, db *pgxpool.Pool, hold func(tx pgx.Tx) error, call func() error) error {
	t.Helper()
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	// The call must not wait forever if the test fails.
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	require.NoError(t, hold(tx))
	done := make(chan error, 1)
	go func() { defer close(done); done <- call() }()
	require.Eventually(t, func() bool { return waits(t, db, tx) || len(done) > 0 }, time.Minute,
		5*time.Millisecond)
	require.Empty(t, done, "the call does not wait for the lock")
	require.NoError(t, tx.Commit(t.Context()))
	return <-done
}

// Besides runs call while hold's transaction is open, and requires that call does not wait for a
// lock of that transaction.
func Besides(t *testing.T, db *pgxpool.Pool, hold func(tx pgx.Tx) error, call func() error) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	// The call must not wait forever if the test fails.
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	require.NoError(t, hold(tx))
	done := make(chan error, 1)
	go func() { defer close(done); done <- call() }()
	require.Eventually(t, func() bool { return waits(t, db, tx) || len(done) > 0 }, time.Minute,
		5*time.Millisecond)
	require.NotEmpty(t, done, "the call waits for the lock")
	require.NoError(t, <-done)
}

// waits reports whether a transaction waits for a lock of tx.
func waits(t *testing.T, db *pgxpool.Pool, tx pgx.Tx) bool {
	t.Helper()
	var waits bool
	err := db.QueryRow(t.Context(),
		`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))`,
		tx.Conn().PgConn().PID()).Scan(&waits)
	return err == nil && waits
}

// Call returns a function that calls an RPC method and returns its error, for Behind and Besides.
func Call[C, Req, Resp any](ctx C, rpc func(C, Req) (Resp, error), req Req) func() error {
	return func() error {
		_, err := rpc(ctx, req)
		return err
	}
}

// Package pg is how services talk to Postgres: a traced pool, transactions that cannot be left open, and violations told
// by SQLSTATE and constraint name.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
)

// maxConns is how many connections a service's pool has unless its URL says otherwise (pool_max_conns).
const maxConns = 16

// maxStatements is how many prepared statements a connection keeps: each takes Postgres some 50 kB, and lists have more forms,
// with every filter, order and length, than are ever in use.
const maxStatements = 128

// Querier is a pool or a transaction.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Open connects a pool to a postgres:// URL whose search_path names the service's schema. It does not wait for the
// server: a service starts while Postgres is away and says so through its readiness.
func Open(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errInvalidURL
	}
	if !strings.Contains(url, "pool_max_conns") {
		// pgx takes one per core, and a writer spends its time waiting for the disk, which commits many at once as
		// willingly as one.
		config.MaxConns = maxConns
	}
	if !strings.Contains(url, "connect_timeout") {
		// A request must learn within a second that Postgres is away.
		config.ConnConfig.ConnectTimeout = time.Second
	}
	config.ConnConfig.StatementCacheCapacity = maxStatements
	// Statements are named, not logged with arguments: amounts and e-mails stay out of traces.
	config.ConnConfig.Tracer = otelpgx.NewTracer()
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		registerIDs(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the database pool: %w", err)
	}
	// The pools of one process are told apart by their schemas.
	stats := otelpgx.WithStatsAttributes(semconv.DBNamespace(config.ConnConfig.RuntimeParams["search_path"]))
	if err := otelpgx.RecordStats(pool, stats); err != nil {
		pool.Close()
		return nil, fmt.Errorf("recording pool metrics: %w", err)
	}
	return pool, nil
}

// Ping returns nil if PostgreSQL is available. It acquires a connection; the pool checks a connection that was idle for a second.
func Ping(ctx context.Context, pool *pgxpool.Pool) error {
	return pool.AcquireFunc(ctx, func(*pgxpool.Conn) error { return nil })
}

// InTx runs fn in one transaction and commits it. It runs fn again after a serialization failure or deadlock, so fn must have no
// effects outside of the transaction.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx pgx.Tx) error) error {
	return Retry(func() error { return inTx(ctx, pool, fn) })
}

const (
	// maxAttempts is how often Retry runs a transaction.
	maxAttempts = 3
	// retryPause is the longest pause before the second attempt. It doubles for the third.
	retryPause = 20 * time.Millisecond
)

// Retry runs fn, which is a whole transaction, up to three times while it ends with a serialization failure or deadlock. It pauses
// for a random time in between. Without a pause, the victim of a deadlock can take its first lock again before the other
// transaction wakes up, and becomes the victim of the same deadlock.
func Retry(fn func() error) error {
	err := fn()
	for pause := retryPause; IsRetryable(err) && pause < retryPause<<(maxAttempts-1); pause *= 2 {
		time.Sleep(rand.N(pause))
		err = fn()
	}
	return err
}

func inTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() {
		// The request may be cancelled already; the connection must go back clean all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = tx.Rollback(ctx)
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// IsViolation reports whether err is the violation of the named constraint or unique index.
func IsViolation(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(e.Code, "23") && e.ConstraintName == constraint
}

// IsUnreachable reports that no connection to Postgres came about, so that nothing was done.
func IsUnreachable(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// IsUnavailable reports whether PostgreSQL could not be reached, went away, or lacks a resource such as disk space. The statement
// may have been executed.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	// A connection that ends in the middle of an answer, and what is asked of it afterwards.
	if IsUnreachable(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err) {
		return true
	}
	// 08: connection exceptions. 53: a full disk, no memory, too many connections. 57P: shutdown, crash, starting up. 58: failed
	// writes and other errors of the operating system.
	s := state(err)
	return slices.ContainsFunc([]string{"08", "53", "57P", "58"}, func(class string) bool { return strings.HasPrefix(s, class) }) || errors.Is(err, net.ErrClosed)
}

// IsDataError reports whether PostgreSQL rejected a statement because of its data, so that it had no effect: data exceptions
// (SQLSTATE class 22) and violated constraints (class 23).
func IsDataError(err error) bool {
	s := state(err)
	return strings.HasPrefix(s, "22") || strings.HasPrefix(s, "23")
}

// IsRetryable reports whether err is a serialization failure or a deadlock. The transaction can be tried again.
func IsRetryable(err error) bool {
	s := state(err)
	return s == "40001" || s == "40P01"
}

// IsLocked reports that a statement has given up waiting for a lock, so that nothing of it was done.
func IsLocked(err error) bool { return state(err) == "55P03" }

// IsOutOfRange reports that a number came out too large for its type.
func IsOutOfRange(err error) bool { return state(err) == "22003" }

func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Package pg connects services to PostgreSQL: connection pools, transactions, migrations, row
// mapping, and the classification of errors.
//
// Open returns a traced pool whose connections use the schema in the URL's search_path. InTx runs a
// function in a transaction, rolls back on error, panic or cancellation, and retries after a
// serialization failure or deadlock. One and All scan rows into structs by column name. The
// errors of queries name the function that ran them. Migrate updates a schema; CheckMigrated
// reports whether that is necessary, and the Await functions in await.go wait until that is done.
//
// Callers recognize errors by SQLSTATE and constraint name, never by text: IsViolation,
// IsUnavailable and the other Is functions at the end of this file. Sweep deletes expired rows on a
// schedule.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
)

const maxConns = 16

// maxStatements is the number of prepared statements that a connection caches. Each takes about 50
// kB in PostgreSQL, and the combinations of a list's filters, orders and lengths are far more than
// those in use.
const maxStatements = 128

// Querier is implemented by pools, connections and transactions.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Open returns a pool for a postgres:// URL whose search_path names the service's schema. It does
// not wait for the server: a service can start while PostgreSQL is unavailable, and reports that
// through its readiness.
func Open(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errInvalidURL
	}
	if !strings.Contains(url, "pool_max_conns") {
		// pgx's default is one connection per core, at least 4. A writer mostly waits for the disk,
		// and one sync of the disk can commit many transactions, so more connections than cores
		// increase the throughput.
		config.MaxConns = maxConns
	}
	if !strings.Contains(url, "connect_timeout") {
		// A request must fail within about a second if PostgreSQL is unavailable.
		config.ConnConfig.ConnectTimeout = time.Second
	}
	config.ConnConfig.StatementCacheCapacity = maxStatements
	// Traces contain the statements but not their arguments, such as amounts and e-mail addresses.
	config.ConnConfig.Tracer = otelpgx.NewTracer()
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		registerIDs(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the database pool: %w", err)
	}
	// The schema distinguishes the metrics of several pools in one process.
	schema := config.ConnConfig.RuntimeParams["search_path"]
	stats := otelpgx.WithStatsAttributes(semconv.DBNamespace(schema))
	if err := otelpgx.RecordStats(pool, stats); err != nil {
		pool.Close()
		return nil, fmt.Errorf("recording pool metrics: %w", err)
	}
	return pool, nil
}

// Ping returns nil if PostgreSQL is available. It acquires a connection; the pool checks a
// connection that was idle for a second.
func Ping(ctx context.Context, pool *pgxpool.Pool) error {
	return pool.AcquireFunc(ctx, func(*pgxpool.Conn) error { return nil })
}

// InTx runs fn in a transaction and commits it. If fn returns an error or panics, the transaction
// is rolled back. After a serialization failure or deadlock, fn runs again in a new transaction, so
// it must have no effects outside of it.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx pgx.Tx) error) error {
	return Retry(func() error { return inTx(ctx, pool, fn) })
}

const (
	maxAttempts = 3
	// retryPause is the longest pause before the second attempt. It doubles for the third.
	retryPause = 20 * time.Millisecond
)

// Retry runs fn up to three times while it ends with a serialization failure or deadlock. fn must
// begin and end a whole transaction. Retry pauses for a random time in between. Without a pause,
// the victim of a deadlock can take its first lock again before the other transaction wakes up, and
// becomes the victim of the same deadlock.
func Retry(fn func() error) error {
	err := fn()
	for pause := retryPause; IsRetryable(err) && pause < retryPause<<(maxAttempts-1); pause *= 2 {
		<-time.After(rand.N(pause))
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
		// The connection must return to the pool without a transaction even if the request was
		// canceled.
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

// copyNumber matches the end of the name of a copy of a constraint.
var copyNumber = regexp.MustCompile(`^_\d+$`)

// IsViolation reports whether err is a violation of the named constraint or unique index, or of one
// of its copies for partitions or shards, whose names end with an underscore and a number. The
// names that PostgreSQL 15 gives to indexes and foreign keys of partitions contain columns instead,
// so a partitioned schema must rename them (docs/scale.md).
func IsViolation(err error, constraint string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !strings.HasPrefix(e.Code, "23") {
		return false
	}
	copied, ok := strings.CutPrefix(e.ConstraintName, constraint)
	return ok && (copied == "" || copyNumber.MatchString(copied))
}

// IsUnreachable reports whether no connection to PostgreSQL could be established, so that the
// statement was not executed.
func IsUnreachable(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// IsUnavailable reports whether PostgreSQL could not be reached, went away, or lacks a resource
// such as disk space. The statement may have been executed.
func IsUnavailable(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	// The connection broke during a response, or was already closed.
	for _, broken := range []error{
		io.ErrUnexpectedEOF, io.EOF, pgconn.ErrConnClosed, net.ErrClosed,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	if IsUnreachable(err) || pgconn.SafeToRetry(err) {
		return true
	}
	// 08: connection exceptions. 53: a full disk, no memory, too many connections. 57P: shutdown,
	// crash, starting up. 58: failed writes and other errors of the operating system.
	s := state(err)
	return slices.ContainsFunc([]string{"08", "53", "57P", "58"},
		func(class string) bool { return strings.HasPrefix(s, class) })
}

// IsDiskFull reports whether PostgreSQL could not extend a file.
func IsDiskFull(err error) bool { return state(err) == "53100" }

// IsDataError reports whether PostgreSQL rejected a statement because of its data, so that it had
// no effect: data exceptions (SQLSTATE class 22) and violated constraints (class 23).
func IsDataError(err error) bool {
	s := state(err)
	return strings.HasPrefix(s, "22") || strings.HasPrefix(s, "23")
}

// IsRetryable reports whether err is a serialization failure or a deadlock.
func IsRetryable(err error) bool {
	s := state(err)
	return s == "40001" || s == "40P01"
}

// IsLocked reports whether a statement exceeded its lock timeout, so that it had no effect.
func IsLocked(err error) bool { return state(err) == "55P03" }

// IsOutOfRange reports whether a computed number exceeded the range of its type.
func IsOutOfRange(err error) bool { return state(err) == "22003" }

func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

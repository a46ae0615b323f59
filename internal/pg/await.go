package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	awaitPause = 500 * time.Millisecond
	// awaitLogEvery is how often a waiting command repeats its log line while the reason stays the same.
	awaitLogEvery = 15 * time.Second
	// awaitAttempt bounds one attempt: an address without a pod drops packets instead of refusing the connection.
	awaitAttempt = 5 * time.Second
)

// AwaitServer waits until PostgreSQL accepts a connection to url, at most for limit. Every failure counts as "not yet",
// because a server that is being set up refuses roles, passwords and databases that exist a moment later.
func AwaitServer(ctx context.Context, url string, limit time.Duration, log *slog.Logger) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errInvalidURL
	}
	return await(ctx, limit, "the database", log, func(ctx context.Context) error {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// AwaitMigrations waits until the schema of url has all migrations, at most for limit. It needs the service's own role
// only, and changes nothing.
func AwaitMigrations(ctx context.Context, url string, migrations fs.FS, limit time.Duration, log *slog.Logger) error {
	pool, err := Open(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	return await(ctx, limit, "the schema", log, func(ctx context.Context) error { return CheckMigrated(ctx, pool, migrations) })
}

// AwaitSchema waits for PostgreSQL, but not for a migration: a service must not serve on a schema that is behind.
func AwaitSchema(ctx context.Context, pool *pgxpool.Pool, migrations fs.FS, log *slog.Logger) error {
	for {
		err := CheckMigrated(ctx, pool, migrations)
		if err == nil || !IsUnavailable(err) {
			return err
		}
		log.WarnContext(ctx, "waiting for the database", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// await repeats try until it succeeds, for at most limit, and logs why it waits. Its error wraps the last failure.
func await(ctx context.Context, limit time.Duration, subject string, log *slog.Logger, try func(ctx context.Context) error) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	var last error
	var logged time.Time
	for {
		attempt, cancel := context.WithTimeout(ctx, awaitAttempt)
		err := try(attempt)
		cancel()
		if err == nil {
			return nil
		}
		// The end of the limit interrupts an attempt, and says less than the failure before it.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if time.Since(logged) > awaitLogEvery {
			log.WarnContext(ctx, "waiting for "+subject, "error", err, "limit", limit)
			logged = time.Now()
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf("gave up waiting for %s after %s: %w", subject, limit, last)
		case <-time.After(awaitPause):
		}
	}
}

package pg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

const (
	// Pods that start together take turns: each tries for the lock every second, for five minutes.
	lockEvery = 1
	lockTries = 300

	// givesWay is how often a migration is tried that finds its tables in use.
	givesWay = 20
)

// errInvalidURL replaces pgx's error, whose text may hold the password.
var errInvalidURL = errors.New("the database URL is not a valid postgres:// URL")

var identifier = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Migrate brings a schema up to date and lets the role of the same name use, but not change, what is in it. The URL is
// that of the role that owns the schemas. Several may run at once.
func Migrate(ctx context.Context, url, schema string, migrations fs.FS) error {
	if !identifier.MatchString(schema) {
		return fmt.Errorf("schema %q is no plain identifier", schema)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errInvalidURL
	}
	config.RuntimeParams["search_path"] = schema
	// Whoever waits for a table's lock makes everybody else wait behind him: better to give way, and to try again.
	config.RuntimeParams["lock_timeout"] = "2s"
	db := stdlib.OpenDB(*config)
	defer db.Close()
	if err := createSchema(ctx, db, schema); err != nil {
		return fmt.Errorf("creating schema %s: %w", schema, err)
	}
	provider, err := newProvider(db, migrations)
	if err != nil {
		return err
	}
	if err := up(ctx, provider); err != nil {
		return fmt.Errorf("migrating schema %s: %w", schema, err)
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`
		GRANT USAGE ON SCHEMA %[1]s TO %[1]s;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[1]s;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA %[1]s TO %[1]s;
		REVOKE INSERT, UPDATE, DELETE ON %[1]s.goose_db_version FROM %[1]s`, schema))
	if err != nil {
		return fmt.Errorf("granting schema %s to its role: %w", schema, err)
	}
	return nil
}

// up tries again while those who use the tables are in the way: a migration is one transaction.
func up(ctx context.Context, provider *goose.Provider) error {
	for tries := 1; ; tries++ {
		_, err := provider.Up(ctx)
		if err == nil || tries == givesWay || !IsRetryable(err) && !IsLocked(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// CheckMigrated returns an error when the schema lacks one of the migrations, so that a service does not serve on it.
func CheckMigrated(ctx context.Context, pool *pgxpool.Pool, migrations fs.FS) error {
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	sources, err := newProvider(db, migrations)
	if err != nil {
		return err
	}
	pending, err := sources.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	if pending {
		return fmt.Errorf("the schema is behind: run the migrate command first")
	}
	return nil
}

func newProvider(db *sql.DB, migrations fs.FS) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	return provider, nil
}

// createSchema takes a lock because CREATE SCHEMA IF NOT EXISTS is not safe against itself.
func createSchema(ctx context.Context, db *sql.DB, schema string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtext('coffer schema'))`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema); err != nil {
		return err
	}
	return tx.Commit()
}

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
	// Jobs that start together migrate one after the other. Each tries to get the lock every
	// lockInterval seconds, lockAttempts times: for five minutes.
	lockInterval = 1
	lockAttempts = 300

	// maxMigrationAttempts is the number of times a migration is tried while other transactions use
	// its tables.
	maxMigrationAttempts = 20
)

// errInvalidURL replaces pgx's error, whose text may contain the password.
var errInvalidURL = errors.New("the database URL is not a valid postgres:// URL")

var identifier = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Migrate applies the pending migrations to a schema, creating it if necessary. Then it grants the
// role of the same name the right to use the schema's tables, but not to alter them. The url
// connects as the role that owns the schemas. Migrate is safe to run concurrently. The error never
// contains the URL's password.
func Migrate(ctx context.Context, url, schema string, migrations fs.FS) error {
	if !identifier.MatchString(schema) {
		return fmt.Errorf("schema %q is not a plain identifier: "+
			"lower-case letters, digits and _ are allowed", schema)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errInvalidURL
	}
	config.RuntimeParams["search_path"] = schema
	// A statement that waits for a table lock blocks all later statements on the table. Give up
	// after 2 s and try again.
	config.RuntimeParams["lock_timeout"] = "2s"
	db := stdlib.OpenDB(*config)
	defer db.Close()
	// Each migration has a new session, because one may set another lock timeout.
	db.SetMaxIdleConns(-1)
	// New tables are granted as soon as they exist: a trigger of a migration may use them in
	// requests of the previous release before the last migration has ended.
	err = execLocked(ctx, db, fmt.Sprintf(`
		CREATE SCHEMA IF NOT EXISTS %[1]s;
		ALTER DEFAULT PRIVILEGES IN SCHEMA %[1]s
			GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %[1]s;
		ALTER DEFAULT PRIVILEGES IN SCHEMA %[1]s GRANT USAGE ON SEQUENCES TO %[1]s`, schema))
	if err != nil {
		return fmt.Errorf("creating schema %s: %w", schema, err)
	}
	provider, err := newProvider(db, migrations)
	if err != nil {
		return err
	}
	if err := up(ctx, provider); err != nil {
		return fmt.Errorf("migrating schema %s: %w", schema, err)
	}
	err = execLocked(ctx, db, fmt.Sprintf(`
		GRANT USAGE ON SCHEMA %[1]s TO %[1]s;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[1]s;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA %[1]s TO %[1]s;
		REVOKE INSERT, UPDATE, DELETE ON %[1]s.goose_db_version FROM %[1]s`, schema))
	if err != nil {
		return fmt.Errorf("granting schema %s to its role: %w", schema, err)
	}
	return nil
}

// up applies the pending migrations. It retries a migration after a lock timeout or a deadlock.
// That is safe because each migration is one transaction or can be repeated.
func up(ctx context.Context, provider *goose.Provider) error {
	for attempt := 1; ; attempt++ {
		_, err := provider.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err == nil {
			attempt = 0
			continue
		}
		if attempt == maxMigrationAttempts || !IsRetryable(err) && !IsLocked(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// CheckMigrated returns an error if the schema lacks one of the migrations. A service must not
// serve on such a schema.
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
		return errors.New("the schema is behind: run the migrate command first")
	}
	return nil
}

func newProvider(db *sql.DB, migrations fs.FS) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockInterval, lockAttempts))
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	return provider, nil
}

// execLocked executes statements in one transaction that holds a lock, so that concurrent
// migrations execute them one after the other. Without the lock, concurrent CREATE SCHEMA IF NOT
// EXISTS statements can fail with a unique violation, and concurrent GRANT statements with "tuple
// concurrently updated".
func execLocked(ctx context.Context, db *sql.DB, statements string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtext('coffer schema'))`)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return err
	}
	return tx.Commit()
}

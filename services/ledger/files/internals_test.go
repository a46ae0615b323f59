package files

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The tests are in package files_test, because they call the RPCs of packages that import files.

// ToStore moves all files of db into the store.
func (s *Store) ToStore(ctx context.Context, db *pgxpool.Pool) (moved, failed int, err error) {
	done, err := (&mover{db: db, store: s, log: s.log}).toStore(ctx, newID())
	return done.moved, done.failed, err
}

// MoveAll is the command move-files after the check of the schema: databases of tests have no table
// of migrations.
func (s *Store) MoveAll(
	ctx context.Context, db *pgxpool.Pool, to string, out io.Writer,
) error {
	return (&mover{db: db, store: s, log: s.log}).moveAll(ctx, to == "s3", out)
}

// CheckAll is the command check-files after the check of the schema.
func (s *Store) CheckAll(
	ctx context.Context, db *pgxpool.Pool, forget bool, out io.Writer,
) error {
	return (&mover{db: db, store: s, log: s.log}).check(ctx, forget, out)
}

// ToPostgres moves all files into db.
func (s *Store) ToPostgres(ctx context.Context, db *pgxpool.Pool) (moved, failed int, err error) {
	done, err := (&mover{db: db, store: s, log: s.log}).toPostgres(ctx)
	return done.moved, done.failed, err
}

// Wait sets the time after which a request without progress ends.
func (s *Store) Wait(d time.Duration) { s.wait = d }

// Claim makes a listed object one that a row will name.
func Claim(ctx context.Context, tx pgx.Tx, owner, object uuid.UUID) (bool, error) {
	return deleteListed(ctx, tx, Object{OwnerID: owner, ID: object})
}

// MarkRemoving is a step of a sweep.
func MarkRemoving(ctx context.Context, db *pgxpool.Pool, owner uuid.UUID, now time.Time) error {
	return updateRemoving(ctx, db, owner, now.Add(-Retention))
}

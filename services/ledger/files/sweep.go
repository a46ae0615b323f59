package files

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Retention is the time for which the object of a deleted file is kept. A copy of the bucket that
// begins within it after a backup of the database has all files of the backup. It is also longer
// than any request that reads or writes an object.
const Retention = 24 * time.Hour

// SweepInterval is the time between calls of Sweep.
const SweepInterval = 10 * time.Minute

// Sweep removes the objects that were listed before Retention and that no row names. It may run in
// several processes at the same time, and can end at any point. It does nothing without a store, or
// if the store is read-only.
func (s *Store) Sweep(ctx context.Context, db *pgxpool.Pool, now time.Time) error {
	if s == nil || s.readOnly {
		return nil
	}
	before := now.Add(-Retention)
	return pg.SweepOwners(func() ([]uuid.UUID, error) {
		return selectExpired(ctx, db, before)
	}, func(owner uuid.UUID) (bool, error) {
		return s.sweepOwner(ctx, db, owner, before)
	})
}

// Erase removes all objects of an owner that no row names any more, without waiting for Retention:
// a restored backup needs none of them, because the owner is erased again. Without a store, or if
// the store is read-only, it returns an error if there are any.
func (s *Store) Erase(
	ctx context.Context, db *pgxpool.Pool, owner uuid.UUID, now time.Time,
) error {
	if s == nil || s.readOnly {
		size, err := SelectUnreferenced(ctx, db, owner)
		if err == nil && size > 0 {
			err = errNotWritable
		}
		return err
	}
	for found := true; found; {
		var err error
		if found, err = s.sweepOwner(ctx, db, owner, now.Add(Retention)); err != nil {
			return err
		}
	}
	return nil
}

// sweepOwner removes objects of an owner, and reports whether there were any.
func (s *Store) sweepOwner(
	ctx context.Context, db *pgxpool.Pool, owner uuid.UUID, before time.Time,
) (bool, error) {
	if err := unlistNamed(ctx, db, owner, before); err != nil {
		return false, err
	}
	if err := updateRemoving(ctx, db, owner, before); err != nil {
		return false, err
	}
	removing, err := selectRemoving(ctx, db, owner)
	if err != nil {
		return false, err
	}
	for _, id := range removing {
		object := Object{OwnerID: owner, ID: id}
		if err := s.remove(ctx, object); err != nil {
			return false, err
		}
		if err := deleteRemoved(ctx, db, object); err != nil {
			return false, err
		}
	}
	return len(removing) > 0, nil
}

package staging

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// StartUndo queues the undo of an import. It does not count the rows, which may be deleted already
// if the import was undone before.
func StartUndo(ctx context.Context, q pg.Querier, e Import, force bool, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET status = 'undoing', problem = '', undo_force = $3, job_done = 0, job_total = booked,
			updated_at = $4, attempts = 0
		WHERE owner_id = $1 AND id = $2`, e.OwnerID, e.ID, force, now)
}

// MarkDeleted hides an import from all requests. A job deletes it.
func MarkDeleted(ctx context.Context, q pg.Querier, e Import, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET status = 'deleting', updated_at = $3, attempts = 0
		WHERE owner_id = $1 AND id = $2`, e.OwnerID, e.ID, now)
}

// DeleteImport deletes an import with its rows.
func DeleteImport(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM imports WHERE owner_id = $1 AND id = $2`, owner, id)
}

// Expire marks imports as deleted whose upload stopped an hour ago, and imports that were not
// committed within 7 days. Jobs delete them in chunks, because an import may have 200 000 rows. It
// deletes the rows of imports that were undone 7 days ago.
func Expire(ctx context.Context, q pg.Querier, now time.Time) error {
	stopped, abandoned := now.Add(-time.Hour), now.Add(-keepTime)
	err := pg.SweepOwners(func() ([]uuid.UUID, error) {
		return selectAbandoned(ctx, q, stopped, abandoned)
	}, func(owner uuid.UUID) (bool, error) {
		return pg.Affected(ctx, q, `
			UPDATE imports
			SET status = 'deleting', updated_at = $4, attempts = 0
			WHERE owner_id = $1 AND (status = 'uploading' AND updated_at < $2
				OR status = 'preview' AND updated_at < $3)`, owner, stopped, abandoned, now)
	})
	if err != nil {
		return err
	}
	for {
		if more, err := emptyUndone(ctx, q, now); err != nil || !more {
			return err
		}
	}
}

// selectAbandoned returns the owners of imports whose upload stopped before a time, and of imports
// that were not committed since a time.
func selectAbandoned(
	ctx context.Context, q pg.Querier, stopped, abandoned time.Time,
) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT owner_id
		FROM imports
		WHERE status = 'uploading' AND updated_at < $1 OR status = 'preview' AND updated_at < $2
		LIMIT 1000`, stopped, abandoned)
}

const (
	// keepTime is the time for which the rows of a preview, and those of an undone import, are
	// kept.
	keepTime = 7 * 24 * time.Hour
	// emptiedRows is the number of rows that a statement deletes.
	emptiedRows = 5000
)

// emptyUndone deletes the next rows of the import that was undone first, and reports whether there
// was one. The rows of transactions that the undo has kept stay.
func emptyUndone(ctx context.Context, q pg.Querier, now time.Time) (more bool, err error) {
	type undone struct {
		OwnerID uuid.UUID `db:"owner_id"`
		ID      uuid.UUID
	}
	found, err := pg.One[undone](ctx, q, `
		SELECT owner_id, id
		FROM imports
		WHERE status = 'undone' AND NOT emptied AND updated_at < $1
		ORDER BY updated_at
		LIMIT 1`, now.Add(-keepTime))
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = pg.Exec(ctx, q, `
		WITH next AS MATERIALIZED (
			SELECT n
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND transaction_id IS NULL
			ORDER BY n
			LIMIT $3
		), deleted AS (
			DELETE FROM import_rows
			WHERE owner_id = $1 AND import_id = $2 AND n IN (SELECT n FROM next)
				AND n BETWEEN (SELECT min(n) FROM next) AND (SELECT max(n) FROM next)
		)
		UPDATE imports
		SET emptied = true
		WHERE owner_id = $1 AND id = $2 AND (SELECT count(*) FROM next) < $3`,
		found.OwnerID, found.ID, emptiedRows)
	if err != nil {
		return false, err
	}
	return true, nil
}

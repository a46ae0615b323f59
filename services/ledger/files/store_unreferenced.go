package files

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// insertUnreferenced lists an object that will be written.
func insertUnreferenced(ctx context.Context, q pg.Querier, o Object) error {
	return pg.Exec(ctx, q,
		`INSERT INTO unreferenced_objects (owner_id, id, size) VALUES ($1, $2, $3)`,
		o.OwnerID, o.ID, o.Size)
}

// deleteListed removes an object from the list, because a row will name it, or because it does not
// exist. It returns false if the object is not listed, or is being removed.
func deleteListed(ctx context.Context, q pg.Querier, o Object) (bool, error) {
	return pg.Affected(ctx, q,
		`DELETE FROM unreferenced_objects WHERE owner_id = $1 AND id = $2 AND NOT removing`,
		o.OwnerID, o.ID)
}

// insertUnknown lists an object of the bucket that no row names. It returns false if a row names
// the object, or if it is listed already.
func insertUnknown(ctx context.Context, q pg.Querier, o Object) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO unreferenced_objects (owner_id, id, size)
		SELECT $1::uuid, $2::uuid, $3
		WHERE NOT EXISTS (
			SELECT FROM attachments a WHERE a.owner_id = $1 AND a.object = $2
		) AND NOT EXISTS (
			SELECT FROM receipt_images i WHERE i.owner_id = $1 AND i.object = $2
		)
		ON CONFLICT DO NOTHING`, o.OwnerID, o.ID, o.Size)
}

// selectExpired returns the owners of some objects that were listed before a time.
func selectExpired(ctx context.Context, q pg.Querier, before time.Time) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT owner_id
		FROM unreferenced_objects
		WHERE created_at < $1
		LIMIT 1000`, before)
}

// unlistNamed removes the objects of an owner that rows name from the list. An object that was
// written while insertUnknown ran may be both.
func unlistNamed(ctx context.Context, q pg.Querier, owner uuid.UUID, before time.Time) error {
	return pg.Exec(ctx, q, `
		DELETE FROM unreferenced_objects u
		WHERE u.owner_id = $1 AND u.created_at < $2 AND NOT u.removing AND (EXISTS (
			SELECT FROM attachments a WHERE a.owner_id = $1 AND a.object = u.id
		) OR EXISTS (
			SELECT FROM receipt_images i WHERE i.owner_id = $1 AND i.object = u.id
		))`, owner, before)
}

// updateRemoving marks the listed objects of an owner that are to be removed. After it has
// committed, no row can name them, because deleteListed does not find them.
func updateRemoving(ctx context.Context, q pg.Querier, owner uuid.UUID, before time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE unreferenced_objects u
		SET removing = true
		WHERE u.owner_id = $1 AND u.created_at < $2 AND NOT u.removing AND NOT EXISTS (
			SELECT FROM attachments a WHERE a.owner_id = $1 AND a.object = u.id
		) AND NOT EXISTS (
			SELECT FROM receipt_images i WHERE i.owner_id = $1 AND i.object = u.id
		)`, owner, before)
}

// selectRemoving returns up to batch objects of an owner that are being removed.
func selectRemoving(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT id
		FROM unreferenced_objects
		WHERE owner_id = $1 AND removing
		ORDER BY created_at
		LIMIT $2`, owner, batch)
}

// deleteRemoved removes a removed object from the list.
func deleteRemoved(ctx context.Context, q pg.Querier, o Object) error {
	return pg.Exec(ctx, q,
		`DELETE FROM unreferenced_objects WHERE owner_id = $1 AND id = $2`, o.OwnerID, o.ID)
}

// SelectUnreferenced returns the total size of the objects of an owner that no row names, in bytes.
func SelectUnreferenced(ctx context.Context, q pg.Querier, owner uuid.UUID) (int64, error) {
	return pg.Value[int64](ctx, q, `
		SELECT coalesce(sum(size), 0)::bigint
		FROM unreferenced_objects
		WHERE owner_id = $1`, owner)
}

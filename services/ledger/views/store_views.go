package views

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// view is a row of views.
type view struct {
	OwnerID    uuid.UUID `db:"owner_id"`
	ID         uuid.UUID
	Name, Kind string
	Query      string
	Version    int64
	CreatedAt  time.Time `db:"created_at"`
	UpdatedAt  time.Time `db:"updated_at"`
}

const viewColumns = `owner_id, id, name, kind, query, version, created_at, updated_at`

// insertView reports whether the owner had fewer than maxViews. The caller shares the owner's lock.
func insertView(ctx context.Context, q pg.Querier, v view) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO views (owner_id, id, name, kind, query, version, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8
		WHERE (SELECT count(*) FROM views WHERE owner_id = $1) < $9`,
		v.OwnerID, v.ID, v.Name, v.Kind, v.Query, v.Version, v.CreatedAt, v.UpdatedAt, maxViews)
}

func selectViews(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]view, error) {
	return pg.All[view](ctx, q, `
		SELECT `+viewColumns+` FROM views WHERE owner_id = $1 ORDER BY lower(name), id`, owner)
}

// selectView returns pgx.ErrNoRows for an id that is unknown or another owner's.
func selectView(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (view, error) {
	return pg.One[view](ctx, q,
		`SELECT `+viewColumns+` FROM views WHERE owner_id = $1 AND id = $2`, owner, id)
}

// lockView returns the same, and locks the row.
func lockView(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (view, error) {
	return pg.One[view](ctx, q, `
		SELECT `+viewColumns+` FROM views WHERE owner_id = $1 AND id = $2 FOR UPDATE`, owner, id)
}

// updateView writes the fields that an owner can change, and the version.
func updateView(ctx context.Context, q pg.Querier, v view) error {
	return pg.Exec(ctx, q, `
		UPDATE views
		SET name = $3, query = $4, version = $5, updated_at = $6
		WHERE owner_id = $1 AND id = $2`,
		v.OwnerID, v.ID, v.Name, v.Query, v.Version, v.UpdatedAt)
}

func deleteView(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM views WHERE owner_id = $1 AND id = $2`, owner, id)
}

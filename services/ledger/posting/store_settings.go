package posting

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// SelectTimeZone returns the time zone of an owner's settings, or "" without settings.
func SelectTimeZone(ctx context.Context, q pg.Querier, owner uuid.UUID) (string, error) {
	zone, err := pg.Value[string](ctx, q,
		`SELECT time_zone FROM settings WHERE owner_id = $1`, owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return zone, err
}

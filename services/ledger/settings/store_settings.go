package settings

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Row is a row of settings.
type Row struct {
	OwnerID   uuid.UUID `db:"owner_id"`
	TimeZone  string    `db:"time_zone"`
	WeekStart string    `db:"week_start"`
	// Locale and BaseCurrency are empty if the owner set none.
	Locale            string
	BaseCurrency      string     `db:"base_currency"`
	DefaultWalletID   *uuid.UUID `db:"default_wallet_id"`
	DefaultCategoryID *uuid.UUID `db:"default_category_id"`
	// Version is 0 if the owner has no row, and increases with each change.
	Version   int64
	UpdatedAt time.Time `db:"updated_at"`
}

// Select returns the settings of an owner. Without a row it returns the defaults.
func Select(ctx context.Context, q pg.Querier, owner uuid.UUID) (Row, error) {
	r, err := pg.One[Row](ctx, q, `
		SELECT owner_id, time_zone, week_start, locale, base_currency, default_wallet_id,
			default_category_id, version, updated_at
		FROM settings
		WHERE owner_id = $1`, owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return Row{OwnerID: owner, TimeZone: "UTC", WeekStart: "monday"}, nil
	}
	return r, err
}

// upsert writes the settings of an owner. The caller has called posting.ShareOwner, so the version
// that it read is still the current one. A deletion of a default wallet or category waits until
// this transaction ends (posting.LockOwner).
func upsert(ctx context.Context, q pg.Querier, row Row) error {
	return pg.Exec(ctx, q, `
		INSERT INTO settings (owner_id, time_zone, week_start, locale, base_currency,
			default_wallet_id, default_category_id, version, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (owner_id) DO UPDATE
		SET time_zone = $2, week_start = $3, locale = $4, base_currency = $5,
			default_wallet_id = $6, default_category_id = $7,
			version = $8, updated_at = $9`,
		row.OwnerID, row.TimeZone, row.WeekStart, row.Locale, row.BaseCurrency, row.DefaultWalletID,
		row.DefaultCategoryID, row.Version, row.UpdatedAt)
}

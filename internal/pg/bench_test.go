package pg_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// pageRow has the columns of a transaction.
type pageRow struct {
	ID          uuid.UUID
	OwnerID     uuid.UUID `db:"owner_id"`
	AmountMinor int64     `db:"amount_minor"`
	Description string
	Date        time.Time
	Currency    string
	WalletID    uuid.UUID  `db:"wallet_id"`
	CategoryID  uuid.UUID  `db:"category_id"`
	ReceiptID   *uuid.UUID `db:"receipt_id"`
	Version     int64
	CreatedAt   time.Time `db:"created_at"`
	UpdatedAt   time.Time `db:"updated_at"`
}

// selectPage selects a page of 50 rows.
const selectPage = `
	SELECT $1::uuid AS id, $1::uuid AS owner_id, n AS amount_minor, 'groceries' AS description,
		now() AS date, 'EUR' AS currency,
		$1::uuid AS wallet_id, $1::uuid AS category_id, NULL::uuid AS receipt_id,
		1::bigint AS version, now() AS created_at,
		now() AS updated_at
	FROM generate_series(1::bigint, 50) AS n`

// withAndWithoutCodec returns a pool as Open configures it, and one without its UUID codec.
func withAndWithoutCodec(b *testing.B) (with, without *pgxpool.Pool) {
	b.Helper()
	with = pgtest.New(b, migrations)
	config := with.Config()
	config.AfterConnect = nil
	without, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(without.Close)
	return with, without
}

// BenchmarkPage compares ways to read a page of 50 rows.
func BenchmarkPage(b *testing.B) {
	with, without := withAndWithoutCodec(b)
	byName := func(db *pgxpool.Pool, id uuid.UUID) ([]pageRow, error) {
		rows, err := db.Query(b.Context(), selectPage, id)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowToStructByName[pageRow])
	}
	all := func(db *pgxpool.Pool, id uuid.UUID) ([]pageRow, error) {
		return pg.All[pageRow](b.Context(), db, selectPage, id)
	}
	for _, tc := range []struct {
		name string
		db   *pgxpool.Pool
		read func(*pgxpool.Pool, uuid.UUID) ([]pageRow, error)
	}{
		{"All", with, all},
		{"RowToStructByName", with, byName},
		{"All without the UUID codec", without, all},
	} {
		b.Run(tc.name, func(b *testing.B) {
			id := uuid.New()
			b.ReportAllocs()
			for b.Loop() {
				page, err := tc.read(tc.db, id)
				if err != nil || len(page) != 50 {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}

// BenchmarkEncodeIDs compares the ways to send the ids of a group of 64 creates.
func BenchmarkEncodeIDs(b *testing.B) {
	with, without := withAndWithoutCodec(b)
	ids := make([]uuid.UUID, 64)
	categories := make([]*uuid.UUID, len(ids))
	for i := range ids {
		ids[i] = uuid.New()
		categories[i] = &ids[i]
	}
	for name, db := range map[string]*pgxpool.Pool{"codec": with, "without": without} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var n int
				err := db.QueryRow(b.Context(), `
					SELECT cardinality($1::uuid[]) + cardinality($2::uuid[])
						+ cardinality($3::uuid[]) + cardinality($4::uuid[])`,
					ids, ids, ids, categories).Scan(&n)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

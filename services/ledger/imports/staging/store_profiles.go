package staging

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
)

// maxProfiles is the maximum number of profiles of a user. Further profiles replace the oldest
// ones.
const maxProfiles = 200

// Profile is a row of import_profiles: a mapping that a commit saved.
type Profile struct {
	ID      uuid.UUID
	Heading []string
	// Mapping is a mapping.Mapping in JSON.
	Mapping   json.RawMessage
	UpdatedAt time.Time `db:"updated_at"`
}

// Bytes returns the approximate size of p in a response.
func (p Profile) Bytes() int {
	size := 100 + len(p.Mapping)
	for _, cell := range p.Heading {
		size += len(cell) + 2
	}
	return size
}

// headingHash returns the key of a file's heading. A bank that changes its columns also changes the
// key, so an old mapping is never applied to new columns. A workbook has its own key, because its
// dates and amounts are written in another way than those of a CSV file with the same heading.
func headingHash(format string, heading []string) []byte {
	key := strings.Join(heading, "\x1f")
	if format != statement.CSV {
		key = format + "\x1e" + key
	}
	h := sha256.Sum256([]byte(key))
	return h[:]
}

// SelectProfile returns the mapping that was saved for a format and a heading, or pgx.ErrNoRows.
func SelectProfile(
	ctx context.Context, q pg.Querier, owner uuid.UUID, format string, heading []string,
) (Profile, error) {
	return pg.One[Profile](ctx, q, `
		SELECT id, heading, mapping, updated_at FROM import_profiles
		WHERE owner_id = $1 AND sha256 = $2`,
		owner, headingHash(format, heading))
}

// SelectProfiles returns the owner's profiles, newest first.
func SelectProfiles(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]Profile, error) {
	return pg.All[Profile](ctx, q, `
		SELECT id, heading, mapping, updated_at FROM import_profiles
		WHERE owner_id = $1 ORDER BY updated_at DESC, id LIMIT $2`,
		owner, maxProfiles)
}

// SaveProfile stores the mapping of a heading, and deletes the oldest profiles beyond maxProfiles.
func SaveProfile(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, heading []string,
	columns mapping.Mapping, now time.Time,
) error {
	columns.DatesUntil = "" // It is that of one file.
	encoded, err := json.Marshal(columns)
	if err != nil {
		return fmt.Errorf("encoding a mapping: %w", err)
	}
	return pg.Exec(ctx, q, `
		WITH surplus AS (
			DELETE FROM import_profiles p
			WHERE owner_id = $1 AND sha256 <> $4
				AND id IN (SELECT id FROM import_profiles
					WHERE owner_id = $1 ORDER BY updated_at DESC, id OFFSET $7)
		)
		INSERT INTO import_profiles (owner_id, id, heading, sha256, mapping, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (owner_id, sha256) DO UPDATE
		SET mapping = EXCLUDED.mapping, updated_at = EXCLUDED.updated_at`,
		owner, id, list(heading), headingHash(columns.Format, heading), encoded, now, maxProfiles-1)
}

// DeleteProfile deletes a profile, and reports whether it existed.
func DeleteProfile(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q,
		`DELETE FROM import_profiles WHERE owner_id = $1 AND id = $2`, owner, id)
}

// Heading returns the cells of the heading, or nil if the file has none. Other formats than CSV and
// XLSX have fixed columns.
func Heading(ctx context.Context, q pg.Querier, e *Import, m *mapping.Mapping) ([]string, error) {
	if m.Format != statement.CSV && m.Format != statement.XLSX || !m.Header {
		return nil, nil
	}
	rows, err := SelectRowsAfter(ctx, q, e.OwnerID, e.ID, int32(m.SkipRows), 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].Cells, nil
}

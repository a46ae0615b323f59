package staging

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// ImportColumns are the columns of an Import of the owner $1. The subquery of stale finds the ids
// in the details that are no wallets or categories any more. Details are not changed by merges and
// deletions, because a request that derives rows may hold the lock of an import for seconds.
const ImportColumns = `owner_id, id, status, file_name, size, sha256, format, details, ready,
	duplicate, matched, pending, invalid, skipped, booked, undone, first_date, last_date, job_done,
	job_total, problem, undo_force, underived, change, derivation, derived, amended,
	amended_by, version, created_at,
	updated_at, (
		SELECT coalesce(jsonb_object_agg(named.id, coalesce(m.category_id::text, '')), '{}')
		FROM (
			SELECT jsonb_path_query(imports.details, '$.accounts[*].walletId') #>> '{}' AS id
			UNION SELECT jsonb_path_query(imports.details, '$.categories[*].categoryId') #>> '{}'
			UNION SELECT jsonb_path_query(imports.details, '$.defaults.walletId') #>> '{}'
			UNION SELECT jsonb_path_query(imports.details, '$.defaults.expenseCategoryId') #>> '{}'
			UNION SELECT jsonb_path_query(imports.details, '$.defaults.incomeCategoryId') #>> '{}'
		) AS named
		LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id::text = named.id
		WHERE NOT EXISTS (SELECT FROM wallets w
			WHERE w.owner_id = $1 AND w.id::text = named.id)
			AND NOT EXISTS (SELECT FROM categories c
				WHERE c.owner_id = $1 AND c.id::text = named.id)
	) AS stale`

// InsertImport inserts an import that is being uploaded.
func InsertImport(ctx context.Context, q pg.Querier, e Import) error {
	return pg.Exec(ctx, q, `
		INSERT INTO imports (owner_id, id, status, file_name, size, sha256, format, details,
			created_at, updated_at)
		VALUES ($1, $2, 'uploading', $3, 0, '', '', '{}', $4, $4)`,
		e.OwnerID, e.ID, e.FileName, e.CreatedAt)
}

// CountOpen returns the number of an owner's imports that are not committed. An advisory lock
// serializes the owner's uploads until the database transaction ends, so that simultaneous ones
// cannot exceed the limit together.
func CountOpen(ctx context.Context, tx pgx.Tx, owner uuid.UUID) (int, error) {
	if err := pg.Lock(ctx, tx, "imports", owner); err != nil {
		return 0, err
	}
	return pg.Value[int](ctx, tx,
		`SELECT count(*) FROM imports
		WHERE owner_id = $1 AND status IN ('uploading', 'preview', 'updating')`, owner)
}

// SelectImport returns an import that has been uploaded and is not being deleted, or pgx.ErrNoRows.
func SelectImport(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (Import, error) {
	return oneImport(ctx, q, owner, id, "")
}

// LockImport is SelectImport with a lock that prevents changes until the database transaction ends.
func LockImport(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (Import, error) {
	return oneImport(ctx, q, owner, id, " FOR UPDATE")
}

func oneImport(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, lock string,
) (Import, error) {
	return pg.One[Import](ctx, q, `
		SELECT `+ImportColumns+`
		FROM imports
		WHERE owner_id = $1 AND id = $2 AND status NOT IN ('uploading', 'deleting')`+lock,
		owner, id)
}

// SelectImports returns up to limit of an owner's imports with an id less than before, newest
// first.
func SelectImports(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]Import, error) {
	return pg.All[Import](ctx, q, `
		SELECT `+ImportColumns+`
		FROM imports
		WHERE owner_id = $1 AND id < $2 AND status NOT IN ('uploading', 'deleting')
		ORDER BY id DESC
		LIMIT $3`, owner, before, limit)
}

// SelectCommitted returns the id of the newest committed import of a file, or pgx.ErrNoRows.
func SelectCommitted(
	ctx context.Context, q pg.Querier, owner uuid.UUID, sha256 []byte,
) (uuid.UUID, error) {
	type row struct{ ID uuid.UUID }
	found, err := pg.One[row](ctx, q, `
		SELECT id
		FROM imports
		WHERE owner_id = $1 AND sha256 = $2 AND status IN ('queued', 'running', 'done')
		ORDER BY id DESC
		LIMIT 1`, owner, sha256)
	if err != nil {
		return uuid.Nil, err
	}
	return found.ID, nil
}

// UpdateImport writes the fields of an import, counts its rows and finds their first and last date.
// Unless the import is updating, the counts are its progress, which the commit continues. It reads
// all rows of the import, so the chunks of a job use addProgress of package booking instead.
func UpdateImport(ctx context.Context, q pg.Querier, imp Import) error {
	return pg.Exec(ctx, q, `
		WITH counted AS (
			SELECT count(*) FILTER (WHERE status = 'ready') AS ready,
				count(*) FILTER (WHERE status = 'duplicate') AS duplicate,
				count(*) FILTER (WHERE status = 'matched') AS matched,
				count(*) FILTER (WHERE status = 'pending') AS pending,
				count(*) FILTER (WHERE status = 'invalid') AS invalid,
				count(*) FILTER (WHERE status = 'skipped') AS skipped,
				count(*) FILTER (WHERE status = 'booked') AS booked,
				count(*) FILTER (WHERE status = 'undone') AS undone,
				count(*) FILTER (WHERE status = 'matched' AND transaction_id IS NOT NULL)
					AS linked,
				min(date AT TIME ZONE 'UTC') FILTER (WHERE status <> 'hidden') AS first_date,
				max(date AT TIME ZONE 'UTC') FILTER (WHERE status <> 'hidden') AS last_date
			FROM import_rows
			WHERE owner_id = $1 AND import_id = $2
		)
		UPDATE imports
		SET status = $3, size = $4, sha256 = $5, format = $6, details = $7,
			job_done = CASE WHEN $3 = 'updating' THEN $8
				ELSE c.booked + c.duplicate + c.linked END,
			job_total = CASE WHEN $3 = 'updating' THEN $9
				ELSE c.booked + c.duplicate + c.ready + c.matched END,
			problem = $10, undo_force = $11,
			updated_at = $12, ready = c.ready, duplicate = c.duplicate, matched = c.matched,
			pending = c.pending, invalid = c.invalid, skipped = c.skipped, booked = c.booked,
			undone = c.undone, first_date = c.first_date, last_date = c.last_date, underived = $13,
			change = $14, derivation = $15, derived = $16, attempts = 0
		FROM counted c
		WHERE owner_id = $1 AND id = $2`,
		imp.OwnerID, imp.ID, imp.Status, imp.Size, imp.SHA256, imp.Format, imp.Details, imp.JobDone,
		imp.JobTotal, imp.Problem, imp.UndoForce, imp.UpdatedAt, imp.Underived, imp.Change,
		imp.Derivation, imp.Derived)
}

// AddCounts adds the effect of changed rows to the counts and the progress of an import, without
// reading the other rows. It returns the import with its new version. Changed rows are not
// finished, unless they are duplicates.
func AddCounts(
	ctx context.Context, q pg.Querier, imp Import, added Counts, now time.Time,
) (Import, error) {
	type row struct{ Version int64 }
	imp.Counts, imp.UpdatedAt = imp.Plus(added), now
	imp.JobDone += int64(added.Duplicate)
	imp.JobTotal += int64(added.Ready) + int64(added.Duplicate) + int64(added.Matched)
	found, err := pg.One[row](ctx, q, `
		UPDATE imports
		SET ready = ready + $3, duplicate = duplicate + $4, matched = matched + $5,
			invalid = invalid + $6, skipped = skipped + $7, pending = pending + $9,
			job_done = $10, job_total = $11, updated_at = $8
		WHERE owner_id = $1 AND id = $2
		RETURNING version`,
		imp.OwnerID, imp.ID, added.Ready, added.Duplicate, added.Matched, added.Invalid,
		added.Skipped, now, added.Pending, imp.JobDone, imp.JobTotal)
	imp.Version = found.Version
	return imp, err
}

// EndLease ends the lease of the job of an import. The replica that runs the job stops before its
// next chunk.
func EndLease(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET lease = NULL, leased_until = NULL
		WHERE owner_id = $1 AND id = $2`, owner, id)
}

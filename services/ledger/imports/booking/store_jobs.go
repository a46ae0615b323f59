package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// jobTable is the table of imports. It contains the job of an import, too.
var jobTable = jobs.Table{
	Name: "imports", ID: "id",
	Unfinished: `status IN ('updating', 'queued', 'running', 'undoing', 'deleting')`,
	QueuedAt:   "updated_at", Remaining: "job_total - job_done",
	// A deletion never fails, because the user can no longer see the import.
	Endless: staging.Deleting,
}

// renewLease locks the import of a job until the transaction ends, and renews the lease (see
// jobs.Renew).
func renewLease(ctx context.Context, q pg.Querier, j jobs.Job) (staging.Import, error) {
	return jobs.Renew[staging.Import](ctx, q, jobTable, j, staging.ImportColumns)
}

// addProgress adds the outcome of a chunk to the counts and the progress of an import. The next
// failure is the first attempt again.
func addProgress(
	ctx context.Context, q pg.Querier, imp staging.Import,
	added staging.Counts, finished int64, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET ready = ready + $3, duplicate = duplicate + $4, matched = matched + $5,
			skipped = skipped + $6, booked = booked + $7, undone = undone + $8,
			job_done = job_done + $9, updated_at = $10, attempts = 0
		WHERE owner_id = $1 AND id = $2`, imp.OwnerID, imp.ID,
		added.Ready, added.Duplicate, added.Matched, added.Skipped, added.Booked, added.Undone,
		finished, now)
}

// setDerived stores the progress of a derivation, which is also that of an update, and details
// unless they are nil.
func setDerived(ctx context.Context, q pg.Querier, e staging.Import, now time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET details = coalesce($3, details), derivation = $4, derived = $5::integer,
			amended = $7, amended_by = $8,
			job_done = CASE WHEN status = 'updating' THEN $5::integer ELSE job_done END,
			updated_at = $6, attempts = 0
		WHERE owner_id = $1 AND id = $2`,
		e.OwnerID, e.ID, e.Details, e.Derivation, e.Derived, now, e.Amended, e.AmendedBy)
}

// selectDerivations returns the ids of the derivations of imports that have not ended. The imports
// have any owners: a replica runs the jobs of all.
func selectDerivations(
	ctx context.Context, q pg.Querier, owners, imports []uuid.UUID,
) (map[uuid.UUID]bool, error) {
	type row struct{ Derivation uuid.UUID }
	rows, err := pg.All[row](ctx, q, `
		SELECT i.derivation
		FROM unnest($1::uuid[], $2::uuid[]) AS u (owner_id, id)
		JOIN imports i ON i.owner_id = u.owner_id AND i.id = u.id
		WHERE i.derivation IS NOT NULL AND i.status IN ('updating', 'queued')`, owners, imports)
	active := map[uuid.UUID]bool{}
	for _, r := range rows {
		active[r.Derivation] = true
	}
	return active, err
}

// setStatus ends a job and its lease.
func setStatus(
	ctx context.Context, q pg.Querier, e staging.Import, status, problem string, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE imports
		SET status = $3, problem = $4, updated_at = $5, lease = NULL, leased_until = NULL
		WHERE owner_id = $1 AND id = $2`, e.OwnerID, e.ID, status, problem, now)
}

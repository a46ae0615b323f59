package booking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/jobs"
)

// workingImport is the condition on an import with a job.
const workingImport = `status IN ('queued', 'running', 'undoing', 'deleting')`

// leaseJob leases the next import, or returns pgx.ErrNoRows. A job waits a second longer per
// thousand rows, up to 20 seconds, so that small imports do not wait for the large ones of other
// users, and these wait no longer than that. It counts the attempt, so that a job that kills its
// replicas fails, too (ADR 89). SKIP LOCKED makes simultaneous workers take different jobs instead
// of waiting for each other. The clock of the database decides about leases, so the clocks of
// replicas may differ.
func leaseJob(ctx context.Context, q pg.Querier, lease uuid.UUID, d time.Duration) (jobs.Job, error) {
	j, err := pg.One[jobs.Job](ctx, q, `
		UPDATE imports
		SET lease = $1, leased_until = now() + make_interval(secs => $2), attempts = attempts + 1
		WHERE (owner_id, id) = (
			SELECT owner_id, id
			FROM imports
			WHERE `+workingImport+` AND (leased_until IS NULL OR leased_until < now())
			ORDER BY coalesce(leased_until, updated_at) + make_interval(secs => least(greatest(job_total - job_done, 0), 20000) / 1000.0)
			LIMIT 1
			FOR UPDATE SKIP LOCKED)
		RETURNING owner_id, id, lease, status, attempts`, lease, d.Seconds())
	if err != nil {
		return jobs.Job{}, fmt.Errorf("leasing an import: %w", err)
	}
	// A deletion never fails, because the user can no longer see the import.
	j.Endless = j.Status == staging.Deleting
	return j, nil
}

// releaseJob ends a lease early, so that the job can be tried again after a pause. An attempt that
// does not count was subtracted from j.Attempts. A chunk that made progress has reset the column,
// which then stays 0.
func releaseJob(ctx context.Context, q pg.Querier, j jobs.Job, pause time.Duration) error {
	_, err := q.Exec(ctx, `
		UPDATE imports
		SET leased_until = now() + make_interval(secs => $4), attempts = least(attempts, $5)
		WHERE owner_id = $1 AND id = $2 AND lease = $3`, j.OwnerID, j.ID, j.Lease, pause.Seconds(), j.Attempts)
	if err != nil {
		return fmt.Errorf("releasing the job of import %s: %w", j.ID, err)
	}
	return nil
}

// yieldJob ends the lease of a job if another import waits.
func yieldJob(ctx context.Context, q pg.Querier, j jobs.Job) (bool, error) {
	tag, err := q.Exec(ctx, `
		UPDATE imports
		SET leased_until = now()
		WHERE owner_id = $1 AND id = $2 AND lease = $3 AND EXISTS (
			SELECT FROM imports WHERE `+workingImport+` AND (leased_until IS NULL OR leased_until < now()))`, j.OwnerID, j.ID, j.Lease)
	if err != nil {
		return false, fmt.Errorf("yielding the job of import %s: %w", j.ID, err)
	}
	return tag.RowsAffected() > 0, nil
}

// renewLease locks the import of a job and renews the lease. Each chunk calls it in its
// transaction: the row stays locked until the chunk commits, so a chunk of a replica that has lost
// its lease cannot commit beside a chunk of the new one. It returns jobs.ErrLostLease if another
// replica has taken the job.
func renewLease(ctx context.Context, q pg.Querier, j jobs.Job) (staging.Import, error) {
	e, err := pg.One[staging.Import](ctx, q, `
		UPDATE imports
		SET leased_until = now() + make_interval(secs => $4)
		WHERE owner_id = $1 AND id = $2 AND lease = $3 AND `+workingImport+`
		RETURNING `+staging.ImportColumns, j.OwnerID, j.ID, j.Lease, j.LeaseTime.Seconds())
	if errors.Is(err, pgx.ErrNoRows) {
		return staging.Import{}, jobs.ErrLostLease
	}
	if err != nil {
		return staging.Import{}, fmt.Errorf("renewing the lease of import %s: %w", j.ID, err)
	}
	return e, nil
}

// addProgress adds the outcome of a chunk to the counts and the progress of an import. The next
// failure is the first attempt again.
func addProgress(ctx context.Context, q pg.Querier, e staging.Import, added staging.Counts, finished int64, now time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE imports
		SET ready = ready + $3, duplicate = duplicate + $4, matched = matched + $5, skipped = skipped + $6, booked = booked + $7,
			undone = undone + $8, job_done = job_done + $9, updated_at = $10, attempts = 0
		WHERE owner_id = $1 AND id = $2`,
		e.OwnerID, e.ID, added.Ready, added.Duplicate, added.Matched, added.Skipped, added.Booked, added.Undone, finished, now)
	if err != nil {
		return fmt.Errorf("counting a chunk of import %s: %w", e.ID, err)
	}
	return nil
}

// setStatus ends a job and its lease.
func setStatus(ctx context.Context, q pg.Querier, e staging.Import, status, problem string, now time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE imports
		SET status = $3, problem = $4, updated_at = $5, lease = NULL, leased_until = NULL
		WHERE owner_id = $1 AND id = $2`, e.OwnerID, e.ID, status, problem, now)
	if err != nil {
		return fmt.Errorf("setting the status of import %s: %w", e.ID, err)
	}
	return nil
}

package budget

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
)

type referenceSync struct {
	BudgetID uuid.UUID `db:"budget_id"`
	OwnerID  uuid.UUID `db:"owner_id"`
	// Reservations are those at the ledger whose attempt to write the budget has ended. The report
	// releases them.
	Reservations []uuid.UUID
	// Seq grows with each change of the budget. A report deletes its row only if seq is unchanged.
	Seq int64
}

// queueSettlement queues a sync that also releases a reservation. The budget need not exist: a
// rejected creation also settles its reservation. A new seq keeps a worker that has claimed the row
// from deleting it. The reset of the lease makes the row due at once.
func queueSettlement(ctx context.Context, q pg.Querier, r reservation) error {
	return pg.Exec(ctx, q, `
		INSERT INTO reference_syncs AS s (budget_id, owner_id, reservations)
		VALUES ($1, $2, ARRAY[$3::uuid])
		ON CONFLICT (budget_id) DO UPDATE
		SET reservations = s.reservations || EXCLUDED.reservations, seq = DEFAULT,
			leased_until = '-infinity'`, r.budget, r.owner, r.id)
}

// queueSyncsOfCategory queues an owner's budgets that hold a category. They are ordered, so that
// concurrent statements lock the rows in the same order.
func queueSyncsOfCategory(ctx context.Context, q pg.Querier, owner, category uuid.UUID) error {
	return pg.Exec(ctx, q, `
		INSERT INTO reference_syncs (budget_id, owner_id)
		SELECT id, owner_id
		FROM budgets
		WHERE owner_id = $1 AND $2 = ANY(category_ids)
		ORDER BY id
		ON CONFLICT (budget_id) DO UPDATE
		SET seq = DEFAULT, leased_until = '-infinity'`, owner, category)
}

// claimSyncs leases up to syncBatch of the oldest syncs that no other worker has. A failed sync is
// repeated when its lease has expired, in the order of the changes.
func claimSyncs(ctx context.Context, q pg.Querier, now time.Time) ([]referenceSync, error) {
	return pg.All[referenceSync](ctx, q, jobs.Due("reference_syncs", "budget_id")+`
		UPDATE reference_syncs s
		SET leased_until = $2
		FROM due
		WHERE s.budget_id = due.budget_id
		RETURNING s.budget_id, s.owner_id, s.reservations, s.seq`,
		now, now.Add(syncLease), syncBatch)
}

// claimSync leases the sync of one budget, also from another worker. It returns no row if the sync
// was done already.
func claimSync(
	ctx context.Context, q pg.Querier, budget uuid.UUID, now time.Time,
) ([]referenceSync, error) {
	return pg.All[referenceSync](ctx, q, `
		UPDATE reference_syncs
		SET leased_until = $2
		WHERE budget_id = $1
		RETURNING budget_id, owner_id, reservations, seq`, budget, now.Add(syncLease))
}

// selectSyncedBudgets returns the budgets that still exist. Deleted budgets are absent from the
// map.
func selectSyncedBudgets(
	ctx context.Context, q pg.Querier, syncs []referenceSync,
) (map[uuid.UUID]budget, error) {
	ids := make([]uuid.UUID, len(syncs))
	for i, s := range syncs {
		ids[i] = s.BudgetID
	}
	rows, err := pg.All[budget](ctx, q, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.id = ANY($1)`, ids)
	if err != nil {
		return nil, err
	}
	budgets := map[uuid.UUID]budget{}
	for _, b := range rows {
		budgets[b.ID] = b
	}
	return budgets, nil
}

// selectOldestSyncAge returns the age of the oldest queued sync in seconds, 0 if none is queued.
// queued_at is the time of the oldest change that was not reported, and a repeated change does not
// move it.
func selectOldestSyncAge(ctx context.Context, q pg.Querier) (int64, error) {
	return pg.Value[int64](ctx, q, `
		SELECT coalesce(extract(epoch FROM now() - min(queued_at)), 0)::bigint
		FROM reference_syncs`)
}

// deleteSync deletes a sync, unless it was queued again since it was claimed.
func deleteSync(ctx context.Context, q pg.Querier, s referenceSync) error {
	return pg.Exec(ctx, q, `
		DELETE FROM reference_syncs
		WHERE budget_id = $1 AND seq = $2`, s.BudgetID, s.Seq)
}

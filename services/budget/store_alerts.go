package budget

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// check is a budget to be compared with what was spent in the window that holds a day.
type check struct {
	BudgetID uuid.UUID
	Day      time.Time
}

// claimedCheck is a check that is being done, with its budget.
type claimedCheck struct {
	budget
	Day time.Time
	// Seq is a later one once something happened since.
	Seq int64
}

// selectAlertingBudgets returns the owners' budgets that have thresholds.
func selectAlertingBudgets(ctx context.Context, q pg.Querier, owners []uuid.UUID) ([]budget, error) {
	budgets, err := pg.All[budget](ctx, q, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.owner_id = ANY($1) AND cardinality(b.alert_thresholds) > 0`, owners)
	if err != nil {
		return nil, fmt.Errorf("selecting budgets with thresholds: %w", err)
	}
	return budgets, nil
}

// upsertChecks wants them sorted, so that two transactions wait for each other and not in a circle. A budget that is gone
// by now needs none.
func upsertChecks(ctx context.Context, q pg.Querier, checks []check) error {
	if len(checks) == 0 {
		return nil
	}
	ids, days := make([]uuid.UUID, len(checks)), make([]time.Time, len(checks))
	for i, c := range checks {
		ids[i], days[i] = c.BudgetID, c.Day
	}
	_, err := q.Exec(ctx, `
		INSERT INTO alert_checks (budget_id, day)
		SELECT b.id, c.day
		FROM unnest($1::uuid[], $2::date[]) WITH ORDINALITY AS c (budget_id, day, position)
		JOIN budgets b ON b.id = c.budget_id
		ORDER BY c.position
		ON CONFLICT (budget_id, day) DO UPDATE SET seq = DEFAULT, leased_until = '-infinity'`, ids, days)
	if err != nil {
		return fmt.Errorf("noting checks: %w", err)
	}
	return nil
}

// claimChecks leases the oldest checks that nobody is at.
func claimChecks(ctx context.Context, q pg.Querier, now time.Time, limit int) ([]claimedCheck, error) {
	checks, err := pg.All[claimedCheck](ctx, q, `
		WITH due AS (
			SELECT budget_id, day
			FROM alert_checks
			WHERE leased_until < @now
			ORDER BY seq
			LIMIT @limit
			FOR UPDATE SKIP LOCKED
		)
		UPDATE alert_checks c
		SET leased_until = @until
		FROM due, budgets b
		WHERE c.budget_id = due.budget_id AND c.day = due.day AND b.id = c.budget_id
		RETURNING `+budgetColumns+`, c.day, c.seq`,
		pgx.NamedArgs{"now": now, "until": now.Add(checkLease), "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("claiming checks: %w", err)
	}
	return checks, nil
}

// deleteCheck leaves a check that was noted anew since it was claimed.
func deleteCheck(ctx context.Context, q pg.Querier, c claimedCheck) error {
	_, err := q.Exec(ctx, `DELETE FROM alert_checks WHERE budget_id = $1 AND day = $2 AND seq = $3`, c.ID, c.Day, c.Seq)
	if err != nil {
		return fmt.Errorf("deleting a check of budget %s: %w", c.ID, err)
	}
	return nil
}

// insertAlerts returns the thresholds that were not reached in that window before, ascending.
func insertAlerts(ctx context.Context, q pg.Querier, budgetID uuid.UUID, windowStart time.Time, thresholds []int32, at time.Time) ([]int32, error) {
	if len(thresholds) == 0 {
		return nil, nil
	}
	type row struct{ Threshold int32 }
	rows, err := pg.All[row](ctx, q, `
		WITH fresh AS (
			INSERT INTO alerts (budget_id, window_start, threshold, raised_at)
			SELECT $1, $2, threshold, $4
			FROM unnest($3::integer[]) AS t (threshold)
			ON CONFLICT DO NOTHING
			RETURNING threshold
		)
		SELECT threshold FROM fresh ORDER BY threshold`, budgetID, windowStart, thresholds, at)
	if err != nil {
		return nil, fmt.Errorf("inserting alerts of budget %s: %w", budgetID, err)
	}
	fresh := make([]int32, len(rows))
	for i, r := range rows {
		fresh[i] = r.Threshold
	}
	return fresh, nil
}

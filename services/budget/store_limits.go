package budget

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

// limitPeriod is a limit of a budget with the days on which it was in force. Currency is the
// currency at that time, which a change of the budget may have replaced.
type limitPeriod struct {
	LimitMinor int64 `db:"limit_minor"`
	Currency   string
	FirstDay   time.Time `db:"first_day"`
	// LastDay is nil for the present limit.
	LastDay *time.Time `db:"last_day"`
}

// selectLimits returns the limits whose first day is before a day, newest first. A trigger of
// migration 0016 stores the former ones. first_day is derived: it is the day after the last day of
// the limit before, or the day of the creation. A budget has at most one former limit per day, so
// the rows of one budget are few.
func selectLimits(ctx context.Context, q pg.Querier, budget uuid.UUID, before time.Time, limit int) ([]limitPeriod, error) {
	limits, err := pg.All[limitPeriod](ctx, q, `
		SELECT l.limit_minor, l.currency, l.last_day, d.first_day
		FROM budgets b
		CROSS JOIN LATERAL (
			SELECT b.limit_minor, b.currency, NULL::date AS last_day
			UNION ALL
			SELECT f.limit_minor, f.currency, f.last_day FROM budget_limits f WHERE f.budget_id = b.id) l
		CROSS JOIN LATERAL (
			SELECT COALESCE(max(e.last_day) + 1, (b.created_at AT TIME ZONE 'UTC')::date) AS first_day
			FROM budget_limits e
			WHERE e.budget_id = b.id AND (l.last_day IS NULL OR e.last_day < l.last_day)) d
		WHERE b.id = @budget AND (l.last_day IS NULL OR l.last_day < @before) AND d.first_day < @before
		ORDER BY d.first_day DESC
		LIMIT @limit`,
		pgx.NamedArgs{"budget": budget, "before": before, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("selecting the limits of budget %s: %w", budget, err)
	}
	return limits, nil
}

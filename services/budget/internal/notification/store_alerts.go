package notification

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

type budget struct {
	ID          uuid.UUID
	OwnerID     uuid.UUID `db:"owner_id"`
	Name        string
	Currency    string
	LimitMinor  int64 `db:"limit_minor"`
	Period      string
	StartDate   time.Time   `db:"start_date"`
	EndDate     *time.Time  `db:"end_date"`
	WalletID    uuid.UUID   `db:"wallet_id"`
	CategoryIDs []uuid.UUID `db:"category_ids"`
	// AlertThresholds are percentages of the limit, ascending.
	AlertThresholds []int32 `db:"alert_thresholds"`
	// Version detects a change of the budget during a check.
	Version int64
}

// budgetColumns lists the columns of type budget, with the table alias b.
const budgetColumns = `b.id, b.owner_id, b.name, b.currency, b.limit_minor, b.period, b.start_date,
	b.end_date, b.wallet_id, b.category_ids, b.alert_thresholds, b.version`

func (b budget) timeframe() spending.Timeframe {
	return spending.Timeframe{Period: b.Period, Start: b.StartDate, End: b.EndDate}
}

// currency ignores the result of the validation, because only valid currencies are stored.
func (b budget) currency() money.Currency {
	c, _ := money.ParseCurrency(b.Currency)
	return c
}

// check asks for a comparison of a budget's limit with the spending in the window that contains a
// day.
type check struct {
	// BudgetID and Day are the key: a window has at most one check, with its first day.
	BudgetID uuid.UUID
	Day      time.Time
}

// claimedCheck is a check that a worker has leased, with its budget.
type claimedCheck struct {
	budget
	Day time.Time
	// Seq grows when the check is queued again. deleteCheck compares it.
	Seq int64
}

// selectBudgetsWithThresholds returns the owners' budgets that have thresholds. Alerts of budgets
// that the users only share are raised by the owner's events.
func selectBudgetsWithThresholds(
	ctx context.Context, q pg.Querier, owners []uuid.UUID,
) ([]budget, error) {
	return pg.All[budget](ctx, q, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.owner_id = ANY($1) AND cardinality(b.alert_thresholds) > 0`, owners)
}

// lockBudget returns a budget and serializes the changes of it until tx ends. It returns
// pgx.ErrNoRows if the budget was deleted. It takes the same lock as the changes of budgets, so the
// thresholds and the limit are those of the version that is compared.
func lockBudget(ctx context.Context, tx pgx.Tx, id uuid.UUID) (budget, error) {
	return pg.One[budget](ctx, tx, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.id = $1
		FOR NO KEY UPDATE`, id)
}

// selectAcceptedMembers returns the users who accepted the invitation to a budget, without a limit.
func selectAcceptedMembers(ctx context.Context, q pg.Querier, id uuid.UUID) ([]uuid.UUID, error) {
	return pg.Values[uuid.UUID](ctx, q, `
		SELECT user_id
		FROM members
		WHERE budget_id = $1 AND status = 'accepted'
		ORDER BY user_id`, id)
}

// upsertChecks queues checks, or queues them again. They must be sorted, so that concurrent
// transactions cannot deadlock. Checks of deleted budgets are omitted. A check that is queued again
// becomes due immediately, also while it is leased.
func upsertChecks(ctx context.Context, q pg.Querier, checks []check) error {
	if len(checks) == 0 {
		return nil
	}
	ids, days := make([]uuid.UUID, len(checks)), make([]time.Time, len(checks))
	for i, c := range checks {
		ids[i], days[i] = c.BudgetID, c.Day
	}
	return pg.Exec(ctx, q, `
		INSERT INTO alert_checks (budget_id, day)
		SELECT b.id, c.day
		FROM unnest($1::uuid[], $2::date[]) WITH ORDINALITY AS c (budget_id, day, position)
		JOIN budgets b ON b.id = c.budget_id
		ORDER BY c.position
		ON CONFLICT (budget_id, day) DO UPDATE
		SET seq = DEFAULT, leased_until = '-infinity'`, ids, days)
}

// claimChecks leases the oldest checks that no other worker has. They are skipped until the lease
// expires, also by other replicas.
func claimChecks(ctx context.Context, q pg.Querier, now time.Time) ([]claimedCheck, error) {
	return pg.All[claimedCheck](ctx, q, jobs.Due("alert_checks", "budget_id, day")+`
		UPDATE alert_checks c
		SET leased_until = $2
		FROM due, budgets b
		WHERE c.budget_id = due.budget_id AND c.day = due.day AND b.id = c.budget_id
		RETURNING `+budgetColumns+`, c.day, c.seq`, now, now.Add(checkLease), checkBatch)
}

// deleteCheck deletes a check, unless it was queued again since it was claimed. Otherwise the
// change that queued it again would be lost.
func deleteCheck(ctx context.Context, q pg.Querier, c claimedCheck) error {
	return pg.Exec(ctx, q, `
		DELETE FROM alert_checks
		WHERE budget_id = $1 AND day = $2 AND seq = $3`, c.ID, c.Day, c.Seq)
}

// insertAlerts records reached thresholds of a window, and returns those that were not recorded
// before, ascending. A primary key decides, so that concurrent checks cannot raise a threshold
// twice. The thresholds of earlier checks stay recorded if the limit is raised later, so they are
// not raised again in the same window.
func insertAlerts(
	ctx context.Context, q pg.Querier, budgetID uuid.UUID,
	windowStart time.Time, thresholds []int32, at time.Time,
) ([]int32, error) {
	if len(thresholds) == 0 {
		return nil, nil
	}
	return pg.Values[int32](ctx, q, `
		WITH raised AS (
			INSERT INTO alerts (budget_id, window_start, threshold, raised_at)
			SELECT $1, $2, threshold, $4
			FROM unnest($3::integer[]) AS t (threshold)
			ON CONFLICT DO NOTHING
			RETURNING threshold
		)
		SELECT threshold FROM raised ORDER BY threshold`, budgetID, windowStart, thresholds, at)
}

package budget

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// budgetsDuplicateKey is the unique index of the duplicate rule: owner, name in any case, wallet,
// period and start date.
const budgetsDuplicateKey = "budgets_owner_name_wallet_period_start_key"

type budget struct {
	ID         uuid.UUID
	OwnerID    uuid.UUID `db:"owner_id"`
	Name       string
	Currency   string
	LimitMinor int64 `db:"limit_minor"`
	Period     string
	StartDate  time.Time `db:"start_date"`
	// EndDate is inclusive, and nil for a budget that never ends.
	EndDate  *time.Time `db:"end_date"`
	WalletID uuid.UUID  `db:"wallet_id"`
	// CategoryIDs has 1 to 100 categories, each once, in the order of the request. Both ids are the
	// ledger's.
	CategoryIDs []uuid.UUID `db:"category_ids"`
	// AlertThresholds are percentages of the limit, ascending.
	AlertThresholds []int32 `db:"alert_thresholds"`
	// Version grows with every change. ETags and checks for alerts compare it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// seenBudget is a budget with its reader. selectBudget and selectBudgets read it for one reader.
type seenBudget struct {
	budget
	sharing.Reader
}

func (b seenBudget) role() sharing.Role { return b.RoleIn(b.OwnerID) }

// thing returns the part of the budget that sharing needs.
func (b seenBudget) thing() sharing.Thing {
	return sharing.Thing{ID: b.ID, OwnerID: b.OwnerID, Name: b.Name, Reader: b.Reader}
}

// budgetColumns lists the columns of type budget, with the table alias b. Columns are named, so
// that a migration may add one while a release without it is running.
const budgetColumns = `b.id, b.owner_id, b.name, b.currency, b.limit_minor, b.period, b.start_date,
	b.end_date, b.wallet_id, b.category_ids, b.alert_thresholds, b.version, b.created_at,
	b.updated_at`

// countBudgets returns the number of budgets that a user owns. A lock serializes the user's
// creations until tx ends, so that concurrent ones cannot exceed the limit. Budgets of other
// owners, which the user shares, do not count.
func countBudgets(ctx context.Context, tx pgx.Tx, owner uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, "budgets", owner); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx, `SELECT count(*) FROM budgets WHERE owner_id = $1`, owner)
}

// insertBudget violates budgetsDuplicateKey if the owner has such a budget already.
func insertBudget(ctx context.Context, q pg.Querier, b budget) error {
	return pg.Exec(ctx, q, `
		INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period, start_date,
			end_date, wallet_id, category_ids, alert_thresholds, version, created_at, updated_at)
		VALUES (@id, @owner, @name, @currency, @limit, @period, @start, @end, @wallet, @categories,
			@thresholds, @version, @created, @updated)`, b.args())
}

func (b budget) args() pgx.NamedArgs {
	return pgx.NamedArgs{
		"id": b.ID, "owner": b.OwnerID, "name": b.Name, "currency": b.Currency,
		"limit": b.LimitMinor, "period": b.Period, "start": b.StartDate, "end": b.EndDate,
		"wallet": b.WalletID, "categories": b.CategoryIDs, "thresholds": b.AlertThresholds,
		"version": b.Version, "created": b.CreatedAt, "updated": b.UpdatedAt,
	}
}

// lockBudgetsOfCategory locks and returns an owner's budgets with a category. The order of ids is
// the same in all calls, so two batches of events cannot deadlock. An owner has at most maxBudgets,
// so the condition on the array needs no index.
func lockBudgetsOfCategory(
	ctx context.Context, tx pgx.Tx, owner, category uuid.UUID,
) ([]budget, error) {
	return pg.All[budget](ctx, tx, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.owner_id = $1
			AND $2 = ANY(b.category_ids)
		ORDER BY b.id
		FOR NO KEY UPDATE`, owner, category)
}

// lockBudgetsOf locks and returns the budgets of an owner, in the order of lockBudgetsOfCategory.
func lockBudgetsOf(ctx context.Context, tx pgx.Tx, owner uuid.UUID) ([]budget, error) {
	return pg.All[budget](ctx, tx, `
		SELECT `+budgetColumns+`
		FROM budgets b
		WHERE b.owner_id = $1
		ORDER BY b.id
		FOR NO KEY UPDATE`, owner)
}

// selectBudget returns pgx.ErrNoRows for an unknown id. It selects the membership of the user too,
// whose status the caller must check: any user may be the reader.
func selectBudget(ctx context.Context, q pg.Querier, id, user uuid.UUID) (seenBudget, error) {
	return pg.One[seenBudget](ctx, q, `
		SELECT `+budgetColumns+`, $2::uuid AS user_id, m.role, m.status, m.known_name
		FROM budgets b
		LEFT JOIN members m ON m.budget_id = b.id AND m.user_id = $2
		WHERE b.id = $1`, id, user)
}

// budgetList selects a page of a user's own budgets and of those in which the user's membership has
// one of the statuses.
type budgetList struct {
	user     uuid.UUID
	statuses []sharing.Status
	before   uuid.UUID
	limit    int
}

// selectBudgets returns a page of budgets, newest first. Each half reads its own index, and only as
// many rows as the page has. The indexes are budgets_owner_id and members_user. The second LIMIT is
// needed because each half may return a whole page.
func selectBudgets(ctx context.Context, q pg.Querier, list budgetList) ([]seenBudget, error) {
	return pg.All[seenBudget](ctx, q, `
		(SELECT `+budgetColumns+`, b.owner_id AS user_id, NULL AS role, NULL AS status,
			NULL AS known_name
		FROM budgets b
		WHERE b.owner_id = @user AND b.id < @before
		ORDER BY b.id DESC
		LIMIT @limit)
		UNION ALL
		(SELECT `+budgetColumns+`, m.user_id, m.role, m.status, m.known_name
		FROM members m
		JOIN budgets b ON b.id = m.budget_id
		WHERE m.user_id = @user AND m.budget_id < @before AND m.status = ANY(@statuses)
		ORDER BY m.budget_id DESC
		LIMIT @limit)
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{
			"user": list.user, "before": list.before, "statuses": list.statuses,
			"limit": list.limit,
		})
}

// updateBudget violates budgetsDuplicateKey if the owner has another such budget.
func updateBudget(ctx context.Context, q pg.Querier, b budget) error {
	return pg.Exec(ctx, q, `
		UPDATE budgets
		SET name = @name, currency = @currency, limit_minor = @limit, period = @period,
			start_date = @start, end_date = @end, wallet_id = @wallet, category_ids = @categories,
			alert_thresholds = @thresholds, version = @version, updated_at = @updated
		WHERE id = @id`, b.args())
}

// deleteBudgetRow also deletes members, alerts and checks of the budget, by cascade. A trigger
// queues the report to the ledger.
func deleteBudgetRow(ctx context.Context, q pg.Querier, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM budgets WHERE id = $1`, id)
}

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
func selectLimits(
	ctx context.Context, q pg.Querier, budget uuid.UUID, before time.Time, limit int,
) ([]limitPeriod, error) {
	return pg.All[limitPeriod](ctx, q, `
		SELECT l.limit_minor, l.currency, l.last_day, d.first_day
		FROM budgets b
		CROSS JOIN LATERAL (
			SELECT b.limit_minor, b.currency, NULL::date AS last_day
			UNION ALL
			SELECT f.limit_minor, f.currency, f.last_day FROM budget_limits f
				WHERE f.budget_id = b.id) l
		CROSS JOIN LATERAL (
			SELECT COALESCE(max(e.last_day) + 1,
				(b.created_at AT TIME ZONE 'UTC')::date) AS first_day
			FROM budget_limits e
			WHERE e.budget_id = b.id AND (l.last_day IS NULL OR e.last_day < l.last_day)) d
		WHERE b.id = @budget AND (l.last_day IS NULL OR l.last_day < @before)
			AND d.first_day < @before
		ORDER BY d.first_day DESC
		LIMIT @limit`,
		pgx.NamedArgs{"budget": budget, "before": before, "limit": limit})
}

package goals

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// assignedRange is the constraint that the money of a wallet in a goal is not negative.
const assignedRange = "goal_wallets_assigned_range"

type assignment struct {
	OwnerID  uuid.UUID `db:"owner_id"`
	GoalID   uuid.UUID `db:"goal_id"`
	ID       uuid.UUID
	WalletID uuid.UUID `db:"wallet_id"`
	// AmountMinor is in the minor unit of the goal's currency, and negative if money was taken
	// back.
	AmountMinor int64 `db:"amount_minor"`
	Day         time.Time
	CreatedAt   time.Time `db:"created_at"`
}

const assignmentColumns = `owner_id, goal_id, id, wallet_id, amount_minor, day, created_at`

// insertAssignment reports whether the goal had fewer than maxAssignments. The goal must be locked.
func insertAssignment(ctx context.Context, q pg.Querier, a assignment) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO assignments (owner_id, goal_id, id, wallet_id, amount_minor, day, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7
		WHERE (SELECT count(*) FROM assignments WHERE owner_id = $1 AND goal_id = $2) < $8`,
		a.OwnerID, a.GoalID, a.ID, a.WalletID, a.AmountMinor, a.Day, a.CreatedAt, maxAssignments)
}

// addAssigned adds an amount to the sum of an assignment's goal and wallet, and deletes a sum of 0.
// It violates assignedRange if the sum would be negative. The goal must be locked.
// INSERT ... ON CONFLICT would violate the constraint for each negative amount, because it checks
// the row that it proposes.
func addAssigned(ctx context.Context, q pg.Querier, a assignment, amount int64) error {
	return pg.Exec(ctx, q, `
		MERGE INTO goal_wallets w
		USING (VALUES ($1::uuid, $2::uuid, $3::uuid)) AS a (owner_id, goal_id, wallet_id)
		ON w.owner_id = a.owner_id AND w.goal_id = a.goal_id AND w.wallet_id = a.wallet_id
		WHEN MATCHED AND w.assigned_minor + $4::bigint = 0 THEN DELETE
		WHEN MATCHED THEN UPDATE SET assigned_minor = w.assigned_minor + $4::bigint
		WHEN NOT MATCHED THEN INSERT (owner_id, goal_id, wallet_id, assigned_minor)
			VALUES (a.owner_id, a.goal_id, a.wallet_id, $4::bigint)`,
		a.OwnerID, a.GoalID, a.WalletID, amount)
}

// deleteAssignment returns the deleted assignment, or pgx.ErrNoRows.
func deleteAssignment(
	ctx context.Context, q pg.Querier, of goal, id uuid.UUID,
) (assignment, error) {
	return pg.One[assignment](ctx, q, `
		DELETE FROM assignments
		WHERE owner_id = $1 AND goal_id = $2 AND id = $3
		RETURNING `+assignmentColumns, of.OwnerID, of.ID, id)
}

// selectAssignments returns a page of the assignments of a goal, the newest first.
func selectAssignments(
	ctx context.Context, q pg.Querier, of goal, before uuid.UUID, limit int,
) ([]assignment, error) {
	return pg.All[assignment](ctx, q, `
		SELECT `+assignmentColumns+`
		FROM assignments
		WHERE owner_id = $1 AND goal_id = $2 AND id < $3
		ORDER BY id DESC
		LIMIT $4`, of.OwnerID, of.ID, before, limit)
}

// savings is the sum of a goal's assignments.
type savings struct {
	GoalID uuid.UUID `db:"goal_id"`
	Minor  int64     `db:"saved_minor"`
	// FirstDay is the first day of an assignment, or nil if nothing is saved.
	FirstDay *time.Time `db:"first_day"`
}

// selectSavings returns the savings of an owner's goals, without those for which nothing is saved.
// It reads one entry of the index assignments_day for each goal.
func selectSavings(
	ctx context.Context, q pg.Querier, owner uuid.UUID, goals []uuid.UUID,
) (map[uuid.UUID]savings, error) {
	rows, err := pg.All[savings](ctx, q, `
		SELECT w.goal_id, sum(w.assigned_minor)::bigint AS saved_minor, (
			SELECT min(a.day)
			FROM assignments a
			WHERE a.owner_id = $1 AND a.goal_id = w.goal_id) AS first_day
		FROM goal_wallets w
		WHERE w.owner_id = $1 AND w.goal_id = ANY($2)
		GROUP BY w.goal_id`, owner, goals)
	saved := make(map[uuid.UUID]savings, len(rows))
	for _, row := range rows {
		saved[row.GoalID] = row
	}
	return saved, err
}

// assigned is the money of a wallet in the goals of one currency.
type assigned struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Currency string
	Minor    int64 `db:"assigned_minor"`
}

// selectAssigned returns the money of each wallet in the goals of an owner that are not archived,
// by wallet and currency.
func selectAssigned(ctx context.Context, q pg.Querier, owner uuid.UUID) ([]assigned, error) {
	return pg.All[assigned](ctx, q, `
		SELECT w.wallet_id, g.currency, sum(w.assigned_minor)::bigint AS assigned_minor
		FROM goal_wallets w
		JOIN goals g ON g.owner_id = w.owner_id AND g.id = w.goal_id
		WHERE w.owner_id = $1 AND w.assigned_minor > 0 AND NOT g.archived
		GROUP BY w.wallet_id, g.currency
		ORDER BY w.wallet_id, g.currency
		LIMIT $2`, owner, maxWallets)
}

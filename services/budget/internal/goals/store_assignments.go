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
	// OwnerID is the owner of the goal, and UserID the user who assigned the money.
	OwnerID  uuid.UUID `db:"owner_id"`
	GoalID   uuid.UUID `db:"goal_id"`
	ID       uuid.UUID
	UserID   uuid.UUID `db:"user_id"`
	WalletID uuid.UUID `db:"wallet_id"`
	// AmountMinor is in the minor unit of the goal's currency, and negative if money was taken
	// back.
	AmountMinor int64 `db:"amount_minor"`
	Day         time.Time
	CreatedAt   time.Time `db:"created_at"`
}

const assignmentColumns = `owner_id, goal_id, id, user_id, wallet_id, amount_minor, day, created_at`

// insertAssignment reports whether the goal had fewer than maxAssignments. The goal must be locked.
func insertAssignment(ctx context.Context, q pg.Querier, a assignment) (bool, error) {
	return pg.Affected(ctx, q, `
		INSERT INTO assignments (owner_id, goal_id, id, user_id, wallet_id, amount_minor, day,
			created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8
		WHERE (SELECT count(*) FROM assignments WHERE owner_id = $1 AND goal_id = $2) < $9`,
		a.OwnerID, a.GoalID, a.ID, a.UserID, a.WalletID, a.AmountMinor, a.Day, a.CreatedAt,
		maxAssignments)
}

// addAssigned adds an amount to the sum of an assignment's goal, user and wallet, and deletes a sum
// of 0. The user is part of the sum, so that nobody takes back the money of another user. It
// violates assignedRange if the sum would be negative. The goal must be locked.
// INSERT ... ON CONFLICT would violate the constraint for each negative amount, because it checks
// the row that it proposes.
func addAssigned(ctx context.Context, q pg.Querier, a assignment, amount int64) error {
	return pg.Exec(ctx, q, `
		MERGE INTO goal_wallets w
		USING (VALUES ($1::uuid, $2::uuid, $3::uuid, $4::uuid))
			AS a (owner_id, goal_id, user_id, wallet_id)
		ON w.owner_id = a.owner_id AND w.goal_id = a.goal_id AND w.user_id = a.user_id
			AND w.wallet_id = a.wallet_id
		WHEN MATCHED AND w.assigned_minor + $5::bigint = 0 THEN DELETE
		WHEN MATCHED THEN UPDATE SET assigned_minor = w.assigned_minor + $5::bigint
		WHEN NOT MATCHED THEN INSERT (owner_id, goal_id, user_id, wallet_id, assigned_minor)
			VALUES (a.owner_id, a.goal_id, a.user_id, a.wallet_id, $5::bigint)`,
		a.OwnerID, a.GoalID, a.UserID, a.WalletID, amount)
}

// deleteAssignment returns the deleted assignment of a user, or pgx.ErrNoRows.
func deleteAssignment(
	ctx context.Context, q pg.Querier, of seenGoal, id uuid.UUID,
) (assignment, error) {
	return pg.One[assignment](ctx, q, `
		DELETE FROM assignments
		WHERE owner_id = $1 AND goal_id = $2 AND id = $3 AND user_id = $4
		RETURNING `+assignmentColumns, of.OwnerID, of.ID, id, of.UserID)
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
	// FirstDay and LastDay are the first and the last day of an assignment, or nil if nothing is
	// saved.
	FirstDay *time.Time `db:"first_day"`
	LastDay  *time.Time `db:"last_day"`
}

// selectSavings returns the savings of goals, without those for which nothing is saved. It reads
// the sums of all users, and two entries of the index assignments_day for each goal. Owners and
// members see the same savings, because no other statement computes them.
func selectSavings(
	ctx context.Context, q pg.Querier, of ...goal,
) (map[uuid.UUID]savings, error) {
	owners, ids := make([]uuid.UUID, len(of)), make([]uuid.UUID, len(of))
	for i, g := range of {
		owners[i], ids[i] = g.OwnerID, g.ID
	}
	rows, err := pg.All[savings](ctx, q, `
		SELECT w.goal_id, sum(w.assigned_minor)::bigint AS saved_minor, (
			SELECT min(a.day)
			FROM assignments a
			WHERE a.owner_id = w.owner_id AND a.goal_id = w.goal_id) AS first_day, (
			SELECT max(a.day)
			FROM assignments a
			WHERE a.owner_id = w.owner_id AND a.goal_id = w.goal_id) AS last_day
		FROM unnest($1::uuid[], $2::uuid[]) AS g (owner_id, id)
		JOIN goal_wallets w ON w.owner_id = g.owner_id AND w.goal_id = g.id
		GROUP BY w.owner_id, w.goal_id`, owners, ids)
	saved := make(map[uuid.UUID]savings, len(rows))
	for _, row := range rows {
		saved[row.GoalID] = row
	}
	return saved, err
}

// assigned is the money of a user's wallet in the goals of one currency.
type assigned struct {
	WalletID uuid.UUID `db:"wallet_id"`
	Currency string
	Minor    int64 `db:"assigned_minor"`
}

// selectAssigned returns the money of each wallet of a user in own and shared goals that are not
// archived, by wallet and currency.
func selectAssigned(ctx context.Context, q pg.Querier, user uuid.UUID) ([]assigned, error) {
	return pg.All[assigned](ctx, q, `
		SELECT w.wallet_id, g.currency, sum(w.assigned_minor)::bigint AS assigned_minor
		FROM goal_wallets w
		JOIN goals g ON g.owner_id = w.owner_id AND g.id = w.goal_id
		WHERE w.user_id = $1 AND w.assigned_minor > 0 AND NOT g.archived
		GROUP BY w.wallet_id, g.currency
		ORDER BY w.wallet_id, g.currency
		LIMIT $2`, user, maxWallets)
}

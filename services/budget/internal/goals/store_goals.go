package goals

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

type goal struct {
	OwnerID  uuid.UUID `db:"owner_id"`
	ID       uuid.UUID
	Name     string
	Currency string
	// TargetMinor is in the minor unit of the currency.
	TargetMinor int64 `db:"target_minor"`
	// TargetDate is nil for a goal without one.
	TargetDate *time.Time `db:"target_date"`
	// Icon and Note are empty if the owner set none.
	Icon, Note string
	Archived   bool
	// ReachedAt is nil until the target is saved for the first time.
	ReachedAt *time.Time `db:"reached_at"`
	// Version grows with each change of the goal itself, and not with assignments.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// seenGoal is a goal with its reader.
type seenGoal struct {
	goal
	sharing.Reader
}

func (g seenGoal) role() sharing.Role { return g.RoleIn(g.OwnerID) }

// thing returns the part of the goal that sharing needs.
func (g seenGoal) thing() sharing.Thing {
	return sharing.Thing{ID: g.ID, OwnerID: g.OwnerID, Name: g.Name, Reader: g.Reader}
}

// seenByOwner returns the goal with the owner as its reader.
func (g goal) seenByOwner() seenGoal {
	return seenGoal{goal: g, Reader: sharing.Reader{UserID: g.OwnerID}}
}

// goalColumns lists the columns of type goal, with the table alias g.
const goalColumns = `g.owner_id, g.id, g.name, g.currency, g.target_minor, g.target_date, g.icon,
	g.note, g.archived, g.reached_at, g.version, g.created_at, g.updated_at`

// countGoals returns the number of goals that a user owns. A lock serializes the user's creations
// until tx ends, so that concurrent ones cannot exceed the limit.
func countGoals(ctx context.Context, tx pgx.Tx, owner uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, "goals", owner); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx, `SELECT count(*) FROM goals WHERE owner_id = $1`, owner)
}

func insertGoal(ctx context.Context, q pg.Querier, g goal) error {
	return pg.Exec(ctx, q, `
		INSERT INTO goals (owner_id, id, name, currency, target_minor, target_date, icon, note,
			archived, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		g.OwnerID, g.ID, g.Name, g.Currency, g.TargetMinor, g.TargetDate, g.Icon, g.Note,
		g.Archived, g.Version, g.CreatedAt, g.UpdatedAt)
}

// goalList selects a page of the goals that a user owns or has accepted: all, or those that are or
// are not archived.
type goalList struct {
	user     uuid.UUID
	archived *bool
	before   uuid.UUID
	limit    int
}

// selectGoals returns a page of goals, newest first. Each half reads as many rows as the page has.
func selectGoals(ctx context.Context, q pg.Querier, list goalList) ([]seenGoal, error) {
	return pg.All[seenGoal](ctx, q, `
		(SELECT `+goalColumns+`, g.owner_id AS user_id, NULL AS role, NULL AS status,
			NULL AS known_name
		FROM goals g
		WHERE g.owner_id = @user AND g.id < @before
			AND (@archived::boolean IS NULL OR g.archived = @archived)
		ORDER BY g.id DESC
		LIMIT @limit)
		UNION ALL
		(SELECT `+goalColumns+`, m.user_id, m.role, m.status, m.known_name
		FROM goal_members m
		JOIN goals g ON g.id = m.goal_id
		WHERE m.user_id = @user AND m.goal_id < @before AND m.status = 'accepted'
			AND (@archived::boolean IS NULL OR g.archived = @archived)
		ORDER BY m.goal_id DESC
		LIMIT @limit)
		ORDER BY id DESC
		LIMIT @limit`,
		pgx.NamedArgs{
			"user": list.user, "before": list.before, "archived": list.archived,
			"limit": list.limit,
		})
}

// selectGoal returns pgx.ErrNoRows for an unknown id. It selects the membership of the user too,
// whose status the caller must check: any user may be the reader.
func selectGoal(ctx context.Context, q pg.Querier, id, user uuid.UUID) (seenGoal, error) {
	return pg.One[seenGoal](ctx, q, `
		SELECT `+goalColumns+`, $2::uuid AS user_id, m.role, m.status, m.known_name
		FROM goals g
		LEFT JOIN goal_members m ON m.goal_id = g.id AND m.user_id = $2
		WHERE g.id = $1`, id, user)
}

// lockGoalsOf locks and returns the goals of an owner, in the order in which all transactions lock
// goals.
func lockGoalsOf(ctx context.Context, tx pgx.Tx, owner uuid.UUID) ([]goal, error) {
	return pg.All[goal](ctx, tx, `
		SELECT `+goalColumns+`
		FROM goals g
		WHERE g.owner_id = $1
		ORDER BY g.id
		FOR NO KEY UPDATE`, owner)
}

// updateGoal writes the fields that can change, and the version.
func updateGoal(ctx context.Context, q pg.Querier, g goal) error {
	return pg.Exec(ctx, q, `
		UPDATE goals
		SET name = $3, target_minor = $4, target_date = $5, icon = $6, note = $7, archived = $8,
			version = $9, updated_at = $10
		WHERE owner_id = $1 AND id = $2`,
		g.OwnerID, g.ID, g.Name, g.TargetMinor, g.TargetDate, g.Icon, g.Note, g.Archived,
		g.Version, g.UpdatedAt)
}

func updateReached(ctx context.Context, q pg.Querier, g goal) error {
	return pg.Exec(ctx, q, `UPDATE goals SET reached_at = $3 WHERE owner_id = $1 AND id = $2`,
		g.OwnerID, g.ID, g.ReachedAt)
}

// deleteGoal also deletes the members and the assignments of the goal, by cascade.
func deleteGoal(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM goals WHERE owner_id = $1 AND id = $2`, owner, id)
}

package goals

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
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

const goalColumns = `owner_id, id, name, currency, target_minor, target_date, icon, note, archived,
	reached_at, version, created_at, updated_at`

// countGoals returns the number of a user's goals. A lock serializes the user's creations until tx
// ends, so that concurrent ones cannot exceed the limit.
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

// goalList selects a page of a user's goals: all, or those that are or are not archived.
type goalList struct {
	owner    uuid.UUID
	archived *bool
	before   uuid.UUID
	limit    int
}

func selectGoals(ctx context.Context, q pg.Querier, list goalList) ([]goal, error) {
	return pg.All[goal](ctx, q, `
		SELECT `+goalColumns+`
		FROM goals
		WHERE owner_id = $1 AND id < $2 AND ($3::boolean IS NULL OR archived = $3)
		ORDER BY id DESC
		LIMIT $4`, list.owner, list.before, list.archived, list.limit)
}

// selectGoal returns pgx.ErrNoRows for an id that is unknown or another user's.
func selectGoal(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (goal, error) {
	return pg.One[goal](ctx, q,
		`SELECT `+goalColumns+` FROM goals WHERE owner_id = $1 AND id = $2`, owner, id)
}

// lockGoal returns the same, and serializes the changes of a goal and its assignments until tx
// ends. The sums must be read by a later statement.
func lockGoal(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID) (goal, error) {
	return pg.One[goal](ctx, tx, `
		SELECT `+goalColumns+`
		FROM goals
		WHERE owner_id = $1 AND id = $2
		FOR NO KEY UPDATE`, owner, id)
}

// updateGoal writes the fields that an owner can change, and the version.
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

// deleteGoal also deletes the assignments of the goal, by cascade.
func deleteGoal(ctx context.Context, q pg.Querier, owner, id uuid.UUID) error {
	return pg.Exec(ctx, q, `DELETE FROM goals WHERE owner_id = $1 AND id = $2`, owner, id)
}

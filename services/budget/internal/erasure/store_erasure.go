package erasure

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// lease is the time for which a replica erases. If it takes longer, another one repeats steps
	// at the same time. This is harmless, because each step can be repeated.
	lease = time.Minute
	// applyTimeout limits the time for which an erasure waits for the consumer.
	applyTimeout = 30 * time.Second
)

type erasure struct {
	DeletionID uuid.UUID `db:"deletion_id"`
	UserID     uuid.UUID `db:"user_id"`
	// Email is the e-mail of the user. Other users may have invited it.
	Email string
}

// deletions are the statements that delete up to 5000 rows of a user. Budgets, goals and
// memberships are deleted before.
var deletions = []string{
	`DELETE FROM webhook_deliveries WHERE ctid = ANY(ARRAY(
		SELECT ctid FROM webhook_deliveries WHERE user_id = $1 LIMIT 5000))`,
	`DELETE FROM webhooks WHERE user_id = $1`,
	`DELETE FROM notifications WHERE ctid = ANY(ARRAY(
		SELECT ctid FROM notifications WHERE user_id = $1 LIMIT 5000))`,
	`DELETE FROM invitation_tries WHERE owner_id = $1 OR user_id = $1`,
	`DELETE FROM idempotency_keys WHERE scope = $1::uuid::text`,
}

func insertErasure(ctx context.Context, q pg.Querier, e erasure) error {
	return pg.Exec(ctx, q, `
		INSERT INTO erasures (deletion_id, user_id, email)
		VALUES ($1, $2, $3)
		ON CONFLICT (deletion_id) DO NOTHING`, e.DeletionID, e.UserID, e.Email)
}

// claim leases the oldest due erasure. An erasure that fails is repeated when its lease has ended.
func claim(ctx context.Context, q pg.Querier, now time.Time) ([]erasure, error) {
	return pg.All[erasure](ctx, q, jobs.Due("erasures", "deletion_id")+`
		UPDATE erasures e
		SET leased_until = $2
		FROM due
		WHERE e.deletion_id = due.deletion_id
		RETURNING e.deletion_id, e.user_id, e.email`, now, now.Add(lease), 1)
}

// lockShared locks the budgets of a user, those with a membership of the user, and those with an
// invitation to the e-mail, and then the same goals, in the order in which all transactions lock
// them.
func lockShared(ctx context.Context, tx pgx.Tx, e erasure) error {
	err := pg.Exec(ctx, tx, `
		SELECT b.id
		FROM budgets b
		WHERE b.owner_id = $1
			OR b.id IN (SELECT budget_id FROM members WHERE user_id = $1 OR email = $2)
		ORDER BY b.id
		FOR NO KEY UPDATE`, e.UserID, e.Email)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, tx, `
		SELECT g.id
		FROM goals g
		WHERE g.owner_id = $1
			OR g.id IN (SELECT goal_id FROM goal_members WHERE user_id = $1 OR email = $2)
		ORDER BY g.id
		FOR NO KEY UPDATE`, e.UserID, e.Email)
}

// deleteAssignments deletes the money of a user in the goals of others. The goals are locked.
func deleteAssignments(ctx context.Context, tx pgx.Tx, e erasure) error {
	if err := pg.Exec(ctx, tx, `DELETE FROM assignments WHERE user_id = $1`, e.UserID); err != nil {
		return err
	}
	return pg.Exec(ctx, tx, `DELETE FROM goal_wallets WHERE user_id = $1`, e.UserID)
}

// membership is a deleted membership, or a deleted invitation to the e-mail. The id and the name of
// the budget or those of the goal are empty.
type membership struct {
	BudgetID   string    `db:"budget_id"`
	BudgetName string    `db:"budget_name"`
	GoalID     string    `db:"goal_id"`
	GoalName   string    `db:"goal_name"`
	OwnerID    uuid.UUID `db:"owner_id"`
	Status     string
	// ByMail is true for an invitation by mail without an answer, whose owner does not know whether
	// the e-mail has an account.
	ByMail bool `db:"by_mail"`
}

func deleteMemberships(ctx context.Context, q pg.Querier, e erasure) ([]membership, error) {
	return pg.All[membership](ctx, q, `
		WITH of_budgets AS (
			DELETE FROM members m
			USING budgets b
			WHERE b.id = m.budget_id AND (m.user_id = $1 OR m.email = $2)
			RETURNING m.budget_id::text, b.name AS budget_name, '' AS goal_id, '' AS goal_name,
				b.owner_id, m.status,
				m.status = 'pending' AND m.invitation_id IS NOT NULL AS by_mail
		), of_goals AS (
			DELETE FROM goal_members m
			USING goals g
			WHERE g.id = m.goal_id AND (m.user_id = $1 OR m.email = $2)
			RETURNING '' AS budget_id, '' AS budget_name, m.goal_id::text, g.name AS goal_name,
				g.owner_id, m.status,
				m.status = 'pending' AND m.invitation_id IS NOT NULL AS by_mail
		)
		SELECT * FROM of_budgets UNION ALL SELECT * FROM of_goals`, e.UserID, e.Email)
}

// deleteRows runs one of deletions, and reports whether it deleted rows.
func deleteRows(
	ctx context.Context, q pg.Querier, statement string, user uuid.UUID,
) (bool, error) {
	return pg.Affected(ctx, q, statement, user)
}

// mentions is a table with messages of other users that may name the user.
type mentions struct {
	name, column string
	replace      func(erasure, []byte) ([]byte, error)
}

var (
	notifications = mentions{"notifications", "data", erasure.anonymousEvent}
	deliveries    = mentions{"webhook_deliveries", "body", erasure.anonymousBody}
)

type mention struct {
	UserID  uuid.UUID `db:"user_id"`
	ID      uuid.UUID
	Content []byte
}

// mentioning is the condition on a column that contains the id of the user $1, or the e-mail $2.
func mentioning(column string) string {
	return `(position(convert_to($1::uuid::text, 'UTF8') IN ` + column + `) > 0
		OR position(convert_to($2, 'UTF8') IN ` + column + `) > 0)`
}

// selectMentions returns the next rows after a row that name the user.
func selectMentions(
	ctx context.Context, q pg.Querier, of mentions, e erasure, after mention,
) ([]mention, error) {
	return pg.All[mention](ctx, q, `
		SELECT user_id, id, `+of.column+` AS content
		FROM `+of.name+`
		WHERE `+mentioning(of.column)+` AND (user_id, id) > ($3, $4)
		ORDER BY user_id, id
		LIMIT 1000`, e.UserID, e.Email, after.UserID, after.ID)
}

func updateMention(
	ctx context.Context, q pg.Querier, in mentions, row mention, content []byte,
) error {
	return pg.Exec(ctx, q, `
		UPDATE `+in.name+`
		SET `+in.column+` = $3
		WHERE user_id = $1 AND id = $2`, row.UserID, row.ID, content)
}

// selectPublishing reports whether the outbox has events that name the user, or a budget of the
// user is not yet reported to the ledger. The trigger on budgets has queued the deleted ones.
func selectPublishing(ctx context.Context, q pg.Querier, e erasure) (bool, error) {
	return pg.Value[bool](ctx, q, `
		SELECT EXISTS (SELECT FROM outbox WHERE user_id = $1 OR `+mentioning("data")+`)
			OR EXISTS (SELECT FROM reference_syncs WHERE owner_id = $1)`, e.UserID, e.Email)
}

// release ends the lease of an erasure.
func release(ctx context.Context, q pg.Querier, deletion uuid.UUID) error {
	return pg.Exec(ctx, q,
		`UPDATE erasures SET leased_until = '-infinity' WHERE deletion_id = $1`, deletion)
}

// deleteErasure deletes an erasure, and returns false if another replica has completed it.
func deleteErasure(ctx context.Context, q pg.Querier, deletion uuid.UUID) (bool, error) {
	return pg.Affected(ctx, q, `DELETE FROM erasures WHERE deletion_id = $1`, deletion)
}

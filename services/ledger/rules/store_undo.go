package rules

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

const (
	// retention is the time for which an application can be undone.
	retention = 30 * 24 * time.Hour
	// expiredRows is the number of changes that deleteChanges deletes.
	expiredRows = 5000
)

// written holds the values that an application writes; nil for a field that it does not set. The
// category follows merges. Tag is a key, and nil after a merge or a deletion of the tag.
type written struct {
	AppliedAt   time.Time  `db:"applied_at"`
	Category    *uuid.UUID `db:"wrote_category"`
	Payee       *string    `db:"wrote_payee"`
	Description *string    `db:"wrote_description"`
	Notes       *string    `db:"wrote_notes"`
	Tag         *string    `db:"wrote_tag"`
}

// writtenColumns are the columns of a job's row for jobs.Renew, whose first argument is the owner.
const writtenColumns = `applied_at, coalesce((
		SELECT m.category_id
		FROM merged_categories m
		WHERE m.owner_id = $1 AND m.id = rule_jobs.wrote_category), wrote_category
	) AS wrote_category, wrote_payee, wrote_description, wrote_notes, wrote_tag`

// change holds the values of a transaction before an application; nil for a field that it has not
// changed. CategoryID follows merges, and is also nil if the category was deleted.
type change struct {
	TransactionID uuid.UUID `db:"transaction_id"`
	Recategorized bool
	CategoryID    *uuid.UUID `db:"category_id"`
	Payee         *string
	Description   *string
	Notes         *string
	Tagged        bool
}

// insertChanges stores the values of transactions before the current application of a rule changes
// them. Changes of an earlier application are replaced. Those of the same one are merged: an edit
// can move a transaction to a later date, where the job changes it again. It returns the number of
// transactions that this application changes for the first time.
func insertChanges(
	ctx context.Context, q pg.Querier, rule Rule, before, after []posting.Transaction,
) (int, error) {
	if len(after) == 0 || rule.AppliedAt == nil {
		return len(after), nil
	}
	var ids []uuid.UUID
	var categories []*uuid.UUID
	var payees, descriptions, notes []*string
	var tagged []bool
	former := func(from, to string) *string {
		if from == to {
			return nil
		}
		return &from
	}
	for i, transaction := range before {
		next := after[i]
		category := transaction.CategoryID
		if category != nil && next.HasCategory(*category) {
			category = nil
		}
		ids = append(ids, transaction.ID)
		categories = append(categories, category)
		payees = append(payees, former(transaction.Payee, next.Payee))
		descriptions = append(descriptions, former(transaction.Description, next.Description))
		notes = append(notes, former(transaction.Notes, next.Notes))
		tagged = append(tagged, !slices.Equal(transaction.Tags, next.Tags))
	}
	// The SELECT does not see the rows of the INSERT.
	again, err := pg.Value[int](ctx, q, `
		WITH stored AS (
			INSERT INTO rule_changes AS o (owner_id, rule_id, applied_at, transaction_id,
				category_id, payee, description, notes, tagged)
			SELECT $1, $2, $3, c.*
			FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
				$9::boolean[]) AS c (transaction_id)
			ORDER BY transaction_id
			ON CONFLICT (owner_id, rule_id, transaction_id) DO UPDATE
			SET (applied_at, category_id, payee, description, notes, tagged) = (
				SELECT EXCLUDED.applied_at, coalesce(EXCLUDED.category_id, s.category_id),
					coalesce(EXCLUDED.payee, s.payee),
					coalesce(EXCLUDED.description, s.description),
					coalesce(EXCLUDED.notes, s.notes),
					EXCLUDED.tagged OR coalesce(s.tagged, false)
				FROM (SELECT 1) AS one
				LEFT JOIN (SELECT o.*) AS s ON s.applied_at = EXCLUDED.applied_at)
		)
		SELECT count(*)
		FROM rule_changes
		WHERE owner_id = $1 AND rule_id = $2 AND transaction_id = ANY($4) AND applied_at = $3`,
		rule.OwnerID, rule.ID, rule.AppliedAt, ids, categories, payees, descriptions, notes, tagged)
	return len(ids) - again, err
}

// queueUndo queues the undo of a rule's latest application. The total is the number of its changes.
func queueUndo(ctx context.Context, q pg.Querier, owner, rule uuid.UUID, at time.Time) error {
	return pg.Exec(ctx, q, `
		UPDATE rule_jobs j
		SET status = 'undoing', done = 0, problem = '', attempts = 0, queued_at = $3,
			total = (
				SELECT count(*)
				FROM rule_changes c
				WHERE c.owner_id = $1 AND c.rule_id = $2 AND c.applied_at = j.applied_at)
		WHERE owner_id = $1 AND rule_id = $2`, owner, rule, at)
}

// nextChanges is the condition of the next $4 changes of an application of a rule, in the order of
// transactions. It is a range of ids: PostgreSQL expects few changes of any rule, and would compare
// each of them with each id of a list. $5 is the greatest id.
const nextChanges = `owner_id = $1 AND rule_id = $2 AND applied_at = $3
			AND transaction_id <= coalesce((
				SELECT transaction_id
				FROM rule_changes
				WHERE owner_id = $1 AND rule_id = $2 AND applied_at = $3
				ORDER BY transaction_id
				OFFSET $4::int - 1
				LIMIT 1), $5)`

// takeChanges deletes and returns up to limit changes of the latest application of a job's rule.
func takeChanges(
	ctx context.Context, q pg.Querier, job jobs.Job, appliedAt time.Time, limit int,
) ([]change, error) {
	return pg.All[change](ctx, q, `
		WITH taken AS (
			DELETE FROM rule_changes
			WHERE `+nextChanges+`
			RETURNING transaction_id, category_id, payee, description, notes, tagged
		)
		SELECT t.transaction_id, t.category_id IS NOT NULL AS recategorized, c.id AS category_id,
			t.payee, t.description, t.notes, t.tagged
		FROM taken t
		LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = t.category_id
		LEFT JOIN categories c
			ON c.owner_id = $1 AND c.id = coalesce(m.category_id, t.category_id)`,
		job.OwnerID, job.ID, appliedAt, limit, uuid.Max)
}

// advanceUndo stores the progress of an undo, and resets the attempts. jobs.Renew has locked the
// row.
func advanceUndo(
	ctx context.Context, q pg.Querier, j jobs.Job, processed, restored, kept int,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rule_jobs
		SET done = done + $3, restored = restored + $4, kept = kept + $5, attempts = 0
		WHERE owner_id = $1 AND rule_id = $2`, j.OwnerID, j.ID, processed, restored, kept)
}

// application identifies the changes of an application.
type application struct {
	OwnerID   uuid.UUID `db:"owner_id"`
	RuleID    uuid.UUID `db:"rule_id"`
	AppliedAt time.Time `db:"applied_at"`
}

// Expire deletes the changes of applications that can no longer be undone.
func Expire(ctx context.Context, q pg.Querier, now time.Time) error {
	for after := (application{}); ; {
		changes, err := selectApplications(ctx, q, now.Add(-retention), after)
		if err != nil || len(changes) == 0 {
			return err
		}
		for _, c := range changes {
			for more := c.Ended && c.application != after; more; {
				if more, err = deleteChanges(ctx, q, c.application); err != nil {
					return err
				}
			}
			after = c.application
		}
	}
}

// appliedChange is the application of a change. Ended reports whether it can no longer be undone.
type appliedChange struct {
	application
	Ended bool
}

// selectApplications returns the applications of the next changes after those of an application,
// one row per change. An application can no longer be undone if it began before a time, another
// application of the rule followed, or the rule was deleted. The index rule_changes_applied_at
// finds the next application without reading the changes of the previous one, and a small limit
// returns few changes of a large one.
func selectApplications(
	ctx context.Context, q pg.Querier, before time.Time, after application,
) ([]appliedChange, error) {
	return pg.All[appliedChange](ctx, q, `
		SELECT c.owner_id, c.rule_id, c.applied_at,
			c.applied_at < $1 OR j.owner_id IS NULL AS ended
		FROM rule_changes c
		LEFT JOIN rule_jobs j ON j.owner_id = c.owner_id AND j.rule_id = c.rule_id
			AND j.applied_at = c.applied_at
		WHERE (c.applied_at, c.owner_id, c.rule_id) > ($2, $3, $4)
		ORDER BY c.applied_at, c.owner_id, c.rule_id
		LIMIT 100`, before, after.AppliedAt, after.OwnerID, after.RuleID)
}

// deleteChanges deletes the next changes of an application, and reports whether there were any. It
// locks them in the order of their transactions, like insertChanges of the next application of the
// rule, so that the two cannot deadlock.
func deleteChanges(
	ctx context.Context, q pg.Querier, application application,
) (more bool, err error) {
	return pg.Affected(ctx, q, `DELETE FROM rule_changes WHERE `+nextChanges,
		application.OwnerID, application.RuleID, application.AppliedAt, expiredRows, uuid.Max)
}

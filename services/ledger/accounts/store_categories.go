package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/coffer-budget/coffer/internal/pg"
)

type category struct {
	ID      uuid.UUID
	OwnerID uuid.UUID `db:"owner_id"`
	// Name is unique per owner, ignoring case.
	Name string
	// Color, Icon and Kind are empty if the owner set none.
	Color, Icon, Kind string
	// Version starts at 1 and increases with each change. The ETag contains it.
	Version   int64
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

const categoryColumns = `id, owner_id, name, color, icon, kind, version, created_at, updated_at`

// countRows returns the number of an owner's rows in table wallets or categories. A lock serializes
// the owner's creations until tx ends, so that concurrent ones cannot exceed the limit. The count
// is a separate statement, so its snapshot includes the creations that the lock waited for. Two
// owners whose hashes are equal wait for each other, which is harmless. The primary keys start with
// the owner, so the count reads only the entries of this owner.
func countRows(ctx context.Context, tx pgx.Tx, table string, owner uuid.UUID) (int64, error) {
	if err := pg.Lock(ctx, tx, table, owner); err != nil {
		return 0, err
	}
	return pg.Value[int64](ctx, tx,
		`SELECT count(*) FROM `+table+` WHERE owner_id = $1`, owner)
}

// insertCategory inserts a category. It violates categories_owner_name_key if the owner has a
// category of that name, ignoring case.
func insertCategory(ctx context.Context, q pg.Querier, c category) error {
	return pg.Exec(ctx, q, `
		INSERT INTO categories (owner_id, id, name, version, created_at, updated_at, color, icon,
			kind)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		c.OwnerID, c.ID, c.Name, c.Version, c.CreatedAt, c.UpdatedAt, c.Color, c.Icon, c.Kind)
}

// selectCategory returns a category, or pgx.ErrNoRows if the id is unknown or the category belongs
// to another owner.
func selectCategory(ctx context.Context, q pg.Querier, owner, id uuid.UUID) (category, error) {
	return pg.One[category](ctx, q,
		`SELECT `+categoryColumns+` FROM categories WHERE owner_id = $1 AND id = $2`, owner, id)
}

// selectCategories returns up to limit of an owner's categories with an id less than before, newest
// first.
func selectCategories(
	ctx context.Context, q pg.Querier, owner, before uuid.UUID, limit int,
) ([]category, error) {
	return pg.All[category](ctx, q, `
		SELECT `+categoryColumns+`
		FROM categories
		WHERE owner_id = $1 AND id < $2
		ORDER BY id DESC
		LIMIT $3`, owner, before, limit)
}

// lockCategories prevents changes, deletions and new uses of categories until the transaction ends,
// and returns the categories that belong to the owner. It locks them by id, so that concurrent
// calls cannot deadlock. FOR UPDATE conflicts with the lock that a foreign key takes, so new
// transactions and budget references wait.
func lockCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID, ids ...uuid.UUID,
) (map[uuid.UUID]category, error) {
	rows, err := pg.All[category](ctx, q, `
		SELECT `+categoryColumns+`
		FROM categories
		WHERE owner_id = $1 AND id = ANY($2)
		ORDER BY id
		FOR UPDATE`, owner, ids)
	if err != nil {
		return nil, err
	}
	locked := map[uuid.UUID]category{}
	for _, c := range rows {
		locked[c.ID] = c
	}
	return locked, nil
}

// updateCategory writes the fields of a category that its owner can change, and the version. It
// violates categories_owner_name_key like insertCategory. A trigger sets seq, because the statement
// does not.
func updateCategory(ctx context.Context, q pg.Querier, c category) error {
	return pg.Exec(ctx, q, `
		UPDATE categories
		SET name = $3, version = $4, updated_at = $5, color = $6, icon = $7, kind = $8
		WHERE owner_id = $1 AND id = $2`,
		c.OwnerID, c.ID, c.Name, c.Version, c.UpdatedAt, c.Color, c.Icon, c.Kind)
}

// reassignTransactions changes the category of all transactions and splits of a category. It waits
// for rows that an earlier release is changing, because that release does not share the owner's
// lock. So mergeTotals must be a later statement, whose snapshot includes them. The statements set
// seq themselves, which skips the trigger: a category may have thousands of transactions (ADR 83).
// A transaction with a reassigned split gets a new version, too, because the API shows splits as a
// part of their transaction.
func reassignTransactions(
	ctx context.Context, q pg.Querier, owner, from, to uuid.UUID, at time.Time,
) error {
	err := pg.Exec(ctx, q, `
		UPDATE transactions
		SET category_id = $3, version = version + 1, updated_at = $4, seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND category_id = $2`, owner, from, to, at)
	if err != nil {
		return err
	}
	return pg.Exec(ctx, q, `
		WITH part AS (
			UPDATE splits
			SET category_id = $3
			WHERE owner_id = $1 AND category_id = $2
			RETURNING transaction_id
		)
		UPDATE transactions
		SET version = version + 1, updated_at = $4, seq = (SELECT taken_seq($1))
		WHERE owner_id = $1 AND id IN (SELECT transaction_id FROM part)`, owner, from, to, at)
}

// reassignRules makes the rules that set a category set another one. A trigger numbers the changed
// rules for synchronization. A rule that is being applied at this time continues with the target,
// because each chunk of its job reads the rule again.
func reassignRules(
	ctx context.Context, q pg.Querier, owner, from, to uuid.UUID, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		UPDATE rules
		SET category_id = $3, version = version + 1, updated_at = $4
		WHERE owner_id = $1 AND category_id = $2`, owner, from, to, at)
}

// keepChosen makes the undo of rules keep the categories that users have chosen instead of the
// written one, if the two are merged: afterwards it cannot distinguish them. The former category of
// such a transaction becomes the nil UUID, like one that was deleted. It must precede
// reassignTransactions.
func keepChosen(ctx context.Context, q pg.Querier, owner, from, to uuid.UUID) error {
	return pg.Exec(ctx, q, `
		UPDATE rule_changes c
		SET category_id = $4
		FROM rule_jobs j
		LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = j.wrote_category
		JOIN transactions t ON t.owner_id = $1 AND t.category_id IN ($2, $3)
			AND t.category_id <> coalesce(m.category_id, j.wrote_category)
		WHERE j.owner_id = $1 AND coalesce(m.category_id, j.wrote_category) IN ($2, $3)
			AND c.owner_id = $1 AND c.rule_id = j.rule_id AND c.transaction_id = t.id
			AND c.applied_at = j.applied_at AND c.category_id IS NOT NULL`,
		owner, from, to, uuid.Nil)
}

// mergeTotals adds the monthly totals of one category to those of another, and deletes the former.
// It violates monthly_totals_amount_range if a total would be out of range. The rows are inserted
// in the same order as in the statement of package posting that updates the totals of transactions.
func mergeTotals(ctx context.Context, q pg.Querier, owner, from, to uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH merged AS (
			DELETE FROM monthly_totals
			WHERE owner_id = $1 AND category_id = $2
			RETURNING owner_id, month, wallet_id, currency, income_minor, expense_minor,
				transaction_count
		)
		INSERT INTO monthly_totals AS m
			(owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor,
			transaction_count)
		SELECT owner_id, month, wallet_id, $3::uuid, currency, income_minor, expense_minor,
			transaction_count
		FROM merged
		ORDER BY month, wallet_id, currency
		ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
		SET income_minor = m.income_minor + EXCLUDED.income_minor,
			expense_minor = m.expense_minor + EXCLUDED.expense_minor,
			transaction_count = m.transaction_count + EXCLUDED.transaction_count`, owner, from, to)
}

// deleteCategory deletes a category and its totals, and replaces it in the owner's settings by the
// target of its merge. Without a merge, target is nil. It violates categoryKey if a transaction, a
// budget or a rule uses the category. Otherwise the totals are zero. The caller holds the owner's
// lock. The foreign key of settings would also remove a deleted category, but without a new
// version, so a client would keep an ETag that still matches.
func deleteCategory(
	ctx context.Context, q pg.Querier, owner, id uuid.UUID, target *uuid.UUID, at time.Time,
) error {
	return pg.Exec(ctx, q, `
		WITH emptied AS (DELETE FROM monthly_totals WHERE owner_id = $1 AND category_id = $2),
			preferred AS (
				UPDATE settings
				SET default_category_id = $3, version = version + 1, updated_at = $4
				WHERE owner_id = $1 AND default_category_id = $2
			)
		DELETE FROM categories WHERE owner_id = $1 AND id = $2`, owner, id, target, at)
}

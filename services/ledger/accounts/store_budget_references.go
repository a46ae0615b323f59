package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/pg"
)

// categoryKey is the foreign key that prevents the deletion of a category that a transaction, a
// budget or a rule uses. The constraints of all these tables have this name.
const categoryKey = "transactions_category_fkey"

// heldCategory identifies a category by the id that a budget holds. The category may have been
// merged since.
type heldCategory struct{ budget, id uuid.UUID }

// flatUses holds the uses of an owner's budgets as arrays for unnest: one element per budget, per
// category and per settled reservation.
type flatUses struct {
	budgets                 []uuid.UUID
	versions                []int64
	heldBudgets, held       []uuid.UUID
	settledBudgets, settled []uuid.UUID
}

// flatten converts budget uses to arrays. The three groups of arrays have different lengths, and
// each statement uses the groups that it needs.
func flatten(uses []budgetUse) flatUses {
	var flat flatUses
	for _, use := range uses {
		flat.budgets = append(flat.budgets, use.budget)
		flat.versions = append(flat.versions, use.version)
		for _, id := range use.categories {
			flat.heldBudgets = append(flat.heldBudgets, use.budget)
			flat.held = append(flat.held, id)
		}
		for _, id := range use.settled {
			flat.settledBudgets = append(flat.settledBudgets, use.budget)
			flat.settled = append(flat.settled, id)
		}
	}
	return flat
}

// reserveCategories reserves an owner's categories for a budget. A repetition with the same
// reservation changes nothing. It violates categoryKey if a category was deleted concurrently.
func reserveCategories(
	ctx context.Context, q pg.Querier, owner, budget, reservation uuid.UUID, categories []uuid.UUID,
	until time.Time,
) error {
	return pg.Exec(ctx, q, `
		INSERT INTO budget_references (owner_id, budget_id, reservation, held_id, category_id,
			expires_at)
		SELECT $1, $2, $3, id, id, $5
		FROM unnest($4::uuid[]) AS c (id)
		ORDER BY id
		ON CONFLICT (owner_id, budget_id, reservation, held_id) DO NOTHING`,
		owner, budget, reservation, categories, until)
}

// shareReferencedCategories prevents the deletion of the categories of budgets until the
// transaction ends: both of the categories that the budgets hold and of the recorded ones. FOR KEY
// SHARE is the lock that a foreign key takes, so concurrent requests do not wait for each other.
func shareReferencedCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse,
) error {
	flat := flatten(uses)
	return pg.Exec(ctx, q, `
		SELECT id
		FROM categories
		WHERE owner_id = $1 AND id IN (
			SELECT coalesce(m.category_id, h.id)
			FROM unnest($2::uuid[]) AS h (id)
			LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = h.id
			UNION
			SELECT category_id
			FROM budget_references
			WHERE owner_id = $1 AND budget_id = ANY($3)
		)
		ORDER BY id
		FOR KEY SHARE`, owner, flat.held, flat.budgets)
}

// upsertReferencingBudgets locks the budgets, records their versions, and returns the budgets whose
// version is not older than the recorded one. The version of a deleted budget expires. The rows are
// inserted in the order of the primary key, so that two requests with the same budgets lock them in
// the same order. A row whose version is newer is not updated, and therefore not returned.
func upsertReferencingBudgets(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse, expiry time.Time,
) (map[uuid.UUID]bool, error) {
	flat := flatten(uses)
	budgets, err := pg.Values[uuid.UUID](ctx, q, `
		INSERT INTO referencing_budgets AS k (owner_id, budget_id, version, expires_at)
		SELECT $1, budget_id, version,
			CASE WHEN version = $4 THEN $5::timestamptz ELSE 'infinity' END
		FROM unnest($2::uuid[], $3::bigint[]) AS b (budget_id, version)
		ORDER BY budget_id
		ON CONFLICT (owner_id, budget_id) DO UPDATE
		SET version = EXCLUDED.version, expires_at = EXCLUDED.expires_at
		WHERE k.version <= EXCLUDED.version
		RETURNING budget_id`, owner, flat.budgets, flat.versions, int64(deletedVersion), expiry)
	if err != nil {
		return nil, err
	}
	latest := map[uuid.UUID]bool{}
	for _, budget := range budgets {
		latest[budget] = true
	}
	return latest, nil
}

// insertReferences records the existing categories that budgets hold: the category with that id, or
// the target of its merge. The nil UUID in reservation marks a recorded category. A row that exists
// is kept, because a merge may have changed its category_id.
func insertReferences(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse,
) error {
	flat := flatten(uses)
	return pg.Exec(ctx, q, `
		INSERT INTO budget_references (owner_id, budget_id, reservation, held_id, category_id,
			expires_at)
		SELECT DISTINCT ON (h.budget_id, h.id)
			$1::uuid, h.budget_id, $4::uuid, h.id, coalesce(c.id, m.category_id),
			'infinity'::timestamptz
		FROM unnest($2::uuid[], $3::uuid[]) AS h (budget_id, id)
		LEFT JOIN categories c ON c.owner_id = $1 AND c.id = h.id
		LEFT JOIN merged_categories m ON m.owner_id = $1 AND m.id = h.id
		WHERE coalesce(c.id, m.category_id) IS NOT NULL
		ORDER BY h.budget_id, h.id
		ON CONFLICT (owner_id, budget_id, reservation, held_id) DO NOTHING`,
		owner, flat.heldBudgets, flat.held, uuid.Nil)
}

// deleteUnheldReferences deletes recorded categories that budgets no longer hold. It does not
// delete reservations. Because of the nil UUID in the condition, reservations of a concurrent write
// of the same budget remain until that write has ended.
func deleteUnheldReferences(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse,
) error {
	f := flatten(uses)
	return pg.Exec(ctx, q, `
		DELETE FROM budget_references
		WHERE owner_id = $1 AND budget_id = ANY($2) AND reservation = $5
			AND (budget_id, held_id) NOT IN (
				SELECT budget_id, id FROM unnest($3::uuid[], $4::uuid[]) AS h (budget_id, id))`,
		owner, f.budgets, f.heldBudgets, f.held, uuid.Nil)
}

// deleteReservations releases settled reservations, also those that no longer exist. The nil UUID
// marks recorded categories, so the condition excludes it: a request must not be able to delete
// those.
func deleteReservations(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse,
) error {
	f := flatten(uses)
	return pg.Exec(ctx, q, `
		DELETE FROM budget_references r
		USING unnest($2::uuid[], $3::uuid[]) AS s (budget_id, reservation)
		WHERE r.owner_id = $1 AND r.budget_id = s.budget_id
			AND r.reservation = s.reservation AND r.reservation <> $4`,
		owner, f.settledBudgets, f.settled, uuid.Nil)
}

// selectHeldCategories returns the existing category for each id that budgets hold.
func selectHeldCategories(
	ctx context.Context, q pg.Querier, owner uuid.UUID, uses []budgetUse,
) (map[heldCategory]uuid.UUID, error) {
	type row struct {
		BudgetID   uuid.UUID `db:"budget_id"`
		HeldID     uuid.UUID `db:"held_id"`
		CategoryID uuid.UUID `db:"category_id"`
	}
	flat := flatten(uses)
	rows, err := pg.All[row](ctx, q, `
		SELECT budget_id, held_id, category_id
		FROM budget_references
		WHERE owner_id = $1 AND budget_id = ANY($2) AND reservation = $3`,
		owner, flat.budgets, uuid.Nil)
	if err != nil {
		return nil, err
	}
	held := map[heldCategory]uuid.UUID{}
	for _, r := range rows {
		held[heldCategory{r.BudgetID, r.HeldID}] = r.CategoryID
	}
	return held, nil
}

// mergeReferences replaces a category of budgets with the target of its merge. It also records the
// merge, for budgets that hold the old id and are not recorded yet. Earlier merges into the
// category then lead to the new target, so that one lookup always finds it. DeleteCategory calls it
// under the owner's exclusive lock. The indexes budget_references_category and
// merged_categories_category find the rows.
func mergeReferences(ctx context.Context, q pg.Querier, owner, from, to uuid.UUID) error {
	return pg.Exec(ctx, q, `
		WITH moved AS (
			UPDATE budget_references SET category_id = $3
			WHERE owner_id = $1 AND category_id = $2
		), followed AS (
			UPDATE merged_categories SET category_id = $3
			WHERE owner_id = $1 AND category_id = $2
		)
		INSERT INTO merged_categories (owner_id, id, category_id)
		VALUES ($1, $2, $3)`, owner, from, to)
}

// deleteExpiredReservations deletes the reservations of a category that expired because the budget
// service never settled them. Recorded categories of budgets do not expire. DeleteCategory calls it
// before the deletion. It reads the index budget_references_category.
func deleteExpiredReservations(
	ctx context.Context, q pg.Querier, owner, category uuid.UUID, now time.Time,
) error {
	return pg.Exec(ctx, q, `
		DELETE FROM budget_references
		WHERE owner_id = $1 AND category_id = $2 AND expires_at <= $3`, owner, category, now)
}

// ExpireReferences deletes the expired reservations that were never settled, and the expired
// versions of deleted budgets. The hourly cleanup of the service calls it.
func ExpireReferences(ctx context.Context, q pg.Querier, now time.Time) error {
	return errors.Join(
		pg.SweepOwners(func() ([]uuid.UUID, error) {
			return pg.Values[uuid.UUID](ctx, q, selectExpired("budget_references"), now)
		}, func(owner uuid.UUID) (bool, error) {
			return pg.Affected(ctx, q, `
				DELETE FROM budget_references
				WHERE owner_id = $1 AND expires_at <= $2`, owner, now)
		}),
		pg.SweepOwners(func() ([]uuid.UUID, error) {
			return pg.Values[uuid.UUID](ctx, q, selectExpired("referencing_budgets"), now)
		}, func(owner uuid.UUID) (bool, error) {
			return pg.Affected(ctx, q, `
				DELETE FROM referencing_budgets
				WHERE owner_id = $1 AND expires_at <= $2`, owner, now)
		}))
}

// selectExpired returns the statement that selects the owners of expired rows of a table. Partial
// indexes contain only the rows that can expire, so the recorded categories of all budgets cost it
// nothing.
func selectExpired(table string) string {
	return `
		SELECT owner_id
		FROM ` + table + `
		WHERE expires_at <= $1 AND expires_at < 'infinity'
		LIMIT 1000`
}

package budget

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestWriteBudgetDuringMerge forces the orders of a write and of the event of a merge: the ledger
// merges after it reserved the category, and the event is applied before the write commits, or
// after it.
func TestWriteBudgetDuringMerge(t *testing.T) {
	t.Parallel()
	const (
		before = "applied before the write"
		after  = "applied after the write"
		never  = "never applied"
	)
	for _, name := range []string{"create", "update"} {
		for _, order := range []string{before, after, never} {
			t.Run(name+", event "+order, func(t *testing.T) {
				t.Parallel()
				env := setup(t)
				owner := env.user(t, "Owner")
				first, second := uuid.NewString(), uuid.NewString()
				target, kept := uuid.NewString(), uuid.NewString()
				var id string
				if name == "update" {
					id = env.create(t, owner, "Groceries", uuid.NewString())
				}
				var events []outbox.Received
				env.ledger.reserved = func() {
					events = []outbox.Received{
						env.merge(owner, first, second), env.merge(owner, second, target),
					}
					if order == before {
						env.apply(t, events...)
					}
				}
				if name == "create" {
					id = env.create(t, owner, "Groceries", first, kept, target)
				} else {
					_, err := env.UpdateBudget(owner.Ctx, categoryUpdate(id, first, kept, target))
					require.NoError(t, err)
				}
				if order == after {
					env.apply(t, events...)
				}
				env.syncAll(t)
				present := []string{target, kept}
				require.Equal(t, present, env.categoriesOf(t, owner, id))
				require.Equal(t, present, env.lastSync().GetCategoryIds(), "the ledger has them")
			})
		}
	}
}

func TestEventsOfChainedMergesInAnyOrder(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	first, second, third := uuid.NewString(), uuid.NewString(), uuid.NewString()
	id := env.create(t, owner, "Groceries", first)
	events := []outbox.Received{env.merge(owner, first, second), env.merge(owner, second, third)}
	slices.Reverse(events)
	for _, e := range events {
		env.apply(t, e)
		env.syncAll(t)
	}
	require.Equal(t, []string{third}, env.categoriesOf(t, owner, id))
}

func TestRepairBudgetsOfDeletedCategories(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member := env.user(t, "Owner"), env.user(t, "Member")
	deleted, kept := uuid.NewString(), uuid.NewString()
	some := env.create(t, owner, "Some", deleted, kept)
	all := env.create(t, owner, "All", deleted)
	env.join(t, owner, some, member, "viewer")
	env.syncAll(t)
	env.events(t)
	env.ledger.current[deleted] = ""
	for range 2 {
		// The previous release deletes categories that budgets use.
		env.apply(t, deletion(owner, deleted, nil))
		env.syncAll(t)
		require.Equal(t, []string{kept}, env.categoriesOf(t, owner, some))
		got := env.categoriesOf(t, owner, all)
		require.Equal(t, []string{deleted}, got, "a budget has at least one category")
	}
	lost := map[string]int{}
	for _, e := range env.events(t) {
		if m, ok := e.message(t).(*budgetv1.BudgetCategoriesLost); ok {
			require.Equal(t, owner.ID, e.UserID)
			require.Equal(t, []string{deleted}, m.GetCategoryIds())
			lost[m.GetBudgetName()+": "+strings.Join(m.GetRemainingCategoryIds(), ",")]++
		}
	}
	require.Equal(t, 1, lost["Some: "+kept])
	require.Contains(t, lost, "All: ")
	type row struct{ Type string }
	notifications, err := pg.All[row](t.Context(), env.db, `
		SELECT DISTINCT type
		FROM notifications
		WHERE user_id = $1`, owner.ID)
	require.NoError(t, err)
	require.Contains(t, notifications, row{"budget.v1.budget.categories_lost"})

	// The owner sets a category that exists. A deleted one is rejected.
	rejection := apierr.New(restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS).WithMessage("Not found")
	env.ledger.rejection = rejection.GRPCStatus().Err()
	budgettest.Refuses(t, env.db, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", func() error {
		_, err := env.UpdateBudget(owner.Ctx, categoryUpdate(all, deleted))
		return err
	})
	env.ledger.rejection = nil
	_, err = env.UpdateBudget(owner.Ctx, categoryUpdate(all, kept))
	require.NoError(t, err)
	env.syncAll(t)
	require.Equal(t, []string{kept}, env.categoriesOf(t, owner, all))
}

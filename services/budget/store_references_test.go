package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestQueueSyncsOfCategory has two owners with the same category id: only the budgets of the owner
// of the event are queued.
func TestQueueSyncsOfCategory(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, other := env.user(t, "Owner"), env.user(t, "Other")
	category := uuid.New()
	used := uuid.MustParse(env.create(t, owner, "Used", category.String()))
	env.create(t, owner, "Unused", uuid.NewString())
	env.create(t, other, "Another owner's", category.String())
	pgtest.Exec(t, env.db, `DELETE FROM reference_syncs`)

	require.NoError(t, queueSyncsOfCategory(t.Context(), env.db, owner.ID, category))
	syncs, err := claimSyncs(t.Context(), env.db, budgettest.Today)
	require.NoError(t, err)
	require.Len(t, syncs, 1)
	require.Equal(t, used, syncs[0].BudgetID)
	require.Equal(t, owner.ID, syncs[0].OwnerID)

	again, err := claimSyncs(t.Context(), env.db, budgettest.Today.Add(syncLease))
	require.NoError(t, err)
	require.Empty(t, again, "a lease includes its last moment")
	again, err = claimSyncs(t.Context(), env.db, budgettest.Today.Add(syncLease+time.Millisecond))
	require.NoError(t, err)
	require.Len(t, again, 1)
}

package budget

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestFollowCategoriesMerge(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner, member, stranger := env.user(t, "Owner"), env.user(t, "Member"), env.user(t, "Stranger")
	gone, heir, kept := uuid.NewString(), uuid.NewString(), uuid.NewString()
	of := func(who budgettest.User, name string, categories ...string) *budgetv1.Budget {
		req := newBudget()
		req.Name, req.CategoryIds = name, categories
		created, err := env.CreateBudget(who.Ctx, req)
		require.NoError(t, err)
		return created.GetBudget()
	}
	one := of(owner, "one", kept, gone)
	both := of(owner, "both", gone, heir)
	none := of(owner, "none", kept)
	theirs := of(stranger, "theirs", gone)
	env.join(t, owner, one.GetId(), member, "viewer")
	env.check(t)
	env.events(t)

	books.spend(one.GetWalletId(), "2026-03-10", 330_00)
	deleted := &ledgerv1.CategoryDeleted{
		OwnerId: owner.ID.String(), CategoryId: gone, ReassignedTo: new(heir),
	}
	merged := outbox.Received{ID: uuid.Must(uuid.NewV7()), UserID: owner.ID, Data: deleted}
	for range 2 {
		env.apply(t, merged)
		for of, want := range map[*budgetv1.Budget][]string{
			one: {kept, heir}, both: {heir}, none: {kept},
		} {
			got, err := env.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: of.GetId()})
			require.NoError(t, err)
			require.Equal(t, want, got.GetBudget().GetCategoryIds(), of.GetName())
		}
		got, err := env.GetBudget(stranger.Ctx, &budgetv1.GetBudgetRequest{Id: theirs.GetId()})
		require.NoError(t, err)
		require.Equal(t, []string{gone}, got.GetBudget().GetCategoryIds())
	}

	received := map[string]int{}
	for _, published := range env.events(t) {
		switch m := published.message(t).(type) {
		case *budgetv1.BudgetUpdated:
			require.Equal(t, owner.ID.String(), m.GetUpdatedBy())
			require.Contains(t, m.GetBefore().GetCategoryIds(), gone)
			require.NotContains(t, m.GetAfter().GetCategoryIds(), gone)
			received[m.GetAfter().GetName()+" to "+published.UserID.String()]++
		case *budgetv1.BudgetThresholdReached:
			received["80 of "+m.GetBudgetName()+" to "+published.UserID.String()]++
		}
	}
	require.Equal(t, map[string]int{
		"one to " + owner.ID.String(): 1, "one to " + member.ID.String(): 1,
		"both to " + owner.ID.String():      1,
		"80 of one to " + owner.ID.String(): 1, "80 of one to " + member.ID.String(): 1,
	}, received)
}

package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestListLimits(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	day := budgettest.Today
	env.now = func() time.Time { return day }
	id := env.budget(t, owner).GetId()
	first := day.Format(time.DateOnly)
	update := func(req *budgetv1.UpdateBudgetRequest) {
		t.Helper()
		req.Id = id
		_, err := env.UpdateBudget(owner.Ctx, req)
		require.NoError(t, err)
	}
	limits := func(
		who budgettest.User, req *budgetv1.ListLimitsRequest,
	) ([]string, *budgetv1.ListLimitsResponse) {
		t.Helper()
		req.BudgetId = id
		resp, err := env.ListLimits(who.Ctx, req)
		require.NoError(t, err)
		var found []string
		for _, l := range resp.GetLimits() {
			found = append(found, l.GetLimit()+" "+l.GetCurrency()+" "+l.GetFrom()+" "+l.GetTo())
		}
		return found, resp
	}
	plus := func(days int) string {
		return budgettest.Today.AddDate(0, 0, days).Format(time.DateOnly)
	}

	// A change on the day of the creation replaces the limit, and a change of another field is no
	// change of the limit.
	update(&budgetv1.UpdateBudgetRequest{Limit: new("100")})
	day = budgettest.Today.AddDate(0, 0, 1)
	update(&budgetv1.UpdateBudgetRequest{Name: new("Food")})
	found, _ := limits(owner, &budgetv1.ListLimitsRequest{})
	require.Equal(t, []string{"100.00 USD " + first + " "}, found)

	// Of two changes on a day, the last one counts.
	day = budgettest.Today.AddDate(0, 0, 5)
	update(&budgetv1.UpdateBudgetRequest{Limit: new("200")})
	update(&budgetv1.UpdateBudgetRequest{Limit: new("250")})
	day = budgettest.Today.AddDate(0, 0, 9)
	update(&budgetv1.UpdateBudgetRequest{Limit: new("3000"), Currency: new("JPY")})
	all := []string{
		"3000 JPY " + plus(9) + " ", "250.00 USD " + plus(5) + " " + plus(8),
		"100.00 USD " + first + " " + plus(4),
	}
	found, _ = limits(owner, &budgetv1.ListLimitsRequest{})
	require.Equal(t, all, found)

	env.share(t, owner, id, guest, "viewer")
	_, err := env.ListLimits(guest.Ctx, &budgetv1.ListLimitsRequest{BudgetId: id})
	require.ErrorIs(t, err, errInsufficientPermissions,
		"an invited user reads nothing of the budget")
	_, err = env.respond(guest, id, "accepted")
	require.NoError(t, err)
	var paged []string
	for cursor := ""; ; {
		one, resp := limits(guest,
			&budgetv1.ListLimitsRequest{Limit: new(int32(1)), Cursor: cursor})
		require.Len(t, one, 1)
		paged, cursor = append(paged, one...), resp.GetPagination().GetNextCursor()
		if cursor == "" {
			break
		}
		_, err = env.ListLimits(owner.Ctx,
			&budgetv1.ListLimitsRequest{BudgetId: id, Cursor: cursor})
		require.ErrorIs(t, err, apierr.InvalidCursor, "the cursor of another user")
	}
	require.Equal(t, all, paged)

	_, err = env.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: id})
	require.NoError(t, err)
	rows := pgtest.Value[int](t, env.db, `SELECT count(*) FROM budget_limits`)
	require.Zero(t, rows)
}

func TestGetBudgetOwnerName(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	id := env.budget(t, owner).GetId()
	env.share(t, owner, id, guest, "viewer")
	names := func(who budgettest.User) (single, listed *string) {
		t.Helper()
		got, err := env.GetBudget(who.Ctx, &budgetv1.GetBudgetRequest{Id: id})
		require.NoError(t, err)
		list, err := env.ListBudgets(who.Ctx, &budgetv1.ListBudgetsRequest{Include: new("invited")})
		require.NoError(t, err)
		return got.GetBudget().OwnerName, list.GetBudgets()[0].OwnerName
	}
	list, err := env.ListBudgets(guest.Ctx, &budgetv1.ListBudgetsRequest{Include: new("invited")})
	require.NoError(t, err)
	require.Nil(t, list.GetBudgets()[0].OwnerName, "the contents of the invitation only")
	_, err = env.respond(guest, id, "accepted")
	require.NoError(t, err)
	single, listed := names(guest)
	require.Equal(t, []string{"Owner", "Owner"}, []string{*single, *listed})
	single, listed = names(owner)
	require.Nil(t, single)
	require.Nil(t, listed)
	env.auth.unavailable = apierr.Internal
	single, listed = names(guest)
	require.Nil(t, single)
	require.Nil(t, listed)
}

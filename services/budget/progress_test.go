package budget

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	period := calendar.Days(date(t, "2026-03-01"), date(t, "2026-03-31"))
	for _, tc := range []struct {
		name             string
		spent            int64
		shown, remaining string
		percentage       float64
		state            string
	}{
		{"nothing", 0, "0.00", "300.00", 0, "ok"},
		{"just below near", 23_999, "239.99", "60.01", 80, "ok"},
		{"near", 24_000, "240.00", "60.00", 80, "near"},
		{"the limit itself", 30_000, "300.00", "0.00", 100, "near"},
		{"over", 30_001, "300.01", "-0.01", 100, "over"},
		{"far over", 100_000, "1000.00", "-700.00", 333.33, "over"},
		{"more came back than went", -5_000, "-50.00", "350.00", -16.67, "ok"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := budget{Currency: "USD", LimitMinor: 30_000}.progress(period,
				[]*ledgerv1.SpentAmount{
					{Currency: "JPY", SpentMinor: 1200}, {Currency: "USD", SpentMinor: tc.spent},
				})
			want := &budgetv1.Progress{
				WindowStart: "2026-03-01", WindowEnd: "2026-03-31", Spent: tc.shown,
				Remaining: tc.remaining, Percentage: tc.percentage, State: tc.state,
				OtherCurrencies: []*budgetv1.OtherCurrency{{Currency: "JPY", Spent: "1200"}},
			}
			require.True(t, proto.Equal(want, got), "%v", got)
		})
	}
}

func TestListBudgetsProgress(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	first, second := env.budget(t, owner), env.budget(t, owner)
	env.ledger.summed = nil
	env.ledger.spend = func(w *ledgerv1.SpendingWindow) *ledgerv1.Spending {
		if w.GetWalletId() == first.GetWalletId() {
			return &ledgerv1.Spending{}
		}
		return &ledgerv1.Spending{
			Found: true, Amounts: []*ledgerv1.SpentAmount{{Currency: "USD", SpentMinor: 4_200}},
		}
	}
	resp, err := env.ListBudgets(owner.Ctx, &budgetv1.ListBudgetsRequest{})
	require.NoError(t, err)
	require.Len(t, env.ledger.summed, 1)
	want := &ledgerv1.SpendingWindow{
		OwnerId: owner.ID.String(), WalletId: second.GetWalletId(),
		CategoryIds: second.GetCategoryIds(), From: "2026-02-28", To: "2026-03-30",
	}
	require.True(t, proto.Equal(want, env.ledger.summed[0].GetWindows()[0]), "%v",
		env.ledger.summed[0])
	require.Equal(t, owner.ID.String(), env.ledger.summed[0].GetUserId(),
		"the ledger limits the reads of this user")
	require.Equal(t, "42.00", resp.GetBudgets()[0].GetProgress().GetSpent())
	require.Nil(t, resp.GetBudgets()[1].GetProgress(), "its wallet was deleted")

	for at, want := range map[string][2]string{
		"2026-01-31": {"2026-01-31", "2026-02-27"},
		"1999-01-01": {"2026-01-31", "2026-02-27"},
		"2200-12-31": {"2200-12-31", "2201-01-30"},
	} {
		resp, err := env.GetBudget(owner.Ctx,
			&budgetv1.GetBudgetRequest{Id: second.GetId(), At: &at})
		require.NoError(t, err)
		progress := resp.GetBudget().GetProgress()
		got := [2]string{progress.GetWindowStart(), progress.GetWindowEnd()}
		require.Equal(t, want, got, at)
		asked := env.ledger.summed[len(env.ledger.summed)-1].GetWindows()[0]
		require.LessOrEqual(t, asked.GetTo(), "2200-12-31")
	}
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_BUDGET_TIMEFRAME",
		pgtest.Call(owner.Ctx, env.GetBudget,
			&budgetv1.GetBudgetRequest{Id: second.GetId(), At: new("2026-02-30")}))
}

func TestListBudgetsWithoutLedgerAndAuth(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, viewer := env.user(t, "Owner"), env.user(t, "Viewer")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, viewer, "viewer")
	env.ledger.unavailable = grpcstatus.Error(codes.Unavailable, "connection refused")
	env.auth.unavailable = grpcstatus.Error(codes.Unavailable, "connection refused")
	list, err := env.ListBudgets(viewer.Ctx, &budgetv1.ListBudgetsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetBudgets(), 1)
	require.Nil(t, list.GetBudgets()[0].GetProgress())
	one, err := env.GetBudget(viewer.Ctx, &budgetv1.GetBudgetRequest{Id: id})
	require.NoError(t, err)
	require.Nil(t, one.GetBudget().GetProgress())
	require.Len(t, one.GetBudget().GetMembers(), 1)
	require.Equal(t, viewer.ID.String(), one.GetBudget().GetMembers()[0].GetMemberId())
	require.Empty(t, one.GetBudget().GetMembers()[0].GetName())
}

func TestListBudgetsMembers(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	viewer := env.user(t, "Viewer")
	guest := env.user(t, "Guest")
	former := env.user(t, "Former")
	shared, alone := env.budget(t, owner).GetId(), env.budgetNamed(t, owner, "Alone").GetId()
	env.join(t, owner, shared, viewer, "viewer")
	env.join(t, owner, env.budgetNamed(t, owner, "Too").GetId(), viewer, "viewer")
	env.share(t, owner, shared, guest, "editor")
	env.share(t, owner, shared, former, "viewer")
	_, err := env.respond(former, shared, "rejected")
	require.NoError(t, err)
	list := func(who budgettest.User, include *string) map[string]*budgetv1.ListedBudget {
		before := env.auth.calls
		resp, err := env.ListBudgets(who.Ctx, &budgetv1.ListBudgetsRequest{Include: include})
		require.NoError(t, err)
		require.LessOrEqual(t, env.auth.calls-before, 1, "one call for a page")
		budgets := map[string]*budgetv1.ListedBudget{}
		for _, budget := range resp.GetBudgets() {
			budgets[budget.GetId()] = budget
		}
		return budgets
	}
	for _, who := range []budgettest.User{owner, viewer} {
		one, err := env.GetBudget(who.Ctx, &budgetv1.GetBudgetRequest{Id: shared})
		require.NoError(t, err)
		got := list(who, nil)[shared]
		want := &budgetv1.Budget{Members: one.GetBudget().GetMembers()}
		require.True(t, proto.Equal(want, &budgetv1.Budget{Members: got.GetMembers()}), "%v", got)
		require.Equal(t, "Viewer", got.GetMembers()[len(got.GetMembers())-1].GetName())
	}
	require.Len(t, list(owner, nil)[shared].GetMembers(), 3)
	require.Len(t, list(viewer, nil)[shared].GetMembers(), 2,
		"only the owner sees rejected members")
	require.Empty(t, list(owner, nil)[alone].GetMembers())
	require.Empty(t, list(guest, new("invited"))[shared].GetMembers(),
		"a pending member does not see the others")

	for i := range maxMembersInList {
		env.share(t, owner, shared, env.user(t, fmt.Sprint("more", i)), "viewer")
	}
	require.Len(t, list(owner, nil)[shared].GetMembers(), maxMembersInList)
	env.auth.unavailable = grpcstatus.Error(codes.Unavailable, "connection refused")
	require.Len(t, list(owner, nil)[shared].GetMembers(), maxMembersInList,
		"without names when auth is unavailable")
}

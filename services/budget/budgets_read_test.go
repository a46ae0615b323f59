package budget

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestListBudgetsPages(t *testing.T) {
	t.Parallel()
	env := setup(t)
	me, friend := env.user(t, "Me"), env.user(t, "Friend")
	var want []string
	var invitedTo string
	for i := range 7 {
		switch i % 3 {
		case 0:
			want = append([]string{env.budget(t, me).GetId()}, want...)
		case 1:
			id := env.budget(t, friend).GetId()
			env.join(t, friend, id, me, "viewer")
			want = append([]string{id}, want...)
		case 2:
			invitedTo = env.budget(t, friend).GetId()
			env.share(t, friend, invitedTo, me, "editor")
		}
	}
	var got []string
	req := &budgetv1.ListBudgetsRequest{Limit: new(int32(2))}
	for {
		resp, err := env.ListBudgets(me.Ctx, req)
		require.NoError(t, err)
		require.EqualValues(t, 2, resp.GetPagination().GetLimit())
		for _, budget := range resp.GetBudgets() {
			got = append(got, budget.GetId())
			require.NotNil(t, budget.GetProgress())
		}
		if !resp.GetPagination().GetHasMore() {
			require.Empty(t, resp.GetPagination().GetNextCursor())
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Equal(t, want, got)

	all, err := env.ListBudgets(me.Ctx, &budgetv1.ListBudgetsRequest{Include: new("invited")})
	require.NoError(t, err)
	require.Len(t, all.GetBudgets(), 7)
	for _, budget := range all.GetBudgets() {
		if budget.GetId() == invitedTo {
			require.Equal(t, "pending", budget.GetMembershipStatus())
			require.Equal(t, "editor", budget.GetRole())
			require.Nil(t, budget.GetProgress(), "an invited user does not see what was spent")
		}
	}
	empty, err := env.ListBudgets(env.user(t, "Stranger").Ctx, &budgetv1.ListBudgetsRequest{})
	require.NoError(t, err)
	require.Empty(t, empty.GetBudgets())

	for reason, bad := range map[string]*budgetv1.ListBudgetsRequest{
		"INVALID_CURSOR":           {Cursor: req.GetCursor(), Include: new("invited")},
		"INVALID_BUDGET_TIMEFRAME": {At: new("tomorrow")},
		"VALIDATION_ERROR":         {Include: new("everything"), Limit: new(int32(0))},
	} {
		budgettest.Refuses(t, env.db, codes.InvalidArgument, reason,
			pgtest.Call(me.Ctx, env.ListBudgets, bad))
	}
	_, err = env.ListBudgets(me.Ctx, &budgetv1.ListBudgetsRequest{
		Include: new("everything"), Limit: new(int32(0)), At: new("tomorrow"),
	})
	var named []string
	for _, f := range apierr.From(err).Fields {
		named = append(named, f.Name)
	}
	require.Equal(t, []string{"limit", "include", "at"}, named)
	budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_CURSOR", pgtest.Call(friend.Ctx,
		env.ListBudgets, &budgetv1.ListBudgetsRequest{Cursor: req.GetCursor()}))
}

func TestBudgetTimesInUTC(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.now = func() time.Time {
		return time.Date(2026, 1, 1, 1, 0, 0, 123_456_789, time.FixedZone("", 2*60*60))
	}
	require.Equal(t, "2025-12-31T23:00:00.123Z", b.budget(t, b.user(t, "Owner")).GetCreatedAt())
	require.Equal(t, date(t, "2025-12-31"), calendar.DayOf(b.now()))
}

func TestBudgetStatus(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	for want, tc := range map[string]struct{ start, end, windowStart, windowEnd string }{
		"upcoming": {"2026-03-16", "2026-12-31", "2026-03-16", "2026-04-15"},
		"active":   {"2026-01-01", "2026-12-31", "2026-03-01", "2026-03-31"},
		"ended":    {"2025-01-01", "2025-06-15", "2025-06-01", "2025-06-15"},
	} {
		req := newBudget()
		req.StartDate, req.EndDate = tc.start, &tc.end
		created, err := env.CreateBudget(owner.Ctx, req)
		require.NoError(t, err)
		got, err := env.GetBudget(owner.Ctx,
			&budgetv1.GetBudgetRequest{Id: created.GetBudget().GetId(), At: new("2026-04-01")})
		require.NoError(t, err)
		require.Equal(t, want, got.GetBudget().GetStatus(),
			"by budgettest.Today's date, whatever the day of the progress")
		require.Equal(t, want, created.GetBudget().GetStatus())
		require.Equal(t, tc.windowStart, created.GetBudget().GetProgress().GetWindowStart(), want)
		require.Equal(t, tc.windowEnd, created.GetBudget().GetProgress().GetWindowEnd(), want)
		list, err := env.ListBudgets(owner.Ctx, &budgetv1.ListBudgetsRequest{})
		require.NoError(t, err)
		require.Equal(t, want, list.GetBudgets()[0].GetStatus())
	}
}

func TestCreateBudgetLimit(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, friend := env.user(t, "Owner"), env.user(t, "Friend")
	pgtest.Exec(t, env.db, `
		INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period, start_date,
			wallet_id, category_ids, created_at, updated_at)
		SELECT gen_random_uuid(), $1, 'Full ' || n, 'EUR', 1, 'daily', '2026-01-01',
			gen_random_uuid(), ARRAY[gen_random_uuid()], now(), now()
		FROM generate_series(1, $2) AS n`, owner.ID, maxBudgets-2)
	create := func(i int) error {
		req := newBudget()
		req.Name = fmt.Sprint("Another ", i)
		_, err := env.CreateBudget(owner.Ctx, req)
		return err
	}
	errs := make([]error, budgettest.Racers)
	var creating sync.WaitGroup
	for i := range errs {
		creating.Go(func() { errs[i] = create(i) })
	}
	creating.Wait()
	budgettest.RequireWinners(t, 2, errBudgetLimitReached, errs)
	env.syncAll(t)
	budgettest.Refuses(t, env.db, codes.AlreadyExists, "BUDGET_LIMIT_REACHED",
		func() error { return create(budgettest.Racers) })

	env.join(t, friend, env.budget(t, friend).GetId(), owner, "viewer")
	list, err := env.ListBudgets(owner.Ctx, &budgetv1.ListBudgetsRequest{Limit: new(int32(200))})
	require.NoError(t, err)
	require.True(t, list.GetPagination().GetHasMore(), "budgets of other owners do not count")
}

package goals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestCreateGoal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	req := &budgetv1.CreateGoalRequest{
		Name: " Trip ", Currency: "eur", Target: "1200.50", TargetDate: new("2026-08-31"),
		Icon: "🏝", Note: "Two weeks", IdempotencyKey: "key",
	}
	created, err := b.CreateGoal(b.me.Ctx, req)
	require.NoError(t, err)
	want := &budgetv1.Goal{
		Id: created.GetGoal().GetId(), Name: "Trip", Currency: "EUR", Target: "1200.50",
		TargetDate: new("2026-08-31"), Icon: "🏝", Note: "Two weeks", OwnerId: b.me.ID.String(),
		Role:      "owner",
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
		Progress: &budgetv1.GoalProgress{
			Saved: "0.00", Remaining: "1200.50", NeededPerMonth: new("200.09"),
			AveragePerMonth: "0.00", State: "onTrack",
		},
	}
	requireEqual(t, want, created.GetGoal())
	require.Equal(t, `"1"`, created.GetEtag())
	calls := b.ledger.calls
	again, err := b.CreateGoal(b.me.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.Equal(t, calls, b.ledger.calls, "a repetition calls the ledger")
	requireEqual(t, want, again.GetGoal())

	requireEqual(t, want, b.get(t, want))
	snapshot := snapshotOf(b.get(t, want))
	events := b.events(t)
	require.Len(t, events, 1)
	requireEqual(t, &budgetv1.GoalCreated{Goal: snapshot}, events[0])

	stranger := budgettest.NewUser(t, "Stranger")
	_, err = b.GetGoal(stranger.Ctx, &budgetv1.GetGoalRequest{Id: want.GetId()})
	require.ErrorIs(t, err, errGoalNotFound)
	_, err = b.GetGoal(b.me.Ctx, &budgetv1.GetGoalRequest{Id: "x"})
	require.ErrorIs(t, err, apierr.New(restv1.Reason_INVALID_GOAL_ID))
}

func TestCreateGoalProblems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := budgettest.Refuses(t, b.DB, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := b.CreateGoal(b.me.Ctx, &budgetv1.CreateGoalRequest{
			Currency: "JPY", Target: "1.5", TargetDate: new("2026-02-30"), Icon: "ab",
			Note: strings.Repeat("x", 1001),
		})
		return err
	})
	require.Equal(t, []apierr.Field{
		{Name: "name", Message: "is required"},
		{Name: "target", Message: "must not have more decimals than the currency"},
		{Name: "targetDate", Message: dateProblem},
		{Name: "icon", Message: "must be one emoji"},
		{Name: "note", Message: "must be at most 1000 characters"},
	}, e.Fields)
	budgettest.Refuses(t, b.DB, codes.InvalidArgument, "UNSUPPORTED_CURRENCY", func() error {
		_, err := b.CreateGoal(b.me.Ctx,
			&budgetv1.CreateGoalRequest{Name: "A", Currency: "XXX", Target: "1"})
		return err
	})
	for _, target := range []string{"", "0", "-1", "1e15"} {
		_, err := b.CreateGoal(b.me.Ctx,
			&budgetv1.CreateGoalRequest{Name: "A", Currency: "EUR", Target: target})
		require.Equal(t, "target", apierr.From(err).Fields[0].Name)
	}
}

// TestCreateGoalLimit creates goals concurrently until the limit.
func TestCreateGoalLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "1")
	pgtest.Exec(t, b.DB, `
		INSERT INTO goals (owner_id, id, name, currency, target_minor, icon, note, archived,
			created_at, updated_at)
		SELECT owner_id, gen_random_uuid(), name, currency, target_minor, icon, note, archived,
			created_at, updated_at
		FROM goals, generate_series(1, $2::int)
		WHERE id = $1`, g.GetId(), maxGoals-3)
	budgettest.RequireWinners(t, 2, errGoalLimit, race(budgettest.Racers, func(int) error {
		_, err := b.CreateGoal(b.me.Ctx,
			&budgetv1.CreateGoalRequest{Name: "A", Currency: "EUR", Target: "1"})
		return err
	}))
}

func TestUpdateGoal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	created, err := b.CreateGoal(b.me.Ctx, &budgetv1.CreateGoalRequest{
		Name: "Trip", Currency: "EUR", Target: "100", TargetDate: new("2026-08-31"), Icon: "🏝",
		Note: "Two weeks",
	})
	require.NoError(t, err)
	before := created.GetGoal()
	b.events(t)
	update := func(req *budgetv1.UpdateGoalRequest) (*budgetv1.UpdateGoalResponse, error) {
		req.Id = before.GetId()
		return b.UpdateGoal(b.me.Ctx, req)
	}
	after, err := update(&budgetv1.UpdateGoalRequest{
		Name: new("Car"), Target: new("50"), TargetDate: new(""), Icon: new(""), Note: new(""),
		Archived: new(true), IfMatch: `"1"`,
	})
	require.NoError(t, err)
	want := &budgetv1.Goal{
		Id: before.GetId(), Name: "Car", Currency: "EUR", Target: "50.00", Archived: true,
		OwnerId: b.me.ID.String(), Role: "owner", CreatedAt: before.GetCreatedAt(),
		UpdatedAt: before.GetUpdatedAt(),
		Progress: &budgetv1.GoalProgress{
			Saved: "0.00", Remaining: "50.00", AveragePerMonth: "0.00", State: "onTrack",
		},
	}
	requireEqual(t, want, after.GetGoal())
	require.Equal(t, `"2"`, after.GetEtag())
	requireEqual(t, want, b.get(t, before))
	events := b.events(t)
	require.Len(t, events, 1)
	requireEqual(t, &budgetv1.GoalUpdated{
		Before: snapshotOf(before), After: snapshotOf(want), UpdatedBy: b.me.ID.String(),
	}, events[0])

	stranger := budgettest.NewUser(t, "Stranger")
	for _, tc := range []struct {
		code   codes.Code
		reason string
		call   func() error
	}{
		{codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
			_, err := update(&budgetv1.UpdateGoalRequest{Name: new("A"), IfMatch: `"1"`})
			return err
		}},
		{codes.InvalidArgument, "EMPTY_UPDATE", func() error {
			_, err := update(&budgetv1.UpdateGoalRequest{})
			return err
		}},
		{codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := update(&budgetv1.UpdateGoalRequest{Target: new("0")})
			return err
		}},
		{codes.NotFound, "GOAL_NOT_FOUND", func() error {
			_, err := b.UpdateGoal(stranger.Ctx,
				&budgetv1.UpdateGoalRequest{Id: before.GetId(), Name: new("Mine")})
			return err
		}},
		{codes.NotFound, "GOAL_NOT_FOUND", func() error {
			_, err := b.DeleteGoal(stranger.Ctx, &budgetv1.DeleteGoalRequest{Id: before.GetId()})
			return err
		}},
		{codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
			_, err := b.DeleteGoal(b.me.Ctx,
				&budgetv1.DeleteGoalRequest{Id: before.GetId(), IfMatch: `"1"`})
			return err
		}},
	} {
		budgettest.Refuses(t, b.DB, tc.code, tc.reason, tc.call)
	}
}

// TestUpdateGoalReached lowers the target to the saved amount.
func TestUpdateGoalReached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	_, err := b.assign(g, b.bank, "60")
	require.NoError(t, err)
	b.events(t)
	resp, err := b.UpdateGoal(b.me.Ctx,
		&budgetv1.UpdateGoalRequest{Id: g.GetId(), Target: new("60")})
	require.NoError(t, err)
	require.Equal(t, "reached", resp.GetGoal().GetProgress().GetState())
	require.NotNil(t, resp.GetGoal().ReachedAt)
	events := b.events(t)
	require.Len(t, events, 2)
	reached := snapshotOf(b.get(t, g))
	requireEqual(t, &budgetv1.GoalReached{Goal: reached, Saved: "60.00"}, events[1])
	require.EqualValues(t, 1, b.notified(t))
}

func TestDeleteGoal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	_, err := b.assign(g, b.bank, "60")
	require.NoError(t, err)
	b.events(t)
	_, err = b.DeleteGoal(b.me.Ctx, &budgetv1.DeleteGoalRequest{Id: g.GetId(), IfMatch: `"1"`})
	require.NoError(t, err)
	events := b.events(t)
	require.Len(t, events, 1)
	requireEqual(t, &budgetv1.GoalDeleted{Goal: snapshotOf(g)}, events[0])
	for _, table := range []string{"goals", "assignments", "goal_wallets"} {
		require.Zero(t, pgtest.Value[int64](t, b.DB, `SELECT count(*) FROM `+table), table)
	}
}

func TestListGoals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second, third := b.goal(t, "100"), b.goal(t, "200"), b.goal(t, "300")
	for _, a := range []struct {
		goal           *budgetv1.Goal
		wallet, amount string
	}{
		{first, b.bank, "90"},
		{second, b.bank, "500"},
		{second, b.savings, "10"},
		{second, b.savings, "-10"},
		{third, b.savings, "40"},
	} {
		_, err := b.assign(a.goal, a.wallet, a.amount)
		require.NoError(t, err)
	}
	_, err := b.UpdateGoal(b.me.Ctx,
		&budgetv1.UpdateGoalRequest{Id: third.GetId(), Archived: new(true)})
	require.NoError(t, err)

	// Earlier versions left sums of 0.
	pgtest.Exec(t, b.DB, `
		INSERT INTO goal_wallets (owner_id, goal_id, wallet_id, assigned_minor)
		VALUES ($1, $2, $3, 0)`, b.me.ID, second.GetId(), newID())

	list := func(req *budgetv1.ListGoalsRequest) *budgetv1.ListGoalsResponse {
		resp, err := b.ListGoals(b.me.Ctx, req)
		require.NoError(t, err)
		return resp
	}
	ids := func(resp *budgetv1.ListGoalsResponse) (ids []string) {
		for _, g := range resp.GetGoals() {
			ids = append(ids, g.GetId())
		}
		return ids
	}
	calls := b.ledger.calls
	all := list(&budgetv1.ListGoalsRequest{})
	require.Equal(t, calls+1, b.ledger.calls, "one call for all goals")
	require.Equal(t, []string{third.GetId(), second.GetId(), first.GetId()}, ids(all))
	requireEqual(t, b.get(t, second), all.GetGoals()[1])
	// The archived goal holds no money.
	require.Len(t, all.GetWallets(), 1)
	overdrawn := &budgetv1.GoalWallet{
		WalletId: b.bank, Currency: "EUR", Assigned: "590.00", Balance: new("500.00"),
		Free: new("-90.00"),
	}
	requireEqual(t, overdrawn, all.GetWallets()[0])
	require.Equal(t, []string{third.GetId()}, ids(list(&budgetv1.ListGoalsRequest{
		Archived: new(true),
	})))
	page := list(&budgetv1.ListGoalsRequest{Archived: new(false), Limit: new(int32(1))})
	require.Equal(t, []string{second.GetId()}, ids(page))
	requireEqual(t, overdrawn, page.GetWallets()[0])
	page = list(&budgetv1.ListGoalsRequest{
		Archived: new(false), Cursor: page.GetPagination().GetNextCursor(),
	})
	require.Equal(t, []string{first.GetId()}, ids(page))

	// The wallet is deleted, and then the ledger is unavailable.
	delete(b.ledger.balances, b.bank)
	overdrawn.Balance, overdrawn.Free = new("0.00"), new("-590.00")
	requireEqual(t, overdrawn, list(&budgetv1.ListGoalsRequest{}).GetWallets()[0])
	b.ledger.unavailable = apierr.Unavailable
	overdrawn.Balance, overdrawn.Free = nil, nil
	requireEqual(t, overdrawn, list(&budgetv1.ListGoalsRequest{}).GetWallets()[0])

	stranger := budgettest.NewUser(t, "Stranger")
	none, err := b.ListGoals(stranger.Ctx, &budgetv1.ListGoalsRequest{})
	require.NoError(t, err)
	require.Empty(t, none.GetGoals())
	require.Empty(t, none.GetWallets())
}

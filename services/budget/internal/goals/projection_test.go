package goals

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// TestGetGoalPercentage saves 99.996 % of a target, and then all of it.
func TestGetGoalPercentage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "1000")
	_, err := b.assign(g, b.bank, "999.96")
	require.NoError(t, err)
	require.InDelta(t, 99.99, b.get(t, g).GetProgress().GetPercentage(), 0)
	_, err = b.assign(g, b.bank, "0.04")
	require.NoError(t, err)
	require.InDelta(t, 100, b.get(t, g).GetProgress().GetPercentage(), 0)
}

// TestCreateGoalInTimeZone creates a goal in the first hours of a month of the user, in which UTC
// still has the month before.
func TestCreateGoalInTimeZone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.timeZone = "Asia/Tokyo"
	b.Now = func() time.Time { return time.Date(2026, time.March, 31, 16, 0, 0, 0, time.UTC) }
	created, err := b.CreateGoal(b.me.Ctx, &budgetv1.CreateGoalRequest{
		Name: "Trip", Currency: "EUR", Target: "500", TargetDate: new("2026-08-31"),
	})
	require.NoError(t, err)
	progress := created.GetGoal().GetProgress()
	require.Equal(t, "100.00", progress.GetNeededPerMonth())
	require.Equal(t, "onTrack", progress.GetState())
	requireEqual(t, created.GetGoal(), b.get(t, created.GetGoal()))
	list, err := b.ListGoals(b.me.Ctx, &budgetv1.ListGoalsRequest{})
	require.NoError(t, err)
	requireEqual(t, created.GetGoal(), list.GetGoals()[0])
	updated, err := b.UpdateGoal(b.me.Ctx, &budgetv1.UpdateGoalRequest{
		Id: created.GetGoal().GetId(), Note: new("x"),
	})
	require.NoError(t, err)
	requireEqual(t, progress, updated.GetGoal().GetProgress())
}

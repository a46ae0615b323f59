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

// TestProgressState saves 300 in each month for a target of 4200 in May 2027. At that average it
// is saved in July.
func TestProgressState(t *testing.T) {
	t.Parallel()
	day := func(year int, month time.Month, day int) *time.Time {
		return new(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	}
	tests := map[string]struct {
		today                     time.Time
		target, saved             int64
		last                      *time.Time
		state, projected, average string
	}{
		"later than the target date, although more is saved than planned since the creation": {
			*day(2026, time.November, 28), 4200_00, 1800_00, day(2026, time.November, 1),
			"behind", "2027-07-28", "300.00",
		},
		"in the month of the target date": {
			*day(2026, time.November, 28), 3600_00, 1800_00, day(2026, time.November, 1),
			"onTrack", "2027-05-20", "300.00",
		},
		"at the beginning of a month without an assignment": {
			*day(2026, time.December, 1), 3600_00, 1800_00, day(2026, time.November, 1),
			"onTrack", "2027-05-01", "300.00",
		},
		"in an earlier month": {
			*day(2026, time.November, 28), 3300_00, 1800_00, day(2026, time.November, 1),
			"ahead", "2027-04-28", "300.00",
		},
		"without savings after the month of the creation": {
			*day(2026, time.December, 1), 3600_00, 0, nil, "behind", "", "0.00",
		},
		"without savings in the month of the creation": {
			*day(2026, time.November, 28), 3600_00, 0, nil, "onTrack", "", "0.00",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := goal{
				Currency: "EUR", TargetMinor: test.target, TargetDate: day(2027, time.May, 20),
				CreatedAt: *day(2026, time.November, 27),
			}
			saved := savings{Minor: test.saved, LastDay: test.last}
			if test.last != nil {
				saved.FirstDay = day(2026, time.June, 1)
			}
			got := g.progress(saved, test.today, "")
			require.Equal(t, test.state, got.GetState())
			require.Equal(t, test.projected, got.GetProjectedDate())
			require.Equal(t, test.average, got.GetAveragePerMonth())
		})
	}
}

package goals

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// modelGoal is a goal of the model: its assignments, without any kept sum.
type modelGoal struct {
	*budgetv1.Goal
	archived bool
	rows     []*budgetv1.Assignment
}

func cents(t require.TestingT, amount string) int64 {
	n, ok := new(big.Rat).SetString(amount)
	require.True(t, ok)
	n.Mul(n, big.NewRat(100, 1))
	require.True(t, n.IsInt())
	return n.Num().Int64()
}

func (g *modelGoal) sum(t require.TestingT, wallet string) (sum int64) {
	for _, a := range g.rows {
		if wallet == "" || a.GetWalletId() == wallet {
			sum += cents(t, a.GetAmount())
		}
	}
	return sum
}

// TestGoalsEqualRecomputation compares the sums of goals and wallets with a recomputation from the
// assignments, over random histories.
func TestGoalsEqualRecomputation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		b.me = budgettest.NewUser(t, "User")
		var goals []*modelGoal
		for range rapid.IntRange(1, 3).Draw(r, "goals") {
			goals = append(goals, &modelGoal{Goal: b.goal(t, "50")})
		}
		for range rapid.IntRange(0, 12).Draw(r, "changes") {
			g := rapid.SampledFrom(goals).Draw(r, "goal")
			switch rapid.IntRange(0, 4).Draw(r, "change") {
			case 0:
				g.archived = !g.archived
				_, err := b.UpdateGoal(b.me.Ctx,
					&budgetv1.UpdateGoalRequest{Id: g.GetId(), Archived: &g.archived})
				require.NoError(r, err)
			case 1:
				if len(g.rows) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(g.rows)-1).Draw(r, "row")
				a := g.rows[i]
				err := b.unassign(a)
				if g.sum(r, a.GetWalletId()) < cents(r, a.GetAmount()) {
					require.ErrorIs(r, err, errExceedsGoal)
					continue
				}
				require.NoError(r, err)
				g.rows = append(g.rows[:i:i], g.rows[i+1:]...)
			default:
				wallet := rapid.SampledFrom([]string{b.bank, b.savings}).Draw(r, "wallet")
				amount := rapid.Int64Range(-60_00, 60_00).Draw(r, "amount")
				if amount == 0 {
					continue
				}
				a, err := b.assign(g.Goal, wallet, fmt.Sprint(float64(amount)/100))
				if g.sum(r, wallet)+amount < 0 {
					require.ErrorIs(r, err, errExceedsGoal)
					continue
				}
				require.NoError(r, err)
				g.rows = append(g.rows, a)
			}
		}
		list, err := b.ListGoals(b.me.Ctx, &budgetv1.ListGoalsRequest{})
		require.NoError(r, err)
		assigned := map[string]int64{}
		for i, g := range goals {
			got := list.GetGoals()[len(goals)-1-i]
			require.Equal(r, g.sum(r, ""), cents(r, got.GetProgress().GetSaved()))
			require.Equal(r, max(50_00-g.sum(r, ""), 0),
				cents(r, got.GetProgress().GetRemaining()))
			for _, wallet := range []string{b.bank, b.savings} {
				if sum := g.sum(r, wallet); sum > 0 && !g.archived {
					assigned[wallet] += sum
				}
			}
		}
		require.Len(r, list.GetWallets(), len(assigned))
		for _, w := range list.GetWallets() {
			require.Equal(r, assigned[w.GetWalletId()], cents(r, w.GetAssigned()))
			require.Equal(r, b.ledger.balances[w.GetWalletId()]-assigned[w.GetWalletId()],
				cents(r, w.GetFree()))
		}
	})
}

// TestProgressEqualsModel compares projections with those of exact fractions and steps of a month.
func TestProgressEqualsModel(t *testing.T) {
	t.Parallel()
	day := rapid.Map(rapid.IntRange(0, 20*365), func(n int) time.Time {
		return time.Date(2020, time.January, 1+n, 0, 0, 0, 0, time.UTC)
	})
	amount := rapid.OneOf(rapid.Int64Range(0, 2000), rapid.Int64Range(0, 99_999_999_999_999))
	rapid.Check(t, func(r *rapid.T) {
		g := goal{
			Currency: "EUR", TargetMinor: max(amount.Draw(r, "target"), 1),
			CreatedAt: day.Draw(r, "created"),
		}
		if rapid.Bool().Draw(r, "dated") {
			g.TargetDate = new(day.Draw(r, "date"))
		}
		today := g.CreatedAt.AddDate(0, 0, rapid.IntRange(0, 10*365).Draw(r, "age"))
		saved := savings{Minor: amount.Draw(r, "saved")}
		if saved.Minor > 0 {
			first := day.Draw(r, "first")
			saved.FirstDay = &first
			saved.LastDay = new(first.AddDate(0, 0, rapid.IntRange(0, 10*365).Draw(r, "last")))
		}
		got := g.progress(saved, today, "UTC")
		requireModel(r, g, saved, today, got)
		requireAgreement(r, g, got)
	})
}

// requireAgreement requires that the state says the same as the projected day.
func requireAgreement(r *rapid.T, g goal, got *budgetv1.GoalProgress) {
	if g.TargetDate == nil || got.ProjectedDate == nil {
		return
	}
	day, ok := calendar.ParseDate(got.GetProjectedDate())
	require.True(r, ok)
	want := "onTrack"
	switch {
	case day.After(*g.TargetDate):
		want = "behind"
	case day.Before(calendar.MonthOf(*g.TargetDate)):
		want = "ahead"
	}
	require.Equal(r, want, got.GetState(), "projected for %s", got.GetProjectedDate())
}

// months counts the first days of months after one day, up to another.
func months(from, to time.Time) (n int64) {
	for m := calendar.MonthOf(from).AddDate(0, 1, 0); !m.After(to); m = m.AddDate(0, 1, 0) {
		n++
	}
	return n
}

func requireModel(
	r *rapid.T, g goal, saved savings, today time.Time, got *budgetv1.GoalProgress,
) {
	elapsed, reached := int64(1), calendar.MonthOf(today)
	if saved.FirstDay != nil && saved.FirstDay.Before(reached) {
		elapsed = months(*saved.FirstDay, today) + 1
		if saved.LastDay.Before(reached) {
			elapsed--
			reached = reached.AddDate(0, -1, 0)
		}
	}
	average := big.NewRat(saved.Minor, elapsed)
	floor := new(big.Int).Quo(average.Num(), average.Denom()).Int64()
	require.Equal(r, floor, cents(r, got.GetAveragePerMonth()))
	remaining := g.TargetMinor - saved.Minor
	if remaining <= 0 {
		require.Equal(r, "reached", got.GetState())
		require.Nil(r, got.NeededPerMonth)
		require.Nil(r, got.ProjectedDate)
		return
	}
	require.Equal(r, g.TargetDate == nil, got.NeededPerMonth == nil)
	if g.TargetDate != nil {
		left := months(today, *g.TargetDate) + 1
		needed := cents(r, got.GetNeededPerMonth())
		require.GreaterOrEqual(r, new(big.Int).Mul(big.NewInt(needed), big.NewInt(left)).
			Cmp(big.NewInt(remaining)), 0)
		require.Negative(r, new(big.Int).Mul(big.NewInt(needed-1), big.NewInt(left)).
			Cmp(big.NewInt(remaining)))
	}
	total := new(big.Rat).SetInt64(saved.Minor)
	for total.Cmp(new(big.Rat).SetInt64(g.TargetMinor)) < 0 && reached.Year() <= calendar.MaxYear {
		total.Add(total, average)
		reached = reached.AddDate(0, 1, 0)
	}
	if saved.Minor == 0 || reached.Year() > calendar.MaxYear {
		require.Nil(r, got.ProjectedDate)
		require.Equal(r, modelState(g, saved.Minor, today), got.GetState())
		return
	}
	lastDay := reached.AddDate(0, 1, -1).Day()
	day := reached.AddDate(0, 0, min(today.Day(), lastDay)-1)
	if g.TargetDate != nil && calendar.MonthOf(*g.TargetDate).Equal(reached) &&
		!today.After(*g.TargetDate) {
		day = reached.AddDate(0, 0, min(day.Day(), g.TargetDate.Day())-1)
	}
	require.Equal(r, day.Format(calendar.DateLayout), got.GetProjectedDate())
}

// modelState returns the state of a goal without a projected day.
func modelState(g goal, saved int64, today time.Time) string {
	switch {
	case g.TargetDate == nil:
		return "onTrack"
	case saved > 0 || today.After(*g.TargetDate) || months(g.CreatedAt, today) > 0:
		return "behind"
	}
	return "onTrack"
}

// TestGoalsOfTwoOwners gives another user copies of a user's rows with the same ids. A statement
// TestSharedGoalOfTwins has a member whose assignments have the same wallet. The changes of the
// owner's assignments change none of the member.
func TestSharedGoalOfTwins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	twin, _ := b.joins(t, g, "Twin", "editor")
	given, err := b.assign(g, b.bank, "60")
	require.NoError(t, err)
	_, err = twin.assign(g, b.bank, "60")
	require.NoError(t, err)
	rows := func() string {
		return pgtest.Value[string](t, b.DB, `
			SELECT (SELECT string_agg(a::text, '') FROM assignments a WHERE user_id = $1)
				|| (SELECT string_agg(w::text, '') FROM goal_wallets w WHERE user_id = $1)`,
			twin.me.ID)
	}
	before := rows()
	list, err := b.ListGoals(b.me.Ctx, &budgetv1.ListGoalsRequest{})
	require.NoError(t, err)
	require.Equal(t, "120.00", list.GetGoals()[0].GetProgress().GetSaved())
	require.Equal(t, "60.00", list.GetWallets()[0].GetAssigned())
	taken, err := b.assign(g, b.bank, "-60")
	require.NoError(t, err)
	require.NoError(t, b.unassign(taken))
	require.NoError(t, b.unassign(given))
	require.Equal(t, before, rows())
}

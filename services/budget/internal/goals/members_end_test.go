package goals

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

// TestSharedGoalEnds ends the membership of a user with money in the goal in each way. The money is
// no longer saved, and the other money stays.
func TestSharedGoalEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(owner, member *bundle, g *budgetv1.Goal) error{
		"leaves by rejecting": func(_, member *bundle, g *budgetv1.Goal) error {
			return member.answers(g, "rejected")
		},
		"leaves": func(_, member *bundle, g *budgetv1.Goal) error {
			return member.removes(g, member)
		},
		"is removed": func(owner, member *bundle, g *budgetv1.Goal) error {
			return owner.removes(g, member)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			g, other := b.goal(t, "100"), b.goal(t, "100")
			member, wallet := b.joins(t, g, "Member", "editor")
			b.invites(t, other, member, "editor")
			require.NoError(t, member.answers(other, "accepted"))
			_, err := b.assign(g, b.bank, "30")
			require.NoError(t, err)
			for _, goal := range []*budgetv1.Goal{g, other} {
				_, err = member.assign(goal, wallet, "70")
				require.NoError(t, err)
			}
			require.NoError(t, end(b, member, g))
			after := b.get(t, g)
			require.Equal(t, "30.00", after.GetProgress().GetSaved())
			require.NotNil(t, after.ReachedAt, "a reached goal is not reached again")
			require.Len(t, b.assignments(t, g), 1)
			require.Equal(t, "70.00", b.get(t, other).GetProgress().GetSaved())
			list, err := member.ListGoals(member.me.Ctx, &budgetv1.ListGoalsRequest{})
			require.NoError(t, err)
			require.Equal(t, "70.00", list.GetWallets()[0].GetAssigned())
		})
	}
}

// TestSharedGoalConcurrently assigns money while the membership ends. No money of a user without a
// membership remains, whichever is first.
func TestSharedGoalConcurrently(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(owner, member *bundle, g *budgetv1.Goal) error{
		"leave": func(_, member *bundle, g *budgetv1.Goal) error {
			return member.answers(g, "rejected")
		},
		"remove": func(owner, member *bundle, g *budgetv1.Goal) error {
			return owner.removes(g, member)
		},
		"delete": func(owner, _ *bundle, g *budgetv1.Goal) error {
			_, err := owner.DeleteGoal(owner.me.Ctx, &budgetv1.DeleteGoalRequest{Id: g.GetId()})
			return err
		},
		"make a viewer": func(owner, member *bundle, g *budgetv1.Goal) error {
			_, err := owner.RespondToGoalInvitation(owner.me.Ctx,
				&budgetv1.RespondToGoalInvitationRequest{
					GoalId: g.GetId(), MemberId: member.me.ID.String(), Role: new("viewer"),
				})
			return err
		},
		"archive": func(owner, _ *bundle, g *budgetv1.Goal) error {
			_, err := owner.UpdateGoal(owner.me.Ctx,
				&budgetv1.UpdateGoalRequest{Id: g.GetId(), Archived: new(true)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			g := b.goal(t, "1000")
			member, wallet := b.joins(t, g, "Member", "editor")
			errs := b.raceFor(t, g, func(i int) error {
				if i == 2 {
					return end(b, member, g)
				}
				_, err := member.assign(g, wallet, "10")
				return err
			})
			require.NoError(t, errs[2])
			assigned := 0
			for i, err := range errs {
				if err == nil && i != 2 {
					assigned++
				}
			}
			rows := pgtest.Value[int](t, b.DB, `SELECT count(*) FROM assignments`)
			sum := pgtest.Value[int](t, b.DB,
				`SELECT coalesce(sum(assigned_minor), 0)::integer / 1000 FROM goal_wallets`)
			require.Equal(t, rows, sum)
			switch name {
			case "make a viewer":
				require.Equal(t, assigned, rows)
			case "archive":
				require.Equal(t, len(errs)-1, rows)
			default:
				require.Zero(t, rows)
			}
		})
	}
}

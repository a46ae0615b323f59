package goals

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// friend returns a new user with an account and a wallet.
func (b *bundle) friend(t *testing.T, name string) (who *bundle, wallet string) {
	t.Helper()
	u, wallet := budgettest.NewUser(t, name), newID()
	b.auth.users = append(b.auth.users,
		&authv1.User{Id: u.ID.String(), Name: u.Name, Email: u.Email})
	b.ledger.balances[wallet] = 300_00
	return &bundle{Server: b.Server, ledger: b.ledger, me: u}, wallet
}

// invites shares a goal of the user.
func (b *bundle) invites(t *testing.T, goal *budgetv1.Goal, who *bundle, role string) {
	t.Helper()
	_, err := b.ShareGoal(b.me.Ctx, &budgetv1.ShareGoalRequest{
		GoalId: goal.GetId(), Email: who.me.Email, Role: &role,
	})
	require.NoError(t, err)
}

// answers answers an invitation to a goal, or leaves it.
func (b *bundle) answers(goal *budgetv1.Goal, answer string) error {
	_, err := b.RespondToGoalInvitation(b.me.Ctx, &budgetv1.RespondToGoalInvitationRequest{
		GoalId: goal.GetId(), MemberId: b.me.ID.String(), Status: &answer,
	})
	return err
}

// removes removes a member.
func (b *bundle) removes(goal *budgetv1.Goal, who *bundle) error {
	_, err := b.RemoveGoalMember(b.me.Ctx, &budgetv1.RemoveGoalMemberRequest{
		GoalId: goal.GetId(), MemberId: who.me.ID.String(),
	})
	return err
}

// joins shares a goal of the user with a friend who accepts.
func (b *bundle) joins(t *testing.T, goal *budgetv1.Goal, name, role string) (*bundle, string) {
	t.Helper()
	friend, wallet := b.friend(t, name)
	b.invites(t, goal, friend, role)
	require.NoError(t, friend.answers(goal, "accepted"))
	return friend, wallet
}

// assignments returns the assignments of a goal as the user sees them.
func (b *bundle) assignments(t *testing.T, goal *budgetv1.Goal) []*budgetv1.Assignment {
	t.Helper()
	list, err := b.ListAssignments(b.me.Ctx,
		&budgetv1.ListAssignmentsRequest{GoalId: goal.GetId()})
	require.NoError(t, err)
	return list.GetAssignments()
}

// TestSharedGoalSaved compares all places that show the savings of a shared goal, for the owner and
// the members.
func TestSharedGoalSaved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	editor, wallet := b.joins(t, g, "Editor", "editor")
	viewer, _ := b.joins(t, g, "Viewer", "viewer")
	_, err := b.assign(g, b.bank, "30")
	require.NoError(t, err)
	_, err = editor.assign(g, wallet, "12.5")
	require.NoError(t, err)
	for _, who := range []*bundle{b, editor, viewer} {
		one := who.get(t, g)
		require.Equal(t, "42.50", one.GetProgress().GetSaved(), who.me.Name)
		list, err := who.ListGoals(who.me.Ctx, &budgetv1.ListGoalsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetGoals(), 1)
		requireEqual(t, one, list.GetGoals()[0])
		requireEqual(t, b.get(t, g).GetProgress(), one.GetProgress())
	}
	updated, err := editor.UpdateGoal(editor.me.Ctx,
		&budgetv1.UpdateGoalRequest{Id: g.GetId(), Target: new("42.50")})
	require.NoError(t, err)
	require.Equal(t, "42.50", updated.GetGoal().GetProgress().GetSaved())
	for _, who := range []*bundle{b, editor, viewer} {
		require.EqualValues(t, 1, pgtest.Value[int64](t, b.DB, `
			SELECT count(*) FROM notifications
			WHERE user_id = $1 AND type = 'budget.v1.goal.reached'`, who.me.ID))
	}
	require.Equal(t, "owner", b.get(t, g).GetRole())
	require.Nil(t, b.get(t, g).OwnerName)
	require.Equal(t, "viewer", viewer.get(t, g).GetRole())
}

// TestSharedGoalWallets requires that no response and no event has a wallet of another user.
func TestSharedGoalWallets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	editor, wallet := b.joins(t, g, "Editor", "editor")
	b.events(t)
	mine, err := b.assign(g, b.bank, "30")
	require.NoError(t, err)
	theirs, err := editor.assign(g, wallet, "20")
	require.NoError(t, err)

	hidden := func(a *budgetv1.Assignment) *budgetv1.Assignment {
		seen := proto.CloneOf(a)
		seen.WalletId = ""
		return seen
	}
	seen := b.assignments(t, g)
	requireEqual(t, hidden(theirs), seen[0])
	requireEqual(t, mine, seen[1])
	seen = editor.assignments(t, g)
	requireEqual(t, theirs, seen[0])
	requireEqual(t, hidden(mine), seen[1])
	for _, who := range []*bundle{b, editor} {
		list, err := who.ListGoals(who.me.Ctx, &budgetv1.ListGoalsRequest{})
		require.NoError(t, err)
		require.Len(t, list.GetWallets(), 1)
		own := map[*bundle]string{b: b.bank, editor: wallet}[who]
		require.Equal(t, own, list.GetWallets()[0].GetWalletId())
	}
	events := b.events(t)
	require.Len(t, events, 2)
	requireEqual(t, &budgetv1.AssignmentCreated{Assignment: mine}, events[0])
	requireEqual(t, &budgetv1.AssignmentCreated{Assignment: hidden(theirs)}, events[1])

	// The money of another user stays, also for one who knows the wallet.
	for _, refused := range []func() error{
		func() error { _, err := editor.assign(g, b.bank, "-1"); return err },
		func() error { _, err := b.assign(g, wallet, "-1"); return err },
	} {
		budgettest.Refuses(t, b.DB, codes.FailedPrecondition, "ASSIGNMENT_EXCEEDS_GOAL", refused)
	}
	budgettest.Refuses(t, b.DB, codes.NotFound, "ASSIGNMENT_NOT_FOUND",
		func() error { return b.unassign(theirs) })
}

// TestSharedGoalViewer makes an editor a viewer, who keeps the money in the goal and may only take
// it back.
func TestSharedGoalViewer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	member, wallet := b.joins(t, g, "Member", "editor")
	given, err := member.assign(g, wallet, "20")
	require.NoError(t, err)
	_, err = b.RespondToGoalInvitation(b.me.Ctx, &budgetv1.RespondToGoalInvitationRequest{
		GoalId: g.GetId(), MemberId: member.me.ID.String(), Role: new("viewer"),
	})
	require.NoError(t, err)
	for _, refused := range []func() error{
		func() error { _, err := member.assign(g, wallet, "1"); return err },
		func() error {
			_, err := member.UpdateGoal(member.me.Ctx,
				&budgetv1.UpdateGoalRequest{Id: g.GetId(), Name: new("Mine")})
			return err
		},
		func() error {
			_, err := member.DeleteGoal(member.me.Ctx, &budgetv1.DeleteGoalRequest{Id: g.GetId()})
			return err
		},
		func() error {
			_, err := member.ShareGoal(member.me.Ctx, &budgetv1.ShareGoalRequest{
				GoalId: g.GetId(), Email: "x@example.com",
			})
			return err
		},
	} {
		budgettest.Refuses(t, b.DB, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", refused)
	}
	_, err = member.assign(g, wallet, "-5")
	require.NoError(t, err)
	budgettest.Refuses(t, b.DB, codes.FailedPrecondition, "ASSIGNMENT_EXCEEDS_GOAL",
		func() error { return member.unassign(given) })
	require.Equal(t, "15.00", b.get(t, g).GetProgress().GetSaved())
}

// TestSharedGoalHidden calls each operation for a user who was invited, rejected, left or never
// invited.
func TestSharedGoalHidden(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	invited, _ := b.friend(t, "Invited")
	b.invites(t, g, invited, "editor")
	left, _ := b.joins(t, g, "Left", "editor")
	require.NoError(t, left.answers(g, "rejected"))
	stranger, wallet := b.friend(t, "Stranger")
	for _, who := range []*bundle{invited, left, stranger} {
		list, err := who.ListGoals(who.me.Ctx, &budgetv1.ListGoalsRequest{})
		require.NoError(t, err)
		require.Empty(t, list.GetGoals())
		for name, call := range map[string]func() error{
			"get": pgtest.Call(who.me.Ctx, b.GetGoal, &budgetv1.GetGoalRequest{Id: g.GetId()}),
			"update": pgtest.Call(who.me.Ctx, b.UpdateGoal,
				&budgetv1.UpdateGoalRequest{Id: g.GetId(), Name: new("X")}),
			"delete": pgtest.Call(who.me.Ctx, b.DeleteGoal,
				&budgetv1.DeleteGoalRequest{Id: g.GetId()}),
			"assign": func() error { _, err := who.assign(g, wallet, "1"); return err },
			"list assignments": pgtest.Call(who.me.Ctx, b.ListAssignments,
				&budgetv1.ListAssignmentsRequest{GoalId: g.GetId()}),
			"list members": pgtest.Call(who.me.Ctx, b.ListGoalMembers,
				&budgetv1.ListGoalMembersRequest{GoalId: g.GetId()}),
			"share": pgtest.Call(who.me.Ctx, b.ShareGoal,
				&budgetv1.ShareGoalRequest{GoalId: g.GetId(), Email: b.me.Email}),
		} {
			t.Log(who.me.Name, name)
			budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_NOT_FOUND", call)
		}
	}
	// A stranger does not learn that the goal exists, also not from its members.
	budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_NOT_FOUND",
		func() error { return stranger.answers(g, "accepted") })
	budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_NOT_FOUND",
		func() error { return stranger.removes(g, invited) })
	// An answer is final until the owner invites again.
	budgettest.Refuses(t, b.DB, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
		func() error { return left.answers(g, "accepted") })
}

package goals

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

var errMemberExists = apierr.New(restv1.Reason_GOAL_MEMBER_ALREADY_EXISTS)

// TestSharedGoalInvitation accepts an invitation many times at once, and as another user.
func TestSharedGoalInvitation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	guest, _ := b.friend(t, "Guest")
	other, _ := b.friend(t, "Other")
	b.invites(t, g, guest, "editor")
	budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_NOT_FOUND", pgtest.Call(other.me.Ctx,
		b.RespondToGoalInvitation, &budgetv1.RespondToGoalInvitationRequest{
			GoalId: g.GetId(), MemberId: guest.me.ID.String(), Status: new("accepted"),
		}))
	invitations, err := b.ListGoalInvitations(guest.me.Ctx,
		&budgetv1.ListGoalInvitationsRequest{})
	require.NoError(t, err)
	requireEqual(t, &budgetv1.GoalInvitation{
		GoalId: g.GetId(), GoalName: "Trip", MemberId: guest.me.ID.String(),
		OwnerId: b.me.ID.String(), Role: "editor", InvitedAt: "2026-03-15T12:00:00.000Z",
	}, invitations.GetInvitations()[0])
	b.events(t)
	for _, err := range race(20, func(int) error { return guest.answers(g, "accepted") }) {
		require.NoError(t, err)
	}
	require.Len(t, b.events(t), 1, "the owner is notified once")
	budgettest.Refuses(t, b.DB, codes.AlreadyExists, "GOAL_MEMBER_ALREADY_EXISTS",
		pgtest.Call(b.me.Ctx, b.ShareGoal,
			&budgetv1.ShareGoalRequest{GoalId: g.GetId(), Email: guest.me.Email}))
	// Of simultaneous invitations of one user, one is stored.
	errs := race(20, func(int) error {
		_, err := b.ShareGoal(b.me.Ctx,
			&budgetv1.ShareGoalRequest{GoalId: g.GetId(), Email: other.me.Email})
		return err
	})
	budgettest.RequireWinners(t, 1, errMemberExists, errs)
	// The id of a goal is no budget, and the invitation ends with the goal.
	_, err = b.DeleteGoal(b.me.Ctx, &budgetv1.DeleteGoalRequest{Id: g.GetId()})
	require.NoError(t, err)
	events := other.events(t)
	require.IsType(t, &budgetv1.MemberRemoved{}, events[len(events)-1])
	require.Equal(t, g.GetId(), events[len(events)-1].(*budgetv1.MemberRemoved).GetGoalId())
	require.EqualValues(t, 1, pgtest.Value[int64](t, b.DB, `
		SELECT count(*) FROM notifications
		WHERE user_id = $1 AND type = 'budget.v1.goal.deleted'`, guest.me.ID))
	budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_NOT_FOUND",
		func() error { return other.answers(g, "accepted") })
}

// TestSharedGoalShares requires that the shares of a goal are at most 100 percent, and that an
// invitation keeps the name of its time.
func TestSharedGoalShares(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := b.goal(t, "100")
	one, _ := b.friend(t, "One")
	two, _ := b.friend(t, "Two")
	share := func(who *bundle, percent string) error {
		_, err := b.ShareGoal(b.me.Ctx, &budgetv1.ShareGoalRequest{
			GoalId: g.GetId(), Email: who.me.Email, SharePercent: &percent,
		})
		return err
	}
	require.NoError(t, share(one, "60"))
	budgettest.Refuses(t, b.DB, codes.InvalidArgument, "GOAL_SHARE_EXCEEDED",
		func() error { return share(two, "40.01") })
	require.NoError(t, share(two, "40"))
	_, err := b.UpdateGoal(b.me.Ctx,
		&budgetv1.UpdateGoalRequest{Id: g.GetId(), Name: new("Secret")})
	require.NoError(t, err)
	invitations, err := b.ListGoalInvitations(one.me.Ctx, &budgetv1.ListGoalInvitationsRequest{})
	require.NoError(t, err)
	require.Equal(t, "Trip", invitations.GetInvitations()[0].GetGoalName())
	members, err := b.ListGoalMembers(b.me.Ctx,
		&budgetv1.ListGoalMembersRequest{GoalId: g.GetId()})
	require.NoError(t, err)
	require.Len(t, members.GetMembers(), 2)
	member, err := b.GetGoalMember(b.me.Ctx, &budgetv1.GetGoalMemberRequest{
		GoalId: g.GetId(), MemberId: two.me.ID.String(),
	})
	require.NoError(t, err)
	require.Equal(t, "40.00", member.GetMember().GetSharePercent())
	require.Equal(t, g.GetId(), member.GetMember().GetGoalId())
	budgettest.Refuses(t, b.DB, codes.InvalidArgument, "INVALID_GOAL_MEMBER_ID",
		pgtest.Call(b.me.Ctx, b.GetGoalMember,
			&budgetv1.GetGoalMemberRequest{GoalId: g.GetId(), MemberId: "x"}))
	budgettest.Refuses(t, b.DB, codes.NotFound, "GOAL_MEMBER_NOT_FOUND",
		pgtest.Call(b.me.Ctx, b.RemoveGoalMember,
			&budgetv1.RemoveGoalMemberRequest{GoalId: g.GetId(), MemberId: newID()}))
}

// TestSharedGoalOwnerName has the name of the owner for members, unless auth is unavailable.
func TestSharedGoalOwnerName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.auth.users = append(b.auth.users,
		&authv1.User{Id: b.me.ID.String(), Name: "Ada", Email: b.me.Email})
	g := b.goal(t, "100")
	viewer, _ := b.joins(t, g, "Viewer", "viewer")
	require.Equal(t, "Ada", viewer.get(t, g).GetOwnerName())
	require.Nil(t, b.get(t, g).OwnerName)
	b.auth.unavailable = errGoalNotFound
	require.Nil(t, viewer.get(t, g).OwnerName)
}

package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestRespondToInvitationErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	id := env.budget(t, owner).GetId()
	env.share(t, owner, id, guest, "viewer")
	for _, request := range []*budgetv1.RespondToInvitationRequest{
		{},
		{Status: new("")},
		{Status: new("pending")},
		{Status: new("Accepted")},
		{Response: new("yes")},
		{Status: new("accepted"), Response: new("rejected")},
	} {
		request.BudgetId, request.MemberId = id, guest.ID.String()
		budgettest.Refuses(t, env.db, codes.InvalidArgument, "INVALID_INVITE_RESPONSE",
			pgtest.Call(guest.Ctx, env.RespondToInvitation, request))
	}
	got, err := env.RespondToInvitation(guest.Ctx, &budgetv1.RespondToInvitationRequest{
		BudgetId: id, MemberId: guest.ID.String(), Status: new("accepted"),
		Response: new("accepted"),
	})
	require.NoError(t, err)
	require.Equal(t, "accepted", got.GetMember().GetStatus())
}

func TestGetMember(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	one := env.user(t, "One")
	two := env.user(t, "Two")
	stranger := env.user(t, "Stranger")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, one, "viewer")
	env.share(t, owner, id, two, "viewer")
	get := func(by, who budgettest.User) (*budgetv1.GetMemberResponse, error) {
		return env.GetMember(by.Ctx,
			&budgetv1.GetMemberRequest{BudgetId: id, MemberId: who.ID.String()})
	}
	listed, err := env.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
	require.NoError(t, err)
	for i, who := range []budgettest.User{two, one} {
		for _, by := range []budgettest.User{owner, one} {
			got, err := get(by, who)
			require.NoError(t, err)
			require.Equal(t, who.ID.String(), got.GetMember().GetId())
			require.Contains(t,
				[]string{listed.GetMembers()[i].String(), listed.GetMembers()[1-i].String()},
				got.GetMember().String())
		}
	}
	for _, by := range []budgettest.User{two, stranger} {
		_, err = get(by, one)
		require.ErrorIs(t, err, errInsufficientPermissions)
	}
	_, err = get(owner, stranger)
	require.ErrorIs(t, err, errMemberNotFound)
	_, err = env.respond(two, id, "rejected")
	require.NoError(t, err)
	_, err = get(one, two)
	require.ErrorIs(t, err, errMemberNotFound, "only the owner sees rejected members")
	_, err = get(owner, two)
	require.NoError(t, err)
	_, err = env.GetMember(owner.Ctx, &budgetv1.GetMemberRequest{BudgetId: id, MemberId: "x"})
	require.ErrorIs(t, err, errInvalidMemberID)
}

// TestRespondToInvitationVersions requires that each change of a membership changes its ETag, and
// that a change with an old one has no effect.
func TestRespondToInvitationVersions(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	id := env.budget(t, owner).GetId()
	shared, err := env.ShareBudget(owner.Ctx,
		&budgetv1.ShareBudgetRequest{BudgetId: id, Email: "guest@example.com"})
	require.NoError(t, err)
	tag, seen := shared.GetEtag(), map[string]bool{shared.GetEtag(): true}
	for _, tc := range []struct {
		by  budgettest.User
		req *budgetv1.RespondToInvitationRequest
	}{
		{owner, &budgetv1.RespondToInvitationRequest{Role: new("editor")}},
		{owner, &budgetv1.RespondToInvitationRequest{SharePercent: new("20")}},
		{guest, &budgetv1.RespondToInvitationRequest{Status: new("accepted")}},
	} {
		tc.req.BudgetId, tc.req.MemberId, tc.req.IfMatch = id, guest.ID.String(), `"1"`
		_, err := env.RespondToInvitation(tc.by.Ctx, tc.req)
		require.ErrorIs(t, err, apierr.VersionMismatch)
		tc.req.IfMatch = tag
		changed, err := env.RespondToInvitation(tc.by.Ctx, tc.req)
		require.NoError(t, err)
		require.False(t, seen[changed.GetEtag()])
		tag, seen[changed.GetEtag()] = changed.GetEtag(), true
		got, err := env.GetMember(owner.Ctx,
			&budgetv1.GetMemberRequest{BudgetId: id, MemberId: guest.ID.String()})
		require.NoError(t, err)
		require.Equal(t, tag, got.GetEtag())
	}
	remove := &budgetv1.RemoveMemberRequest{
		BudgetId: id, MemberId: guest.ID.String(), IfMatch: shared.GetEtag(),
	}
	_, err = env.RemoveMember(owner.Ctx, remove)
	require.ErrorIs(t, err, apierr.VersionMismatch)
	remove.IfMatch = tag
	_, err = env.RemoveMember(owner.Ctx, remove)
	require.NoError(t, err)
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, one, two := env.user(t, "Owner"), env.user(t, "One"), env.user(t, "Two")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, one, "editor")
	env.join(t, owner, id, two, "viewer")
	env.events(t)
	for _, c := range []struct{ by, who budgettest.User }{{owner, one}, {two, two}} {
		got, err := env.RemoveMember(c.by.Ctx,
			&budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: c.who.ID.String()})
		require.NoError(t, err)
		require.Equal(t, c.who.ID.String(), got.GetId())
		requirePublished(t, env.events(t), &budgetv1.MemberRemoved{
			BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
			MemberId: c.who.ID.String(), RemovedBy: c.by.ID.String(),
		}, owner, c.who)
		_, err = env.GetBudget(c.who.Ctx, &budgetv1.GetBudgetRequest{Id: id})
		require.ErrorIs(t, err, errInsufficientPermissions)
	}
	env.share(t, owner, id, one, "viewer")
}

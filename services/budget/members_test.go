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
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	id := b.budget(t, owner).GetId()
	b.share(t, owner, id, guest, "viewer")
	for _, c := range []*budgetv1.RespondToInvitationRequest{
		{},
		{Status: new("")},
		{Status: new("pending")},
		{Status: new("Accepted")},
		{Response: new("yes")},
		{Status: new("accepted"), Response: new("rejected")},
	} {
		c.BudgetId, c.MemberId = id, guest.ID.String()
		budgettest.Refuses(t, b.db, codes.InvalidArgument, "INVALID_INVITE_RESPONSE",
			pgtest.Call(guest.Ctx, b.RespondToInvitation, c))
	}
	got, err := b.RespondToInvitation(guest.Ctx, &budgetv1.RespondToInvitationRequest{
		BudgetId: id, MemberId: guest.ID.String(), Status: new("accepted"),
		Response: new("accepted"),
	})
	require.NoError(t, err)
	require.Equal(t, "accepted", got.GetMember().GetStatus())
}

func TestGetMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	one := b.user(t, "One")
	two := b.user(t, "Two")
	stranger := b.user(t, "Stranger")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, one, "viewer")
	b.share(t, owner, id, two, "viewer")
	get := func(by, who budgettest.User) (*budgetv1.GetMemberResponse, error) {
		return b.GetMember(by.Ctx,
			&budgetv1.GetMemberRequest{BudgetId: id, MemberId: who.ID.String()})
	}
	listed, err := b.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
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
	_, err = b.respond(two, id, "rejected")
	require.NoError(t, err)
	_, err = get(one, two)
	require.ErrorIs(t, err, errMemberNotFound, "only the owner sees rejected members")
	_, err = get(owner, two)
	require.NoError(t, err)
	_, err = b.GetMember(owner.Ctx, &budgetv1.GetMemberRequest{BudgetId: id, MemberId: "x"})
	require.ErrorIs(t, err, errInvalidMemberID)
}

// TestRespondToInvitationVersions requires that each change of a membership changes its ETag, and
// that a change with an old one has no effect.
func TestRespondToInvitationVersions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	id := b.budget(t, owner).GetId()
	shared, err := b.ShareBudget(owner.Ctx,
		&budgetv1.ShareBudgetRequest{BudgetId: id, Email: "guest@example.com"})
	require.NoError(t, err)
	tag, seen := shared.GetEtag(), map[string]bool{shared.GetEtag(): true}
	for _, c := range []struct {
		by  budgettest.User
		req *budgetv1.RespondToInvitationRequest
	}{
		{owner, &budgetv1.RespondToInvitationRequest{Role: new("editor")}},
		{owner, &budgetv1.RespondToInvitationRequest{SharePercent: new("20")}},
		{guest, &budgetv1.RespondToInvitationRequest{Status: new("accepted")}},
	} {
		c.req.BudgetId, c.req.MemberId, c.req.IfMatch = id, guest.ID.String(), `"1"`
		_, err := b.RespondToInvitation(c.by.Ctx, c.req)
		require.ErrorIs(t, err, apierr.VersionMismatch)
		c.req.IfMatch = tag
		changed, err := b.RespondToInvitation(c.by.Ctx, c.req)
		require.NoError(t, err)
		require.False(t, seen[changed.GetEtag()])
		tag, seen[changed.GetEtag()] = changed.GetEtag(), true
		got, err := b.GetMember(owner.Ctx,
			&budgetv1.GetMemberRequest{BudgetId: id, MemberId: guest.ID.String()})
		require.NoError(t, err)
		require.Equal(t, tag, got.GetEtag())
	}
	remove := &budgetv1.RemoveMemberRequest{
		BudgetId: id, MemberId: guest.ID.String(), IfMatch: shared.GetEtag(),
	}
	_, err = b.RemoveMember(owner.Ctx, remove)
	require.ErrorIs(t, err, apierr.VersionMismatch)
	remove.IfMatch = tag
	_, err = b.RemoveMember(owner.Ctx, remove)
	require.NoError(t, err)
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, one, two := b.user(t, "Owner"), b.user(t, "One"), b.user(t, "Two")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, one, "editor")
	b.join(t, owner, id, two, "viewer")
	b.events(t)
	for _, c := range []struct{ by, who budgettest.User }{{owner, one}, {two, two}} {
		got, err := b.RemoveMember(c.by.Ctx,
			&budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: c.who.ID.String()})
		require.NoError(t, err)
		require.Equal(t, c.who.ID.String(), got.GetId())
		requirePublished(t, b.events(t), &budgetv1.MemberRemoved{
			BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
			MemberId: c.who.ID.String(), RemovedBy: c.by.ID.String(),
		}, owner, c.who)
		_, err = b.GetBudget(c.who.Ctx, &budgetv1.GetBudgetRequest{Id: id})
		require.ErrorIs(t, err, errInsufficientPermissions)
	}
	b.share(t, owner, id, one, "viewer")
}

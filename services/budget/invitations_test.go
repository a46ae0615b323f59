package budget

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestShareBudget(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	budget := env.budget(t, owner)
	env.events(t)

	shared, err := env.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{
		BudgetId: budget.GetId(), Email: " GUEST@example.com ", Role: new("editor"),
		SharePercent: new("33.3"),
	})
	require.NoError(t, err)
	want := &budgetv1.Member{
		Id: guest.ID.String(), MemberId: guest.ID.String(), BudgetId: budget.GetId(), Name: "Guest",
		Email: "guest@example.com", Role: "editor", SharePercent: new("33.30"), Status: "pending",
		InvitedAt: "2026-03-15T12:00:00.000Z",
	}
	require.True(t, proto.Equal(want, shared.GetMember()), "%v", shared)
	requirePublished(t, env.events(t), &budgetv1.InvitationSent{
		BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(),
		MemberId: guest.ID.String(), Role: "editor", SharePercent: new("33.30"),
	}, owner, guest)

	invitations, err := env.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Len(t, invitations.GetInvitations(), 1)
	require.True(t, proto.Equal(&budgetv1.Invitation{
		BudgetId: budget.GetId(), BudgetName: "Groceries", MemberId: guest.ID.String(),
		OwnerId: owner.ID.String(), OwnerName: new("Owner"), OwnerEmail: new("owner@example.com"),
		Role: "editor", SharePercent: new("33.30"), InvitedAt: "2026-03-15T12:00:00.000Z",
	}, invitations.GetInvitations()[0]), "%v", invitations)

	was := "pending"
	for _, answer := range []string{"accepted", "rejected"} {
		got, err := env.respond(guest, budget.GetId(), answer)
		require.NoError(t, err)
		want.Status, want.RespondedAt = answer, new("2026-03-15T12:00:00.000Z")
		require.True(t, proto.Equal(want, got.GetMember()), "%v", got)
		requirePublished(t, env.events(t), &budgetv1.InvitationAnswered{
			BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(),
			MemberId: guest.ID.String(), Status: answer, PreviousStatus: was,
		}, owner, guest)
		was = answer
		before := budgettest.State(t, env.db)
		again, err := env.RespondToInvitation(guest.Ctx, &budgetv1.RespondToInvitationRequest{
			BudgetId: budget.GetId(), MemberId: guest.ID.String(), Response: &answer,
		})
		require.NoError(t, err, "the same answer again is a no-op")
		require.True(t, proto.Equal(want, again.GetMember()))
		require.Equal(t, before, budgettest.State(t, env.db))
	}

	invitations, err = env.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Empty(t, invitations.GetInvitations())
	budgettest.Refuses(t, env.db, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", func() error {
		_, err := env.respond(guest, budget.GetId(), "accepted")
		return err
	})

	again, err := env.ShareBudget(owner.Ctx,
		&budgetv1.ShareBudgetRequest{BudgetId: budget.GetId(), Email: guest.Email})
	require.NoError(t, err, "the owner may invite the user again")
	want.Role, want.SharePercent, want.Status, want.RespondedAt = "viewer", nil, "pending", nil
	require.True(t, proto.Equal(want, again.GetMember()), "%v", again)
}

func TestShareBudgetErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest, member := env.user(t, "Owner"), env.user(t, "Guest"), env.user(t, "Member")
	env.user(t, "Friend")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, member, "viewer")
	_, err := env.ShareBudget(owner.Ctx,
		&budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email, SharePercent: new("60")})
	require.NoError(t, err)
	type share = budgetv1.ShareBudgetRequest
	for name, tc := range map[string]struct {
		req    *share
		code   codes.Code
		reason string
	}{
		"no e-mail":  {&share{}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"no address": {&share{Email: "friend"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a name with it": {
			&share{Email: "Friend <friend@example.com>"}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"two addresses": {
			&share{Email: "a@example.com, b@example.com"}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"a NUL": {
			&share{Email: "friend\x00@example.com"}, codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"unknown role": {
			&share{Email: "friend@example.com", Role: new("owner")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"no share": {
			&share{Email: "friend@example.com", SharePercent: new("0")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"negative share": {
			&share{Email: "friend@example.com", SharePercent: new("-1")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"too fine a share": {
			&share{Email: "friend@example.com", SharePercent: new("1.001")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"more than all": {
			&share{Email: "friend@example.com", SharePercent: new("100.01")}, codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"more than is left": {
			&share{Email: "friend@example.com", SharePercent: new("40.01")}, codes.InvalidArgument,
			"BUDGET_SHARE_EXCEEDED",
		},
		"unknown user": {&share{Email: "nobody@example.com"}, codes.NotFound, "USER_NOT_FOUND"},
		"oneself": {
			&share{Email: "Owner@example.com"}, codes.InvalidArgument, "CANNOT_INVITE_SELF",
		},
		"invited user": {
			&share{Email: guest.Email}, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS",
		},
		"accepted member": {
			&share{Email: member.Email}, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.req.BudgetId = id
			budgettest.Refuses(t, env.db, tc.code, tc.reason,
				pgtest.Call(owner.Ctx, env.ShareBudget, tc.req))
		})
	}
	asked := env.auth.calls
	budgettest.Refuses(t, env.db, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS",
		pgtest.Call(member.Ctx, env.ShareBudget,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: "nobody@example.com"}))
	require.Equal(t, asked, env.auth.calls, "who may not invite cannot find out about e-mails")
	_, err = env.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{
		BudgetId: id, Email: "friend@example.com", SharePercent: new("40"),
	})
	require.NoError(t, err)
}

func TestShareBudgetConcurrentShares(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	emails := make([]string, budgettest.Racers)
	for i := range emails {
		emails[i] = env.user(t, fmt.Sprint("guest", i)).Email
	}
	errs := env.race(t, id, func(i int) error {
		_, err := env.ShareBudget(owner.Ctx,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: emails[i], SharePercent: new("24")})
		return err
	})
	budgettest.RequireWinners(t, 4, errShareExceeded, errs)
}

func TestShareBudgetConcurrentInvitations(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	id := env.budget(t, owner).GetId()
	env.events(t)
	errs := env.race(t, id, func(int) error {
		_, err := env.ShareBudget(owner.Ctx,
			&budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email})
		return err
	})
	budgettest.RequireWinners(t, 1, errMemberAlreadyExists, errs)
	require.Len(t, env.events(t), 2)
}

func TestShareBudgetIdempotency(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest := env.user(t, "Owner"), env.user(t, "Guest")
	req := &budgetv1.ShareBudgetRequest{
		BudgetId: env.budget(t, owner).GetId(), Email: guest.Email, IdempotencyKey: "once",
	}
	first, err := env.ShareBudget(owner.Ctx, req)
	require.NoError(t, err)
	again, err := env.ShareBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetMember(), again.GetMember()))
}

func TestListMembersAndInvitationsPages(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, me := env.user(t, "Owner"), env.user(t, "Me")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, me, "viewer")
	for i := range 4 {
		env.share(t, owner, id, env.user(t, fmt.Sprint("guest", i)), "viewer")
	}
	rejecter := env.user(t, "Refuser")
	env.share(t, owner, id, rejecter, "viewer")
	_, err := env.respond(rejecter, id, "rejected")
	require.NoError(t, err)

	read := func(who budgettest.User) (ids []string) {
		req := &budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(2))}
		for {
			resp, err := env.ListMembers(who.Ctx, req)
			require.NoError(t, err)
			for _, m := range resp.GetMembers() {
				require.NotEmpty(t, m.GetName())
				ids = append(ids, m.GetId())
			}
			if req.Cursor = resp.GetPagination().GetNextCursor(); req.Cursor == "" {
				return ids
			}
		}
	}
	require.Len(t, read(me), 5)
	require.NotContains(t, read(me), rejecter.ID.String(), "only the owner sees rejected members")
	require.Len(t, read(owner), 6)
	require.Equal(t, rejecter.ID.String(), read(owner)[0])

	for range 3 {
		env.share(t, owner, env.budget(t, owner).GetId(), me, "viewer")
	}
	first, err := env.ListInvitations(me.Ctx,
		&budgetv1.ListInvitationsRequest{Limit: new(int32(2))})
	require.NoError(t, err)
	require.Len(t, first.GetInvitations(), 2)
	require.True(t, first.GetPagination().GetHasMore())
	rest, err := env.ListInvitations(me.Ctx,
		&budgetv1.ListInvitationsRequest{Cursor: first.GetPagination().GetNextCursor()})
	require.NoError(t, err)
	require.Len(t, rest.GetInvitations(), 1)
	require.Greater(t, first.GetInvitations()[1].GetBudgetId(),
		rest.GetInvitations()[0].GetBudgetId())

	_, err = env.ListInvitations(owner.Ctx,
		&budgetv1.ListInvitationsRequest{Cursor: first.GetPagination().GetNextCursor()})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = env.ListMembers(me.Ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: "x"})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = env.ListMembers(me.Ctx,
		&budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(-1))})
	require.Equal(t, "VALIDATION_ERROR", apierr.From(err).Reason)
}

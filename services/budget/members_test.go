package budget

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestShareBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	budget := b.budget(t, owner)
	b.events(t)

	shared, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{
		BudgetId: budget.GetId(), Email: " GUEST@example.com ", Role: new("editor"), SharePercent: new("33.3"),
	})
	require.NoError(t, err)
	want := &budgetv1.Member{
		Id: guest.ID.String(), MemberId: guest.ID.String(), BudgetId: budget.GetId(), Name: "Guest", Email: "guest@example.com",
		Role: "editor", SharePercent: new("33.30"), Status: "pending", InvitedAt: "2026-03-15T12:00:00.000Z",
	}
	require.True(t, proto.Equal(want, shared.GetMember()), "%v", shared)
	requirePublished(t, b.events(t), &budgetv1.InvitationSent{
		BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(), MemberId: guest.ID.String(),
		Role: "editor", SharePercent: new("33.30"),
	}, owner, guest)

	invitations, err := b.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Len(t, invitations.GetInvitations(), 1)
	require.True(t, proto.Equal(&budgetv1.Invitation{
		BudgetId: budget.GetId(), BudgetName: "Groceries", MemberId: guest.ID.String(), OwnerId: owner.ID.String(),
		OwnerName: new("Owner"), OwnerEmail: new("owner@example.com"), Role: "editor", SharePercent: new("33.30"),
		InvitedAt: "2026-03-15T12:00:00.000Z",
	}, invitations.GetInvitations()[0]), "%v", invitations)

	was := "pending"
	for _, answer := range []string{"accepted", "rejected"} {
		got, err := b.respond(guest, budget.GetId(), answer)
		require.NoError(t, err)
		want.Status, want.RespondedAt = answer, new("2026-03-15T12:00:00.000Z")
		require.True(t, proto.Equal(want, got.GetMember()), "%v", got)
		requirePublished(t, b.events(t), &budgetv1.InvitationAnswered{
			BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(), MemberId: guest.ID.String(),
			Status: answer, PreviousStatus: was,
		}, owner, guest)
		was = answer
		before := budgettest.State(t, b.db)
		again, err := b.RespondToInvitation(guest.Ctx, &budgetv1.RespondToInvitationRequest{BudgetId: budget.GetId(), MemberId: guest.ID.String(), Response: &answer})
		require.NoError(t, err, "the same answer again is a no-op")
		require.True(t, proto.Equal(want, again.GetMember()))
		require.Equal(t, before, budgettest.State(t, b.db))
	}

	invitations, err = b.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Empty(t, invitations.GetInvitations())
	budgettest.Refuses(t, b.db, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", func() error {
		_, err := b.respond(guest, budget.GetId(), "accepted")
		return err
	})

	again, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: budget.GetId(), Email: guest.Email})
	require.NoError(t, err, "the owner may invite the user again")
	want.Role, want.SharePercent, want.Status, want.RespondedAt = "viewer", nil, "pending", nil
	require.True(t, proto.Equal(want, again.GetMember()), "%v", again)
}

func TestShareBudgetErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest, member := b.user(t, "Owner"), b.user(t, "Guest"), b.user(t, "Member")
	b.user(t, "Friend")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, member, "viewer")
	_, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email, SharePercent: new("60")})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		req    *budgetv1.ShareBudgetRequest
		code   codes.Code
		reason string
	}{
		"no e-mail":         {&budgetv1.ShareBudgetRequest{}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"no address":        {&budgetv1.ShareBudgetRequest{Email: "friend"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a name with it":    {&budgetv1.ShareBudgetRequest{Email: "Friend <friend@example.com>"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"two addresses":     {&budgetv1.ShareBudgetRequest{Email: "a@example.com, b@example.com"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a NUL":             {&budgetv1.ShareBudgetRequest{Email: "friend\x00@example.com"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"unknown role":      {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", Role: new("owner")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"no share":          {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", SharePercent: new("0")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"negative share":    {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", SharePercent: new("-1")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"too fine a share":  {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", SharePercent: new("1.001")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"more than all":     {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", SharePercent: new("100.01")}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"more than is left": {&budgetv1.ShareBudgetRequest{Email: "friend@example.com", SharePercent: new("40.01")}, codes.InvalidArgument, "BUDGET_SHARE_EXCEEDED"},
		"unknown user":      {&budgetv1.ShareBudgetRequest{Email: "nobody@example.com"}, codes.NotFound, "USER_NOT_FOUND"},
		"oneself":           {&budgetv1.ShareBudgetRequest{Email: "Owner@example.com"}, codes.InvalidArgument, "CANNOT_INVITE_SELF"},
		"invited user":      {&budgetv1.ShareBudgetRequest{Email: guest.Email}, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS"},
		"accepted member":   {&budgetv1.ShareBudgetRequest{Email: member.Email}, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS"},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.BudgetId = id
			budgettest.Refuses(t, b.db, c.code, c.reason, func() error { _, err := b.ShareBudget(owner.Ctx, c.req); return err })
		})
	}
	asked := b.auth.calls
	budgettest.Refuses(t, b.db, codes.PermissionDenied, "INSUFFICIENT_PERMISSIONS", func() error {
		_, err := b.ShareBudget(member.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: "nobody@example.com"})
		return err
	})
	require.Equal(t, asked, b.auth.calls, "who may not invite cannot find out about e-mails")
	_, err = b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: "friend@example.com", SharePercent: new("40")})
	require.NoError(t, err)
}

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
		budgettest.Refuses(t, b.db, codes.InvalidArgument, "INVALID_INVITE_RESPONSE", func() error { _, err := b.RespondToInvitation(guest.Ctx, c); return err })
	}
	got, err := b.RespondToInvitation(guest.Ctx, &budgetv1.RespondToInvitationRequest{
		BudgetId: id, MemberId: guest.ID.String(), Status: new("accepted"), Response: new("accepted"),
	})
	require.NoError(t, err)
	require.Equal(t, "accepted", got.GetMember().GetStatus())
}

func TestShareBudgetConcurrentShares(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	emails := make([]string, budgettest.Racers)
	for i := range emails {
		emails[i] = b.user(t, fmt.Sprint("guest", i)).Email
	}
	errs := b.race(t, id, func(i int) error {
		_, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: emails[i], SharePercent: new("24")})
		return err
	})
	budgettest.RequireWinners(t, 4, errShareExceeded, errs)
}

func TestShareBudgetConcurrentInvitations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	id := b.budget(t, owner).GetId()
	b.events(t)
	errs := b.race(t, id, func(int) error {
		_, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email})
		return err
	})
	budgettest.RequireWinners(t, 1, errMemberAlreadyExists, errs)
	require.Len(t, b.events(t), 2)
}

func TestShareBudgetIdempotency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	req := &budgetv1.ShareBudgetRequest{BudgetId: b.budget(t, owner).GetId(), Email: guest.Email, IdempotencyKey: "once"}
	first, err := b.ShareBudget(owner.Ctx, req)
	require.NoError(t, err)
	again, err := b.ShareBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetMember(), again.GetMember()))
}

func TestGetMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, one, two, stranger := b.user(t, "Owner"), b.user(t, "One"), b.user(t, "Two"), b.user(t, "Stranger")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, one, "viewer")
	b.share(t, owner, id, two, "viewer")
	get := func(by, who budgettest.User) (*budgetv1.GetMemberResponse, error) {
		return b.GetMember(by.Ctx, &budgetv1.GetMemberRequest{BudgetId: id, MemberId: who.ID.String()})
	}
	listed, err := b.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id})
	require.NoError(t, err)
	for i, who := range []budgettest.User{two, one} {
		for _, by := range []budgettest.User{owner, one} {
			got, err := get(by, who)
			require.NoError(t, err)
			require.Equal(t, who.ID.String(), got.GetMember().GetId())
			require.Contains(t, []string{listed.GetMembers()[i].String(), listed.GetMembers()[1-i].String()}, got.GetMember().String())
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
	shared, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: "guest@example.com"})
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
		got, err := b.GetMember(owner.Ctx, &budgetv1.GetMemberRequest{BudgetId: id, MemberId: guest.ID.String()})
		require.NoError(t, err)
		require.Equal(t, tag, got.GetEtag())
	}
	remove := &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: guest.ID.String(), IfMatch: shared.GetEtag()}
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
		got, err := b.RemoveMember(c.by.Ctx, &budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: c.who.ID.String()})
		require.NoError(t, err)
		require.Equal(t, c.who.ID.String(), got.GetId())
		requirePublished(t, b.events(t), &budgetv1.MemberRemoved{
			BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(), MemberId: c.who.ID.String(), RemovedBy: c.by.ID.String(),
		}, owner, c.who)
		_, err = b.GetBudget(c.who.Ctx, &budgetv1.GetBudgetRequest{Id: id})
		require.ErrorIs(t, err, errInsufficientPermissions)
	}
	b.share(t, owner, id, one, "viewer")
}

func TestListMembersAndInvitationsPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, me := b.user(t, "Owner"), b.user(t, "Me")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, me, "viewer")
	for i := range 4 {
		b.share(t, owner, id, b.user(t, fmt.Sprint("guest", i)), "viewer")
	}
	rejecter := b.user(t, "Refuser")
	b.share(t, owner, id, rejecter, "viewer")
	_, err := b.respond(rejecter, id, "rejected")
	require.NoError(t, err)

	read := func(who budgettest.User) (ids []string) {
		req := &budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(2))}
		for {
			resp, err := b.ListMembers(who.Ctx, req)
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
		b.share(t, owner, b.budget(t, owner).GetId(), me, "viewer")
	}
	first, err := b.ListInvitations(me.Ctx, &budgetv1.ListInvitationsRequest{Limit: new(int32(2))})
	require.NoError(t, err)
	require.Len(t, first.GetInvitations(), 2)
	require.True(t, first.GetPagination().GetHasMore())
	rest, err := b.ListInvitations(me.Ctx, &budgetv1.ListInvitationsRequest{Cursor: first.GetPagination().GetNextCursor()})
	require.NoError(t, err)
	require.Len(t, rest.GetInvitations(), 1)
	require.Greater(t, first.GetInvitations()[1].GetBudgetId(), rest.GetInvitations()[0].GetBudgetId())

	_, err = b.ListInvitations(owner.Ctx, &budgetv1.ListInvitationsRequest{Cursor: first.GetPagination().GetNextCursor()})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = b.ListMembers(me.Ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: "x"})
	require.ErrorIs(t, err, apierr.InvalidCursor)
	_, err = b.ListMembers(me.Ctx, &budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(-1))})
	require.Equal(t, "VALIDATION_ERROR", apierr.From(err).Reason)
}

func TestShareBudgetLimitPerOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, guest := b.user(t, "Owner"), b.user(t, "Guest")
	id := b.budget(t, owner).GetId()
	share := func(email string) error {
		_, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: email})
		return err
	}
	for range invitationsPerOwner - 1 {
		require.Equal(t, "USER_NOT_FOUND", apierr.From(share("nobody@example.com")).Reason)
	}
	require.NoError(t, share(guest.Email))
	asked := b.auth.calls
	e := budgettest.Refuses(t, b.db, codes.ResourceExhausted, "RATE_LIMITED", func() error { return share("nobody@example.com") })
	require.Equal(t, invitationWindow, e.RetryAfter)
	require.Equal(t, asked, b.auth.calls)
	b.now = func() time.Time { return budgettest.Today.Add(invitationWindow) }
	require.Equal(t, "USER_NOT_FOUND", apierr.From(share("nobody@example.com")).Reason)
}

func TestShareBudgetLimitPerMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	guest, friend := b.user(t, "Guest"), b.user(t, "Friend")
	for range invitationsPerMember {
		require.NoError(t, insertInvitationTry(t.Context(), b.db, uuid.Must(uuid.NewV7()), &guest.ID, b.now()))
	}
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	budgettest.Refuses(t, b.db, codes.ResourceExhausted, "RATE_LIMITED", func() error {
		_, err := b.ShareBudget(owner.Ctx, &budgetv1.ShareBudgetRequest{BudgetId: id, Email: guest.Email})
		return err
	})
	b.share(t, owner, id, friend, "viewer")
	require.NoError(t, deleteInvitationTries(t.Context(), b.db, b.now().Add(time.Second)))
	b.share(t, owner, id, guest, "viewer")
}

func TestShareBudgetPendingLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	guest := b.user(t, "Guest")
	owners := make([]budgettest.User, 6)
	budgets := make([]string, len(owners))
	for i := range owners {
		owners[i] = b.user(t, fmt.Sprint("Owner", i))
		budgets[i] = b.budget(t, owners[i]).GetId()
	}
	_, err := b.db.Exec(t.Context(), `
		WITH b AS (
			INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period, start_date, wallet_id, category_ids, created_at, updated_at)
			SELECT gen_random_uuid(), gen_random_uuid(), 'Full', 'EUR', 1, 'daily', '2026-01-01', gen_random_uuid(), ARRAY[gen_random_uuid()], now(), now()
			FROM generate_series(1, $2)
			RETURNING id
		)
		INSERT INTO members (budget_id, user_id, role, status, invited_at) SELECT id, $1, 'viewer', 'pending', now() FROM b`, guest.ID, maxPendingInvitations-2)
	require.NoError(t, err)
	share := func(i int) error {
		_, err := b.ShareBudget(owners[i].Ctx, &budgetv1.ShareBudgetRequest{BudgetId: budgets[i], Email: guest.Email})
		return err
	}
	errs := make([]error, len(owners))
	var sharing sync.WaitGroup
	for i := range owners {
		sharing.Go(func() { errs[i] = share(i) })
	}
	sharing.Wait()
	budgettest.RequireWinners(t, 2, errInvitationLimit, errs)
	loser := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	budgettest.Refuses(t, b.db, codes.AlreadyExists, "INVITATION_LIMIT_REACHED", func() error { return share(loser) })
	b.share(t, owners[loser], budgets[loser], b.user(t, "Another"), "viewer")

	winner := slices.Index(errs, nil)
	_, err = b.respond(guest, budgets[winner], "accepted")
	require.NoError(t, err)
	require.NoError(t, share(loser), "an answered invitation is no longer pending")
}

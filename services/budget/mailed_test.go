package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

const mum = "mum@example.com"

// inviteRequest invites an e-mail by mail.
func inviteRequest(budgetID, email string) *budgetv1.ShareBudgetRequest {
	return &budgetv1.ShareBudgetRequest{
		BudgetId: budgetID, Email: email, Invite: true, SharePercent: new("25"),
	}
}

func (b *bundle) mails(
	t *testing.T, owner budgettest.User, budgetID, email string,
) *budgetv1.Member {
	t.Helper()
	resp, err := b.ShareBudget(owner.Ctx, inviteRequest(budgetID, email))
	require.NoError(t, err)
	return resp.GetMember()
}

func (b *bundle) rename(t *testing.T, owner budgettest.User, id string) {
	t.Helper()
	_, err := b.UpdateBudget(owner.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: id, Name: new("Renamed")})
	require.NoError(t, err)
}

// verified returns the event of a user who has verified the e-mail.
func verified(who budgettest.User, email string) outbox.Received {
	return outbox.Received{ID: uuid.New(), UserID: who.ID, Data: &authv1.UserEmailVerified{
		User: &authv1.User{Id: who.ID.String(), Email: email, EmailVerified: true},
	}}
}

func (b *bundle) members(
	t *testing.T, who budgettest.User, budgetID string,
) []*budgetv1.Member {
	t.Helper()
	list, err := b.ListMembers(who.Ctx, &budgetv1.ListMembersRequest{BudgetId: budgetID})
	require.NoError(t, err)
	got, err := b.GetBudget(who.Ctx, &budgetv1.GetBudgetRequest{Id: budgetID})
	require.NoError(t, err)
	listed, err := b.ListBudgets(who.Ctx, &budgetv1.ListBudgetsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetMembers(), len(got.GetBudget().GetMembers()))
	require.Len(t, list.GetMembers(), len(listed.GetBudgets()[0].GetMembers()))
	for i, m := range list.GetMembers() {
		require.True(t, proto.Equal(m, got.GetBudget().GetMembers()[i]))
		require.True(t, proto.Equal(m, listed.GetBudgets()[0].GetMembers()[i]))
	}
	return list.GetMembers()
}

func (b *bundle) invitations(t *testing.T, who budgettest.User) []*budgetv1.Invitation {
	t.Helper()
	resp, err := b.ListInvitations(who.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	return resp.GetInvitations()
}

func TestShareBudgetByMail(t *testing.T) {
	t.Parallel()
	t.Run("shows the invitation without a user, to the owner only", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, friend := env.user(t, "Owner"), env.user(t, "Friend")
		id := env.budget(t, owner).GetId()
		env.join(t, owner, id, friend, "viewer")
		env.events(t)
		m := env.mails(t, owner, id, "Mum@Example.com")
		want := &budgetv1.Member{
			BudgetId: id, Email: mum, Role: "viewer", SharePercent: new("25.00"), Status: "invited",
			InvitedAt: "2026-03-15T12:00:00.000Z", ExpiresAt: new("2026-03-29T12:00:00.000Z"),
			InvitationId: m.InvitationId,
		}
		require.True(t, proto.Equal(want, m), m)
		requirePublished(t, env.events(t), &budgetv1.InvitationMailed{
			BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
			InvitationId: m.GetInvitationId(), Email: mum, Role: "viewer",
			SharePercent: new("25.00"),
		}, owner)
		require.True(t, proto.Equal(want, env.members(t, owner, id)[0]))
		require.Len(t, env.members(t, friend, id), 1, "only the friend")
		budgettest.Refuses(t, env.db, codes.AlreadyExists, "BUDGET_MEMBER_ALREADY_EXISTS",
			pgtest.Call(owner.Ctx, env.ShareBudget, inviteRequest(id, mum)))
	})
	t.Run("rejects members, the owner, and too large shares", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, friend := env.user(t, "Owner"), env.user(t, "Friend")
		id := env.budget(t, owner).GetId()
		env.share(t, owner, id, friend, "viewer")
		env.mails(t, owner, id, mum)
		large := inviteRequest(id, "dad@example.com")
		large.SharePercent = new("75.01")
		for reason, req := range map[string]*budgetv1.ShareBudgetRequest{
			"BUDGET_MEMBER_ALREADY_EXISTS": inviteRequest(id, friend.Email),
			"CANNOT_INVITE_SELF":           inviteRequest(id, owner.Email),
			"BUDGET_SHARE_EXCEEDED":        large,
		} {
			_, err := env.ShareBudget(owner.Ctx, req)
			require.Equal(t, reason, apierr.From(err).Reason)
		}
		_, err := env.ShareBudget(friend.Ctx, inviteRequest(id, "dad@example.com"))
		require.ErrorIs(t, err, errInsufficientPermissions)
		env.auth.unavailable = apierr.New(restv1.Reason_MAIL_UNAVAILABLE).GRPCStatus().Err()
		budgettest.Refuses(t, env.db, codes.Unavailable, "MAIL_UNAVAILABLE",
			pgtest.Call(owner.Ctx, env.ShareBudget, inviteRequest(id, "dad@example.com")))
	})
	t.Run("counts for the limit per day", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := env.budget(t, owner).GetId()
		m := env.mails(t, owner, id, mum)
		for range invitationsPerOwner - 1 {
			env.tries(t, owner.ID, nil)
		}
		budgettest.Refuses(t, env.db, codes.ResourceExhausted, "RATE_LIMITED",
			pgtest.Call(owner.Ctx, env.ShareBudget, inviteRequest(id, "dad@example.com")))
		budgettest.Refuses(t, env.db, codes.ResourceExhausted, "RATE_LIMITED",
			pgtest.Call(owner.Ctx, env.ResendInvitation, &budgetv1.ResendInvitationRequest{
				BudgetId: id, InvitationId: m.GetInvitationId(),
			}))
	})
}

func TestFollowUsers(t *testing.T) {
	t.Parallel()
	t.Run("makes invitations pending, which the owner does not see", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, who := env.user(t, "Owner"), env.user(t, "Mum")
		id := env.budget(t, owner).GetId()
		before := env.mails(t, owner, id, mum)
		env.events(t)
		for range 2 {
			env.apply(t, verified(who, mum))
		}
		requirePublished(t, env.events(t), &budgetv1.InvitationSent{
			BudgetId: id, BudgetName: "Groceries", OwnerId: owner.ID.String(),
			MemberId: who.ID.String(), Role: "viewer", SharePercent: new("25.00"),
		}, who)
		require.Len(t, env.invitations(t, who), 1)
		calls := env.auth.calls
		require.True(t, proto.Equal(before, env.members(t, owner, id)[0]))
		require.Equal(t, calls, env.auth.calls, "no name is read")

		path := budgetv1.GetMemberRequest{BudgetId: id, MemberId: who.ID.String()}
		for _, member := range []string{path.MemberId, before.GetInvitationId()} {
			_, err := env.GetMember(owner.Ctx,
				&budgetv1.GetMemberRequest{BudgetId: id, MemberId: member})
			require.ErrorIs(t, err, errMemberNotFound)
			_, err = env.RemoveMember(owner.Ctx,
				&budgetv1.RemoveMemberRequest{BudgetId: id, MemberId: member})
			require.ErrorIs(t, err, errMemberNotFound)
			_, err = env.RespondToInvitation(owner.Ctx, &budgetv1.RespondToInvitationRequest{
				BudgetId: id, MemberId: member, Role: new("editor"),
			})
			require.ErrorIs(t, err, errMemberNotFound)
		}

		_, err := env.respond(who, id, "accepted")
		require.NoError(t, err)
		after := env.members(t, owner, id)[0]
		require.Equal(t, who.ID.String(), after.GetId())
		require.Equal(t, "accepted", after.GetStatus())
		require.Nil(t, after.InvitationId)
		require.Equal(t, "25.00", after.GetSharePercent())
		budgettest.Refuses(t, env.db, codes.NotFound, "INVITATION_NOT_FOUND",
			pgtest.Call(owner.Ctx, env.WithdrawInvitation, &budgetv1.WithdrawInvitationRequest{
				BudgetId: id, InvitationId: before.GetInvitationId(),
			}))
	})
	t.Run("follows a registration with a link, and an invited user", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, who := env.user(t, "Owner"), env.user(t, "Mum")
		env.mails(t, owner, env.budget(t, owner).GetId(), mum)
		user := &authv1.User{Id: who.ID.String(), Email: mum}
		env.apply(t, outbox.Received{
			ID: uuid.New(), UserID: who.ID, Data: &authv1.UserRegistered{User: user},
		})
		require.Empty(t, env.invitations(t, who), "the e-mail is not verified")
		env.apply(t, outbox.Received{
			ID: uuid.New(), UserID: who.ID, Data: &authv1.UserInvited{User: user},
		})
		require.Len(t, env.invitations(t, who), 1)

		env.mails(t, owner, env.budgetNamed(t, owner, "Rent").GetId(), "dad@example.com")
		dad := env.user(t, "Dad")
		env.apply(t, outbox.Received{ID: uuid.New(), UserID: dad.ID, Data: &authv1.UserRegistered{
			User: &authv1.User{Id: dad.ID.String(), Email: "dad@example.com", EmailVerified: true},
		}})
		require.Len(t, env.invitations(t, dad), 1)
	})
	t.Run("keeps other memberships of the user", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner, who := env.user(t, "Owner"), env.user(t, "Mum")
		left, joined, own := env.budgetNamed(t, owner, "left"), env.budgetNamed(t, owner, "joined"),
			env.budgetNamed(t, who, "own")
		env.join(t, owner, left.GetId(), who, "viewer")
		_, err := env.respond(who, left.GetId(), "rejected")
		require.NoError(t, err)
		env.join(t, owner, joined.GetId(), who, "viewer")
		for _, b := range []*budgetv1.Budget{left, joined} {
			env.mails(t, owner, b.GetId(), "new@example.com")
		}
		env.mails(t, who, own.GetId(), "new@example.com")
		// The user changes the e-mail.
		env.apply(t, verified(who, "new@example.com"))
		got := env.invitations(t, who)
		require.Len(t, got, 1)
		require.Equal(t, left.GetId(), got[0].GetBudgetId())
	})
	t.Run("leaves invitations beyond the limit, until the owner sends them again",
		func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner, who := env.user(t, "Owner"), env.user(t, "Mum")
			id := env.budget(t, owner).GetId()
			env.mails(t, owner, id, mum)
			pgtest.Exec(t, env.db, `
				WITH b AS (
					INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period,
						start_date, wallet_id, category_ids, created_at, updated_at)
					SELECT gen_random_uuid(), gen_random_uuid(), 'Full', 'EUR', 1, 'daily',
						'2026-01-01', gen_random_uuid(), ARRAY[gen_random_uuid()], now(), now()
					FROM generate_series(1, $2)
					RETURNING id
				)
				INSERT INTO members (budget_id, user_id, role, status, invited_at)
				SELECT id, $1, 'viewer', 'pending', '2020-01-01' FROM b`,
				who.ID, maxPendingInvitations)
			env.apply(t, verified(who, mum))
			require.NotEqual(t, id, env.invitations(t, who)[0].GetBudgetId())
			pgtest.Exec(t, env.db, `DELETE FROM budgets WHERE name = 'Full'`)
			env.apply(t, verified(who, mum))
			require.Len(t, env.invitations(t, who), 1)
		})
	t.Run("counts for the limit per day of the user, and not twice for the owner",
		func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner, who := env.user(t, "Owner"), env.user(t, "Mum")
			env.mails(t, owner, env.budgetNamed(t, owner, "first").GetId(), mum)
			for range invitationsPerMember - 1 {
				env.tries(t, uuid.New(), &who.ID)
			}
			env.apply(t, verified(who, mum))
			require.Len(t, env.invitations(t, who), 1)
			require.Equal(t, 1, pgtest.Value[int](t, env.db,
				`SELECT count(*) FROM invitation_tries WHERE owner_id = $1`, owner.ID))

			env.mails(t, owner, env.budgetNamed(t, owner, "second").GetId(), mum)
			env.apply(t, verified(who, mum))
			require.Len(t, env.invitations(t, who), 1)
			env.now = func() time.Time { return budgettest.Today.Add(invitationWindow) }
			env.apply(t, verified(who, mum))
			require.Len(t, env.invitations(t, who), 2)
		})
	t.Run("ignores expired invitations, and keeps the rejection of an earlier one",
		func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner, who := env.user(t, "Owner"), env.user(t, "Mum")
			id := env.budget(t, owner).GetId()
			env.share(t, owner, id, who, "viewer")
			_, err := env.respond(who, id, "rejected")
			require.NoError(t, err)
			env.mails(t, owner, id, mum)
			env.now = func() time.Time { return budgettest.Today.Add(mailedTTL) }
			env.apply(t, verified(who, mum))
			require.Empty(t, env.invitations(t, who))
			require.Len(t, env.members(t, owner, id), 2)
		})
}

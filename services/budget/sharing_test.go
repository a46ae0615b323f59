package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// The documented limits of invitations.
const (
	mailedTTL             = 14 * 24 * time.Hour
	resendsPerDay         = 3
	withdrawn             = "withdrawn"
	expired               = "expired"
	deletedWithBudget     = "deleted"
	invitationWindow      = 24 * time.Hour
	invitationsPerOwner   = 100
	invitationsPerMember  = 50
	maxPendingInvitations = 100
)

// Errors of package sharing.
var (
	errInsufficientPermissions = apierr.New(restv1.Reason_INSUFFICIENT_PERMISSIONS)
	errInvalidMemberID         = apierr.New(restv1.Reason_INVALID_BUDGET_MEMBER_ID)
	errMemberNotFound          = apierr.New(restv1.Reason_BUDGET_MEMBER_NOT_FOUND)
	errMemberAlreadyExists     = apierr.New(restv1.Reason_BUDGET_MEMBER_ALREADY_EXISTS)
	errInvitationLimit         = apierr.New(restv1.Reason_INVITATION_LIMIT_REACHED)
	errInvitationNotFound      = apierr.New(restv1.Reason_INVITATION_NOT_FOUND)
	errShareExceeded           = apierr.New(restv1.Reason_BUDGET_SHARE_EXCEEDED)
)

// tries counts an invitation of an owner, to a user if user is not nil.
func (b *bundle) tries(t *testing.T, owner uuid.UUID, user *uuid.UUID) {
	t.Helper()
	pgtest.Exec(t, b.db, `INSERT INTO invitation_tries (owner_id, user_id, at) VALUES ($1, $2, $3)`,
		owner, user, b.now())
}

func TestWithdrawInvitationBesideAcceptance(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, who := env.user(t, "Owner"), env.user(t, "Mum")
	id := env.budget(t, owner).GetId()
	m := env.mails(t, owner, id, mum)
	env.apply(t, verified(who, mum))
	err := pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
		if err := env.server.members.Lock(t.Context(), tx, uuid.MustParse(id)); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `
			UPDATE members
			SET status = 'accepted', responded_at = now(), invitation_id = NULL, email = NULL,
				expires_at = NULL
			WHERE user_id = $1`, who.ID)
		return err
	}, func() error {
		_, err := env.WithdrawInvitation(owner.Ctx, &budgetv1.WithdrawInvitationRequest{
			BudgetId: id, InvitationId: m.GetInvitationId(),
		})
		return err
	})
	require.ErrorIs(t, err, errInvitationNotFound)
	require.Equal(t, "accepted", env.members(t, owner, id)[0].GetStatus())
}

// joinGoal shares a goal with a user, who accepts.
func (b *bundle) joinGoal(t *testing.T, owner budgettest.User, goal string, who budgettest.User) {
	t.Helper()
	_, err := b.ShareGoal(owner.Ctx, &budgetv1.ShareGoalRequest{
		GoalId: goal, Email: who.Email, Role: new("editor"),
	})
	require.NoError(t, err)
	_, err = b.RespondToGoalInvitation(who.Ctx, &budgetv1.RespondToGoalInvitationRequest{
		GoalId: goal, MemberId: who.ID.String(), Status: new("accepted"),
	})
	require.NoError(t, err)
}

// TestGoalByMail invites an e-mail to a budget and to a goal, and verifies it. The invitations are
// separate, and both end when they expire.
func TestGoalByMail(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, who := env.user(t, "Owner"), env.user(t, "Mum")
	env.mails(t, owner, env.budget(t, owner).GetId(), mum)
	goal := env.goal(t, owner).GetId()
	shared, err := env.ShareGoal(owner.Ctx,
		&budgetv1.ShareGoalRequest{GoalId: goal, Email: mum, Invite: true})
	require.NoError(t, err)
	require.Equal(t, "invited", shared.GetMember().GetStatus())
	env.events(t)
	env.apply(t, verified(who, mum))
	require.Len(t, env.invitations(t, who), 1)
	invited, err := env.ListGoalInvitations(who.Ctx, &budgetv1.ListGoalInvitationsRequest{})
	require.NoError(t, err)
	require.Len(t, invited.GetInvitations(), 1)
	requirePublished(t, env.events(t)[1:], &budgetv1.InvitationSent{
		GoalId: goal, GoalName: "Trip", OwnerId: owner.ID.String(), MemberId: who.ID.String(),
		Role: "viewer",
	}, who)
	env.now = func() time.Time { return budgettest.Today.Add(mailedTTL) }
	require.NoError(t, env.expire(t.Context()))
	invited, err = env.ListGoalInvitations(who.Ctx, &budgetv1.ListGoalInvitationsRequest{})
	require.NoError(t, err)
	require.Empty(t, invited.GetInvitations())
	_, err = env.RespondToGoalInvitation(who.Ctx, &budgetv1.RespondToGoalInvitationRequest{
		GoalId: goal, MemberId: who.ID.String(), Status: new("accepted"),
	})
	require.ErrorIs(t, err, apierr.New(restv1.Reason_GOAL_NOT_FOUND))
}

// TestEraseMemberOfGoal erases a member who assigned money to a goal, and then the owner. The money
// of the member is no longer saved, and no table names the erased users.
func TestEraseMemberOfGoal(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, member, other := env.user(t, "Owner"), env.user(t, "Member"), env.user(t, "Other")
	goal := env.goal(t, owner).GetId()
	env.joinGoal(t, owner, goal, member)
	env.joinGoal(t, owner, goal, other)
	for _, who := range []budgettest.User{member, other} {
		_, err := env.CreateAssignment(who.Ctx, &budgetv1.CreateAssignmentRequest{
			GoalId: goal, WalletId: uuid.NewString(), Amount: "50", Date: "2026-03-01",
		})
		require.NoError(t, err)
	}
	saved := func(who budgettest.User) string {
		got, err := env.GetGoal(who.Ctx, &budgetv1.GetGoalRequest{Id: goal})
		require.NoError(t, err)
		return got.GetGoal().GetProgress().GetSaved()
	}
	require.Equal(t, "1000.00", saved(other))
	erase := func(who budgettest.User) []published {
		env.events(t)
		env.erase(t, who)
		events := env.events(t)
		env.syncs.RunQueued(t.Context())
		env.erasures.Jobs.RunQueued(t.Context())
		env.events(t)
		require.Empty(t, pgtest.Mentions(t, env.db, who.ID.String(), who.Email))
		return events
	}
	events := erase(member)
	require.Equal(t, "950.00", saved(owner))
	nobody := uuid.Nil.String()
	requirePublished(t, events[:1], &budgetv1.MemberRemoved{
		GoalId: goal, GoalName: "Trip", OwnerId: owner.ID.String(), MemberId: nobody,
		RemovedBy: nobody,
	}, owner)
	events = erase(owner)
	deleted := events[0].message(t).(*budgetv1.GoalDeleted)
	require.Equal(t, other.ID, events[0].UserID)
	require.Equal(t, nobody, deleted.GetGoal().GetOwnerId())
	_, err := env.GetGoal(other.Ctx, &budgetv1.GetGoalRequest{Id: goal})
	require.ErrorIs(t, err, apierr.New(restv1.Reason_GOAL_NOT_FOUND))
	require.Zero(t, pgtest.Value[int](t, env.db, `SELECT count(*) FROM assignments`))
}

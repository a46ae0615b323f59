package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// The tests below call single statements. Among the rows, each differs from a counted one in one
// column, so the result shows which condition a statement has lost.

func TestShareBudgetCountsInvitations(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest, other := env.user(t, "Owner"), env.user(t, "Guest"), env.user(t, "Other")
	since, after := budgettest.Today, budgettest.Today.Add(time.Second)
	for _, try := range []struct {
		owner, user uuid.UUID
		at          time.Time
	}{
		{owner.ID, guest.ID, after},
		{owner.ID, guest.ID, since},
		{owner.ID, other.ID, after},
		{other.ID, guest.ID, after},
	} {
		require.NoError(t, insertInvitationTry(t.Context(), env.db, try.owner, &try.user, try.at))
	}
	sent, err := countInvitationsBy(t.Context(), env.db, owner.ID, since)
	require.NoError(t, err)
	require.Equal(t, int64(2), sent)
	received, err := countInvitationsTo(t.Context(), env.db, guest.ID, since)
	require.NoError(t, err)
	require.Equal(t, int64(2), received)

	require.NoError(t, deleteInvitationTries(t.Context(), env.db, since))
	left := pgtest.Value[int](t, env.db, `SELECT count(*) FROM invitation_tries`)
	require.Equal(t, 3, left)
}

// TestShareBudgetCountsMembers has members of two budgets in each status. The shares differ in
// their digits, so a sum shows its members.
func TestShareBudgetCountsMembers(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, guest, friend := env.user(t, "Owner"), env.user(t, "Guest"), env.user(t, "Friend")
	first := uuid.MustParse(env.budget(t, owner).GetId())
	second := uuid.MustParse(env.budgetNamed(t, owner, "Second").GetId())
	insert := func(budget, user uuid.UUID, status status, share int32) member {
		m := member{
			BudgetID: budget, UserID: user, Role: "viewer", Status: status, ShareBP: &share,
			InvitedAt: budgettest.Today,
		}
		if status != pending {
			m.RespondedAt = &budgettest.Today
		}
		require.NoError(t, upsertMember(t.Context(), env.db, m))
		return m
	}
	changed := insert(first, guest.ID, pending, 1)
	insert(first, friend.ID, accepted, 10)
	insert(first, uuid.New(), pending, 100)
	insert(first, uuid.New(), rejected, 1000)
	insert(second, uuid.New(), accepted, 5000)
	insert(second, guest.ID, accepted, 3000)

	others, err := sumOtherShares(t.Context(), env.db, changed)
	require.NoError(t, err)
	require.EqualValues(t, 110, others)

	tx, err := env.db.Begin(t.Context())
	require.NoError(t, err)
	defer tx.Rollback(t.Context()) //nolint:errcheck // Nothing was written.
	invited, err := countPendingInvitations(t.Context(), tx, guest.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, invited)
}

// TestQueueSyncsOfCategory has two owners with the same category id: only the budgets of the owner
// of the event are queued.
func TestQueueSyncsOfCategory(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, other := env.user(t, "Owner"), env.user(t, "Other")
	category := uuid.New()
	used := uuid.MustParse(env.create(t, owner, "Used", category.String()))
	env.create(t, owner, "Unused", uuid.NewString())
	env.create(t, other, "Another owner's", category.String())
	pgtest.Exec(t, env.db, `DELETE FROM reference_syncs`)

	require.NoError(t, queueSyncsOfCategory(t.Context(), env.db, owner.ID, category))
	syncs, err := claimSyncs(t.Context(), env.db, budgettest.Today)
	require.NoError(t, err)
	require.Len(t, syncs, 1)
	require.Equal(t, used, syncs[0].BudgetID)
	require.Equal(t, owner.ID, syncs[0].OwnerID)

	again, err := claimSyncs(t.Context(), env.db, budgettest.Today.Add(syncLease))
	require.NoError(t, err)
	require.Empty(t, again, "a lease includes its last moment")
	again, err = claimSyncs(t.Context(), env.db, budgettest.Today.Add(syncLease+time.Millisecond))
	require.NoError(t, err)
	require.Len(t, again, 1)
}

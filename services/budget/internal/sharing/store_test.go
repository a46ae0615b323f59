package sharing

import (
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// The tests below call single statements. Among the rows, each differs from a counted one in one
// column, so the result shows which condition a statement has lost.

func TestShareCountsInvitations(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, os.DirFS("../.."))
	owner, guest, other := uuid.New(), uuid.New(), uuid.New()
	since, after := budgettest.Today, budgettest.Today.Add(time.Second)
	for _, try := range []struct {
		owner, user uuid.UUID
		at          time.Time
	}{
		{owner, guest, after},
		{owner, guest, since},
		{owner, other, after},
		{other, guest, after},
	} {
		require.NoError(t, insertInvitationTry(t.Context(), db, try.owner, &try.user, try.at))
	}
	sent, err := countInvitationsBy(t.Context(), db, owner, since)
	require.NoError(t, err)
	require.Equal(t, int64(2), sent)
	received, err := countInvitationsTo(t.Context(), db, guest, since)
	require.NoError(t, err)
	require.Equal(t, int64(2), received)

	require.NoError(t, ExpireTries(t.Context(), db, since.Add(invitationWindow)))
	left := pgtest.Value[int](t, db, `SELECT count(*) FROM invitation_tries`)
	require.Equal(t, 3, left)
}

// things inserts two budgets and two goals with the same ids and owners.
func things(t *testing.T, db *pgxpool.Pool) (first, second uuid.UUID) {
	t.Helper()
	owner, first, second := uuid.New(), uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{first, second} {
		pgtest.Exec(t, db, `
			INSERT INTO budgets (id, owner_id, name, currency, limit_minor, period, start_date,
				wallet_id, category_ids, created_at, updated_at)
			VALUES ($1, $2, 'Name', 'EUR', 1, 'monthly', now(), $1, ARRAY[$1::uuid], now(), now())`,
			id, owner)
		pgtest.Exec(t, db, `
			INSERT INTO goals (owner_id, id, name, currency, target_minor, icon, note, archived,
				created_at, updated_at)
			VALUES ($2, $1, 'Name', 'EUR', 1, '', '', false, now(), now())`, id, owner)
	}
	return first, second
}

// TestShareCountsMembers has members of two budgets and two goals in each status. The shares differ
// in their digits, so a sum shows its members.
func TestShareCountsMembers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, os.DirFS("../.."))
	first, second := things(t, db)
	guest, friend := uuid.New(), uuid.New()
	for i, kind := range []Kind{Budgets, Goals} {
		insert := func(thing, user uuid.UUID, status Status, share int32) Member {
			m := Member{
				ThingID: thing, UserID: user, Role: "viewer", Status: status, ShareBP: &share,
				InvitedAt: budgettest.Today, KnownName: new("Name"),
			}
			if status != Pending {
				m.RespondedAt = &budgettest.Today
			}
			require.NoError(t, kind.upsertMember(t.Context(), db, m))
			return m
		}
		changed := insert(first, guest, Pending, 1)
		insert(first, friend, Accepted, 10)
		insert(first, uuid.New(), Pending, 100)
		insert(first, uuid.New(), rejected, 1000)
		insert(second, uuid.New(), Accepted, 5000)
		insert(second, guest, Accepted, 3000)

		others, err := kind.sumOtherShares(t.Context(), db, changed)
		require.NoError(t, err)
		require.EqualValues(t, 110, others)

		tx, err := db.Begin(t.Context())
		require.NoError(t, err)
		invited, err := countPendingInvitations(t.Context(), tx, guest)
		// The next kind needs the same lock.
		require.NoError(t, tx.Rollback(t.Context()))
		require.NoError(t, err)
		require.EqualValues(t, i+1, invited, "invitations to budgets and goals count together")
	}
}

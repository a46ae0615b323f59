package budget

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// syncAll runs the worker until no sync is due.
func (b *bundle) syncAll(t *testing.T) {
	t.Helper()
	for {
		due, err := claimSyncs(t.Context(), b.db, budgettest.Today)
		require.NoError(t, err)
		if len(due) == 0 {
			break
		}
		require.NoError(t, b.sync(t.Context(), due))
	}
	var left int
	row := b.db.QueryRow(t.Context(), `SELECT count(*) FROM reference_syncs`)
	require.NoError(t, row.Scan(&left))
	require.Zero(t, left)
}

// merge merges a category at the ledger and returns the event.
func (b *bundle) merge(owner budgettest.User, from, to string) outbox.Received {
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	b.ledger.current[from] = to
	return deletion(owner, from, &to)
}

// deletion returns the event of a category that was deleted, or merged into another one.
func deletion(owner budgettest.User, category string, into *string) outbox.Received {
	return outbox.Received{
		ID: uuid.Must(uuid.NewV7()), UserID: owner.ID, Data: &ledgerv1.CategoryDeleted{
			OwnerId: owner.ID.String(), CategoryId: category, ReassignedTo: into,
		},
	}
}

// lastSync returns the last report to the ledger.
func (b *bundle) lastSync() *ledgerv1.BudgetReferences {
	return b.ledger.synced[len(b.ledger.synced)-1]
}

func (b *bundle) categoriesOf(t *testing.T, owner budgettest.User, budget string) []string {
	t.Helper()
	got, err := b.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: budget})
	require.NoError(t, err)
	return got.GetBudget().GetCategoryIds()
}

func (b *bundle) create(
	t *testing.T, owner budgettest.User, name string, categories ...string,
) string {
	t.Helper()
	req := newBudget()
	req.Name, req.CategoryIds = name, categories
	created, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	return created.GetBudget().GetId()
}

func categoryUpdate(id string, categories ...string) *budgetv1.UpdateBudgetRequest {
	return &budgetv1.UpdateBudgetRequest{
		Id: id, CategoryIds: &budgetv1.CategoryIds{Values: categories},
	}
}

func TestReservations(t *testing.T) {
	t.Parallel()
	reservationOf := func(b *bundle) string {
		return b.ledger.checked[len(b.ledger.checked)-1].GetReservation()
	}
	settled := func(b *bundle) (ids []string) {
		for _, s := range b.ledger.synced {
			ids = append(ids, s.GetSettledReservations()...)
		}
		return ids
	}
	t.Run("are settled after a write", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.user(t, "Owner")
		id := b.create(t, owner, "Groceries", uuid.NewString())
		require.Equal(t, id, b.ledger.checked[0].GetBudgetId())
		b.syncAll(t)
		require.Equal(t, []string{reservationOf(b)}, settled(b))
	})
	t.Run("are settled after a rejected write", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		req := newBudget()
		_, err := env.CreateBudget(owner.Ctx, req)
		require.NoError(t, err)
		env.syncAll(t)
		_, err = env.CreateBudget(owner.Ctx, req)
		require.ErrorIs(t, err, errBudgetAlreadyExists)
		env.syncAll(t)
		require.Contains(t, settled(env), reservationOf(env))
		last := env.lastSync()
		require.Equal(t, env.ledger.checked[1].GetBudgetId(), last.GetBudgetId())
		require.Empty(t, last.GetCategoryIds(), "there is no such budget")
	})
	t.Run("are not made for a wallet alone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.user(t, "Owner")
		id := b.create(t, owner, "Groceries", uuid.NewString())
		req := &budgetv1.UpdateBudgetRequest{Id: id, WalletId: new(uuid.NewString())}
		_, err := b.UpdateBudget(owner.Ctx, req)
		require.NoError(t, err)
		require.Empty(t, reservationOf(b))
	})
}

func TestSyncReferences(t *testing.T) {
	t.Parallel()
	t.Run("reports a deleted budget and changed categories at once", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id, other := env.create(t, owner, "Groceries", uuid.NewString()), uuid.NewString()
		_, err := env.UpdateBudget(owner.Ctx, categoryUpdate(id, other))
		require.NoError(t, err)
		require.Equal(t, []string{other}, env.ledger.synced[0].GetCategoryIds())
		_, err = env.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: id})
		require.NoError(t, err)
		last := env.lastSync()
		require.Equal(t, id, last.GetBudgetId())
		require.Equal(t, owner.ID.String(), last.GetOwnerId())
		require.Empty(t, last.GetCategoryIds())
	})
	t.Run("is repeated after a failure of the ledger", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id := env.create(t, owner, "Groceries", uuid.NewString())
		env.ledger.unavailable = grpcstatus.Error(codes.Unavailable, "connection refused")
		_, err := env.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: id})
		require.NoError(t, err)
		due, err := claimSyncs(t.Context(), env.db, budgettest.Today)
		require.NoError(t, err)
		require.Empty(t, due, "leased")
		env.ledger.unavailable = nil
		due, err = claimSyncs(t.Context(), env.db, budgettest.Today.Add(2*syncLease))
		require.NoError(t, err)
		require.NoError(t, env.sync(t.Context(), due))
		require.Len(t, env.ledger.synced, 1)
		env.syncAll(t)
	})
	t.Run("repeats the budgets that the ledger has not recorded", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		for range 2 {
			owner := env.user(t, "Owner")
			env.create(t, owner, "Groceries", uuid.NewString())
			env.create(t, owner, "Fun", uuid.NewString())
		}
		due, err := claimSyncs(t.Context(), env.db, budgettest.Today)
		require.NoError(t, err)
		require.Len(t, due, 4)
		env.ledger.recorded = 3
		require.NoError(t, env.sync(t.Context(), due))
		require.Equal(t, env.ledger.synced[0].GetOwnerId(), env.ledger.synced[1].GetOwnerId())
		due, err = claimSyncs(t.Context(), env.db, budgettest.Today.Add(2*syncLease))
		require.NoError(t, err)
		require.Len(t, due, 1)
		require.NoError(t, env.sync(t.Context(), due))
		require.Equal(t, due[0].BudgetID.String(), env.lastSync().GetBudgetId())
		env.syncAll(t)
		require.Len(t, env.ledger.synced, 4)
	})
	t.Run("does not lose a change during a report", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		deleted, changed := uuid.NewString(), uuid.NewString()
		id := env.create(t, owner, "Groceries", deleted, uuid.NewString())
		env.ledger.current[deleted] = ""
		env.ledger.syncing = func() {
			env.ledger.syncing = nil
			_, err := env.UpdateBudget(owner.Ctx, categoryUpdate(id, changed))
			require.NoError(t, err)
		}
		env.syncAll(t)
		got := env.categoriesOf(t, owner, id)
		require.Equal(t, []string{changed}, got, "the answer to the older report changes nothing")
	})
	t.Run("sees what the previous release writes", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		id, category := env.create(t, owner, "Groceries", uuid.NewString()), uuid.NewString()
		env.syncAll(t)
		for _, statement := range []string{
			`UPDATE budgets SET category_ids = '{` + category + `}', name = 'Food' WHERE id = $1`,
			`DELETE FROM budgets WHERE id = $1`,
		} {
			pgtest.Exec(t, env.db, statement, id)
			env.syncAll(t)
		}
		n := len(env.ledger.synced)
		require.Equal(t, []string{category}, env.ledger.synced[n-2].GetCategoryIds())
		require.Empty(t, env.ledger.synced[n-1].GetCategoryIds())
	})
	t.Run("is not queued by other changes", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.user(t, "Owner")
		id := b.create(t, owner, "Groceries", uuid.NewString())
		b.syncAll(t)
		reports := len(b.ledger.synced)
		_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: id, Limit: new("17")})
		require.NoError(t, err)
		b.syncAll(t)
		require.Len(t, b.ledger.synced, reports)
	})
}

func TestReferencesAge(t *testing.T) {
	t.Parallel()
	env := setup(t)
	age := func() int64 {
		seconds, err := selectOldestSyncAge(t.Context(), env.db)
		require.NoError(t, err)
		return seconds
	}
	require.Zero(t, age())
	owner := env.user(t, "Owner")
	env.budget(t, owner)
	env.budgetNamed(t, owner, "Newer")
	pgtest.Exec(t, env.db, `
		UPDATE reference_syncs
		SET queued_at = now() - interval '10 minutes'
		WHERE budget_id = (SELECT budget_id FROM reference_syncs ORDER BY seq LIMIT 1)`)
	require.InDelta(t, 600, age(), 60)
	env.syncAll(t)
	require.Zero(t, age())
}

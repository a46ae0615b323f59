package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestFollowCategories(t *testing.T) {
	t.Parallel()
	t.Run("keeps a concurrent change of the budget", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		made, target := env.budget(t, owner), uuid.NewString()
		merged := outbox.Received{
			ID: uuid.Must(uuid.NewV7()), UserID: owner.ID, Subject: "ledger.v1.category.deleted",
			Time: budgettest.Today,
			Data: &ledgerv1.CategoryDeleted{
				OwnerId: owner.ID.String(), CategoryId: made.GetCategoryIds()[0],
				ReassignedTo: &target,
			},
		}
		require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			_, err := env.change(owner.Ctx, tx, uuid.MustParse(made.GetId()), "",
				changes{name: new("Renamed")})
			return err
		}, func() error {
			return pg.InTx(t.Context(), env.db, func(tx pgx.Tx) error {
				return env.applyEvents(t.Context(), tx, []outbox.Received{merged})
			})
		}))
		got, err := env.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: made.GetId()})
		require.NoError(t, err)
		require.Equal(t, "Renamed", got.GetBudget().GetName())
		require.Equal(t, []string{target}, got.GetBudget().GetCategoryIds())
		require.Equal(t, `"3"`, got.GetEtag())
	})
}

func TestSettle(t *testing.T) {
	t.Parallel()
	t.Run("raises no alert from the spending of an older version", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		books := env.books()
		owner := env.user(t, "Owner")
		made := env.budget(t, owner)
		books.spend(made.GetWalletId(), "2026-03-10", 400_00)
		env.ledger.spend = func(window *ledgerv1.SpendingWindow) *ledgerv1.Spending {
			// The budget moves to another wallet after the ledger was asked about the old one.
			env.ledger.spend = func(*ledgerv1.SpendingWindow) *ledgerv1.Spending {
				return &ledgerv1.Spending{Found: true}
			}
			require.NoError(t, pg.InTx(t.Context(), env.db, func(tx pgx.Tx) error {
				_, err := env.change(owner.Ctx, tx, uuid.MustParse(made.GetId()), "",
					changes{wallet: new(uuid.Must(uuid.NewV7()))})
				return err
			}))
			return books.sum(window)
		}
		env.check(t)
		require.Empty(t, env.alerts(t))
	})
	t.Run("raises no alert for a budget that changes concurrently", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		books := env.books()
		owner := env.user(t, "Owner")
		made := env.budget(t, owner)
		books.spend(made.GetWalletId(), "2026-03-10", 400_00)
		require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			// The change has not queued its check yet. That would keep the worker from claiming it.
			_, err := tx.Exec(t.Context(),
				`UPDATE budgets SET wallet_id = $2, version = version + 1 WHERE id = $1`,
				made.GetId(), uuid.New())
			return err
		}, func() error {
			_, err := env.server.notifications.CheckBudgets(t.Context())
			return err
		}))
		require.Empty(t, env.alerts(t))
	})
}

func TestCheckBudgets(t *testing.T) {
	t.Parallel()
	t.Run("leaves a check to the worker that claims it concurrently", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.budget(t, env.user(t, "Owner"))
		pgtest.Besides(t, env.db, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE alert_checks SET leased_until = $1`,
				budgettest.Today.Add(time.Minute))
			return err
		}, func() error {
			n, err := env.server.notifications.CheckBudgets(t.Context())
			require.Zero(t, n)
			return err
		})
	})
}

func TestSyncReferencesConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("keeps a concurrent change of the budget", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		merged, target := uuid.NewString(), uuid.NewString()
		id := env.create(t, owner, "Groceries", merged)
		env.merge(owner, merged, target)
		require.NoError(t, pgtest.Behind(t, env.db, func(tx pgx.Tx) error {
			_, err := env.change(owner.Ctx, tx, uuid.MustParse(id), "",
				changes{name: new("Renamed")})
			return err
		}, func() error {
			due, err := claimSyncs(t.Context(), env.db, budgettest.Today)
			require.NoError(t, err)
			return env.sync(t.Context(), due)
		}))
		got, err := env.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, "Renamed", got.GetBudget().GetName())
		require.Equal(t, []string{target}, got.GetBudget().GetCategoryIds())
	})
	t.Run("leaves a sync to the worker that claims it concurrently", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		env.create(t, env.user(t, "Owner"), "Groceries", uuid.NewString())
		pgtest.Besides(t, env.db, func(tx pgx.Tx) error {
			due, err := claimSyncs(t.Context(), tx, budgettest.Today)
			require.Len(t, due, 1)
			return err
		}, func() error {
			due, err := claimSyncs(t.Context(), env.db, budgettest.Today)
			require.Empty(t, due)
			return err
		})
	})
}

func TestListMembersCursor(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, one, two := env.user(t, "Owner"), env.user(t, "One"), env.user(t, "Two")
	id := env.budget(t, owner).GetId()
	env.join(t, owner, id, one, "viewer")
	env.join(t, owner, id, two, "viewer")
	list, err := env.ListMembers(owner.Ctx,
		&budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(1))})
	require.NoError(t, err)
	cursor := list.GetPagination().GetNextCursor()
	require.NotEmpty(t, cursor)
	_, err = env.ListMembers(one.Ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: cursor})
	require.ErrorIs(t, err, apierr.InvalidCursor, "a cursor is valid for its viewer only")
	_, err = env.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{
		BudgetId: env.budgetNamed(t, owner, "Another").GetId(), Cursor: cursor,
	})
	require.ErrorIs(t, err, apierr.InvalidCursor, "a cursor is valid for its budget only")
	_, err = env.ListMembers(owner.Ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: cursor})
	require.NoError(t, err)
}

package budget

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// behind runs call while hold's transaction is open, and requires that call waits for a lock of that transaction. It then
// commits the transaction and returns the result of call.
func (b *bundle) behind(t *testing.T, hold func(tx pgx.Tx) error, call func() error) error {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	// The call must not wait forever when the test fails.
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	var holder int32
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&holder))
	require.NoError(t, hold(tx))
	done := make(chan error, 1)
	go func() { done <- call() }()
	require.Eventually(t, func() bool {
		var waits bool
		err := b.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))`, holder).Scan(&waits)
		return err == nil && waits || len(done) > 0
	}, 20*time.Second, 5*time.Millisecond)
	require.Empty(t, done, "the call does not wait for the lock")
	require.NoError(t, tx.Commit(t.Context()))
	return <-done
}

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	t.Run("counts webhooks behind a concurrent creation", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.person(t, "Owner")
		for range maxWebhooks - 1 {
			b.webhook(t, owner, "https://example.com/hook")
		}
		last := webhook{ID: b.newID(), UserID: owner.id, URL: "https://example.com/last", Events: []string{}, Secret: []byte{1}, Version: 1, CreatedAt: today, UpdatedAt: today}
		err := b.behind(t, func(tx pgx.Tx) error {
			n, err := countWebhooks(t.Context(), tx, owner.id)
			require.EqualValues(t, maxWebhooks-1, n)
			require.NoError(t, err)
			return insertWebhook(t.Context(), tx, last)
		}, func() error {
			_, err := b.CreateWebhook(owner.ctx, &budgetv1.CreateWebhookRequest{Url: "https://example.com/too-many"})
			return err
		})
		require.ErrorIs(t, err, errWebhookLimitReached)
	})
}

func TestRedeliverWebhookEvent(t *testing.T) {
	t.Parallel()
	t.Run("numbers repeats behind a concurrent redelivery", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.person(t, "Owner")
		id := uuid.MustParse(b.webhook(t, owner, "https://example.com/hook").GetWebhook().GetId())
		b.queue(t, happened(owner, 1))
		first := b.log(t, owner, id.String())[0]
		redeliver := func() error {
			_, err := b.RedeliverWebhookEvent(owner.ctx, &budgetv1.RedeliverWebhookEventRequest{WebhookId: id.String(), Id: first.GetId()})
			return err
		}
		require.NoError(t, b.behind(t, func(tx pgx.Tx) error {
			d, err := selectDelivery(t.Context(), tx, owner.id, id, uuid.MustParse(first.GetId()))
			require.NoError(t, err)
			d.Repeat, err = countRepeats(t.Context(), tx, d)
			require.NoError(t, err)
			d.ID, d.Repeat = b.newID(), d.Repeat+1
			return insertDeliveries(t.Context(), tx, []delivery{d})
		}, redeliver))
		require.Len(t, b.log(t, owner, id.String()), 3, "no redelivery is dropped as a repeat of another one")
	})
}

func TestFollowCategories(t *testing.T) {
	t.Parallel()
	t.Run("keeps a concurrent change of the budget", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		owner := b.person(t, "Owner")
		made, target := b.budget(t, owner), uuid.NewString()
		merged := outbox.Received{
			ID: uuid.Must(uuid.NewV7()), UserID: owner.id, Subject: "ledger.v1.category.deleted", Time: today,
			Data: &ledgerv1.CategoryDeleted{OwnerId: owner.id.String(), CategoryId: made.GetCategoryIds()[0], ReassignedTo: &target},
		}
		require.NoError(t, b.behind(t, func(tx pgx.Tx) error {
			_, err := b.change(owner.ctx, tx, uuid.MustParse(made.GetId()), "", changes{name: new("Renamed")})
			return err
		}, func() error {
			return pg.InTx(t.Context(), b.db, func(tx pgx.Tx) error { return b.applyEvents(t.Context(), tx, []outbox.Received{merged}) })
		}))
		got, err := b.GetBudget(owner.ctx, &budgetv1.GetBudgetRequest{Id: made.GetId()})
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
		b := setup(t)
		books := b.books()
		owner := b.person(t, "Owner")
		made := b.budget(t, owner)
		books.spend(made.GetWalletId(), "2026-03-10", 400_00)
		b.ledger.spend = func(w *ledgerv1.SpendingWindow) *ledgerv1.Spending {
			// The budget moves to another wallet after the ledger was asked about the old one.
			b.ledger.spend = func(*ledgerv1.SpendingWindow) *ledgerv1.Spending { return &ledgerv1.Spending{Found: true} }
			require.NoError(t, pg.InTx(t.Context(), b.db, func(tx pgx.Tx) error {
				_, err := b.change(owner.ctx, tx, uuid.MustParse(made.GetId()), "", changes{wallet: new(uuid.Must(uuid.NewV7()))})
				return err
			}))
			return books.sum(w)
		}
		b.check(t)
		require.Empty(t, b.alerts(t))
	})
}

func TestListMembersCursor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, one, two := b.person(t, "Owner"), b.person(t, "One"), b.person(t, "Two")
	id := b.budget(t, owner).GetId()
	b.join(t, owner, id, one, "viewer")
	b.join(t, owner, id, two, "viewer")
	list, err := b.ListMembers(owner.ctx, &budgetv1.ListMembersRequest{BudgetId: id, Limit: new(int32(1))})
	require.NoError(t, err)
	cursor := list.GetPagination().GetNextCursor()
	require.NotEmpty(t, cursor)
	_, err = b.ListMembers(one.ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: cursor})
	require.ErrorIs(t, err, apierr.InvalidCursor, "a cursor is valid for its viewer only")
	_, err = b.ListMembers(owner.ctx, &budgetv1.ListMembersRequest{BudgetId: b.budgetNamed(t, owner, "Another").GetId(), Cursor: cursor})
	require.ErrorIs(t, err, apierr.InvalidCursor, "a cursor is valid for its budget only")
	_, err = b.ListMembers(owner.ctx, &budgetv1.ListMembersRequest{BudgetId: id, Cursor: cursor})
	require.NoError(t, err)
}

func TestStreamEventsPosition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, other := b.person(t, "Owner"), b.person(t, "Other")
	position, err := b.cursors.Seal(eventsOf(owner.id), uint64(7))
	require.NoError(t, err)
	after, err := b.openPosition(owner.ctx, owner.id, position)
	require.NoError(t, err)
	require.EqualValues(t, 7, after)
	_, err = b.openPosition(other.ctx, other.id, position)
	require.ErrorIs(t, err, apierr.InvalidCursor, "a position is valid for its user only")
}

package accounts

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// reserve asks for categories for a budget, as the budget service does before it writes the budget.
func (p person) reserve(
	ctx context.Context, budget, reservation uuid.UUID, categories ...uuid.UUID,
) error {
	_, err := p.CheckReferences(ctx, &ledgerv1.CheckReferencesRequest{
		OwnerId: p.ID.String(), CategoryIds: texts(categories), BudgetId: budget.String(),
		Reservation: reservation.String(),
	})
	return err
}

// sync reports a budget's categories and returns the current ones.
func (p person) sync(
	ctx context.Context, t require.TestingT, budget uuid.UUID, version int64,
	categories []uuid.UUID, settled ...uuid.UUID,
) []string {
	references := &ledgerv1.BudgetReferences{
		OwnerId: p.ID.String(), BudgetId: budget.String(), Version: version,
		CategoryIds: texts(categories), SettledReservations: texts(settled),
	}
	resp, err := p.SyncReferences(ctx, &ledgerv1.SyncReferencesRequest{
		Budgets: []*ledgerv1.BudgetReferences{references},
	})
	require.NoError(t, err)
	require.Len(t, resp.GetBudgets(), 1)
	return resp.GetBudgets()[0].GetCategoryIds()
}

func (p person) deleteCategory(category uuid.UUID) error {
	_, err := p.DeleteCategory(p.Ctx, &categoryDelete{Id: category.String()})
	return err
}

func (p person) merge(from, to uuid.UUID) error {
	_, err := p.DeleteCategory(p.Ctx,
		&categoryDelete{Id: from.String(), ReassignTo: new(to.String())})
	return err
}

func texts(ids []uuid.UUID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}

func TestDeleteCategoryOfBudget(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	inUse := func(t *testing.T, err error) {
		t.Helper()
		fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
	}

	t.Run("is refused while the category is reserved", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		budget, reservation := srv.NewID(), srv.NewID()
		for range 2 {
			require.NoError(t, p.reserve(p.Ctx, budget, reservation, p.Category))
			inUse(t, p.deleteCategory(p.Category))
		}
		p.sync(p.Ctx, t, budget, 1, nil, reservation)
		require.NoError(t, p.deleteCategory(p.Category), "the budget was not written")
	})
	t.Run("is refused while the budget has the category", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		budget, other := srv.NewID(), me.MakeCategory(me.Ctx, t, "Other")
		require.Equal(t, texts([]uuid.UUID{me.Category}),
			me.sync(me.Ctx, t, budget, 1, []uuid.UUID{me.Category}))
		inUse(t, me.deleteCategory(me.Category))
		me.sync(me.Ctx, t, budget, 2, []uuid.UUID{other})
		require.NoError(t, me.deleteCategory(me.Category), "the budget has another category")
		inUse(t, me.deleteCategory(other))
		me.sync(me.Ctx, t, budget, 2, nil)
		require.NoError(t, me.deleteCategory(other), "the budget is deleted")
	})
	t.Run("is allowed after a reservation expired", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		require.NoError(t, reserveCategories(t.Context(), srv.DB, p.ID, srv.NewID(), srv.NewID(),
			[]uuid.UUID{p.Category}, fixture.Today))
		require.NoError(t, p.deleteCategory(p.Category))
	})
	t.Run("concerns the owner alone", func(t *testing.T) {
		t.Parallel()
		p, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
		fixture.RequireReason(t,
			stranger.reserve(t.Context(), srv.NewID(), srv.NewID(), p.Category),
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS")
		require.Equal(t, []string{""},
			stranger.sync(t.Context(), t, srv.NewID(), 1, []uuid.UUID{p.Category}))
		require.NoError(t, p.deleteCategory(p.Category))
	})
}

func TestSyncReferences(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	t.Run("follows a chain of merges", func(t *testing.T) {
		t.Parallel()
		me := newPerson(t.Context(), t, srv)
		first, b, third := me.Category, me.MakeCategory(me.Ctx, t, "B"), me.MakeCategory(me.Ctx, t,
			"C")
		budget, reservation := srv.NewID(), srv.NewID()
		require.NoError(t, me.reserve(me.Ctx, budget, reservation, first))
		require.NoError(t, me.merge(first, b))
		require.NoError(t, me.merge(b, third))
		require.Equal(t, texts([]uuid.UUID{third}),
			me.sync(me.Ctx, t, budget, 1, []uuid.UUID{first}, reservation), "as reserved")
		require.Equal(t, texts([]uuid.UUID{third}),
			me.sync(me.Ctx, t, budget, 1, []uuid.UUID{first}), "as recorded")
		fixture.RequireReason(t, me.deleteCategory(third), codes.FailedPrecondition,
			"CATEGORY_IN_USE")
		require.Equal(t, texts([]uuid.UUID{third}),
			me.sync(me.Ctx, t, budget, 2, []uuid.UUID{third}))
		me.sync(me.Ctx, t, budget, 2, nil)
		require.NoError(t, me.deleteCategory(third))
	})
	t.Run("answers the target for both when a budget has it already", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		other, budget := p.MakeCategory(p.Ctx, t, "Other"), srv.NewID()
		p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category, other})
		require.NoError(t, p.merge(p.Category, other))
		require.Equal(t, texts([]uuid.UUID{other, other}),
			p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category, other}))
	})
	t.Run("follows merges from before the budget was recorded", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		a, b, c := p.Category, p.MakeCategory(p.Ctx, t, "B"), p.MakeCategory(p.Ctx, t, "C")
		require.NoError(t, p.merge(a, b))
		require.NoError(t, p.merge(b, c))
		require.Equal(t, texts([]uuid.UUID{c, c}),
			p.sync(p.Ctx, t, srv.NewID(), 1, []uuid.UUID{a, b}))
		fixture.RequireReason(t, p.deleteCategory(c), codes.FailedPrecondition, "CATEGORY_IN_USE")
	})
	t.Run("reports a category that no longer exists", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		deleted, merged := p.MakeCategory(p.Ctx, t, "Deleted"), p.MakeCategory(p.Ctx, t, "Merged")
		require.NoError(t, p.merge(merged, deleted))
		require.NoError(t, p.deleteCategory(deleted))
		held := []uuid.UUID{deleted, p.Category, merged}
		require.Equal(t, []string{"", p.Category.String(), ""},
			p.sync(p.Ctx, t, srv.NewID(), 7, held))
	})
	t.Run("ignores an older version", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		other, budget := p.MakeCategory(p.Ctx, t, "Other"), srv.NewID()
		p.sync(p.Ctx, t, budget, 2, []uuid.UUID{other})
		require.Empty(t, p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category}))
		p.sync(p.Ctx, t, budget, 3, nil)
		require.Empty(t, p.sync(p.Ctx, t, budget, 2, []uuid.UUID{other}), "the budget is deleted")
		require.NoError(t, p.deleteCategory(p.Category))
		require.NoError(t, p.deleteCategory(other))
	})
	t.Run("keeps reservations that are not settled", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, srv)
		other, budget, reservation := p.MakeCategory(p.Ctx, t, "Other"), srv.NewID(), srv.NewID()
		require.NoError(t, p.reserve(p.Ctx, budget, reservation, p.Category))
		p.sync(p.Ctx, t, budget, 1, []uuid.UUID{other}, srv.NewID())
		fixture.RequireReason(t, p.deleteCategory(p.Category),
			codes.FailedPrecondition, "CATEGORY_IN_USE")
		p.sync(p.Ctx, t, budget, 0, []uuid.UUID{other}, reservation)
		require.NoError(t, p.deleteCategory(p.Category),
			"settled by a request that is older than the recorded version")
	})
	t.Run("expires reservations and deleted budgets", func(t *testing.T) {
		t.Parallel()
		server := setup(t)
		p := newPerson(t.Context(), t, server)
		kept := server.NewID()
		require.NoError(t, p.reserve(p.Ctx, server.NewID(), server.NewID(), p.Category))
		p.sync(p.Ctx, t, server.NewID(), 1, nil)
		p.sync(p.Ctx, t, kept, 1, []uuid.UUID{p.Category})
		rows := func() (n int) {
			require.NoError(t, server.DB.QueryRow(t.Context(), `
				SELECT (SELECT count(*) FROM budget_references) +
					(SELECT count(*) FROM referencing_budgets)`).Scan(&n))
			return n
		}
		require.NoError(t,
			ExpireReferences(t.Context(), server.DB,
				fixture.Today.Add(reservationLife-time.Second)))
		require.Equal(t, 4, rows())
		require.NoError(t,
			ExpireReferences(t.Context(), server.DB, fixture.Today.Add(reservationLife)))
		require.Equal(t, 2, rows())
	})
	t.Run("records budgets of several owners in their order", func(t *testing.T) {
		t.Parallel()
		me, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
		fun := me.MakeCategory(me.Ctx, t, "Fun")
		req := &ledgerv1.SyncReferencesRequest{}
		for _, u := range []struct {
			owner    person
			category uuid.UUID
		}{{me, me.Category}, {other, other.Category}, {me, fun}, {other, fun}} {
			req.Budgets = append(req.Budgets, &ledgerv1.BudgetReferences{
				OwnerId: u.owner.ID.String(), BudgetId: srv.NewID().String(), Version: 1,
				CategoryIds: []string{u.category.String()},
			})
		}
		resp, err := srv.SyncReferences(t.Context(), req)
		require.NoError(t, err)
		var current []string
		for _, b := range resp.GetBudgets() {
			current = append(current, b.GetCategoryIds()...)
		}
		require.Equal(t, append(texts([]uuid.UUID{me.Category, other.Category, fun}), ""), current)
		for _, err := range []error{
			me.deleteCategory(me.Category), me.deleteCategory(fun),
			other.deleteCategory(other.Category),
		} {
			fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
		}
	})
	t.Run("returns the recorded budgets if it ends early", func(t *testing.T) {
		t.Parallel()
		server := setup(t)
		req := &ledgerv1.SyncReferencesRequest{}
		var people []person
		for range 3 {
			p := newPerson(t.Context(), t, server)
			people = append(people, p)
			req.Budgets = append(req.Budgets, &ledgerv1.BudgetReferences{
				OwnerId: p.ID.String(), BudgetId: server.NewID().String(), Version: 1,
				CategoryIds: []string{p.Category.String()},
			})
		}
		pgtest.Exec(t, server.DB, `ALTER TABLE referencing_budgets ADD CONSTRAINT failing
			CHECK (owner_id <> '`+people[1].ID.String()+`')`)
		resp, err := server.SyncReferences(t.Context(), req)
		require.NoError(t, err)
		require.Len(t, resp.GetBudgets(), 1)
		require.Equal(t, req.GetBudgets()[0].GetCategoryIds(),
			resp.GetBudgets()[0].GetCategoryIds())
		fixture.RequireReason(t, people[0].deleteCategory(people[0].Category),
			codes.FailedPrecondition, "CATEGORY_IN_USE")
		require.NoError(t, people[1].deleteCategory(people[1].Category))
		require.NoError(t, people[2].deleteCategory(people[2].Category))

		req.Budgets = req.GetBudgets()[1:]
		_, err = server.SyncReferences(t.Context(), req)
		require.True(t, pg.IsViolation(err, "failing"), err)
	})
	t.Run("takes each budget once and at most 100", func(t *testing.T) {
		t.Parallel()
		// RequireRejected compares all rows, so the other subtests must not write to this schema.
		server := setup(t)
		me := newPerson(t.Context(), t, server)
		use := &ledgerv1.BudgetReferences{
			OwnerId: me.ID.String(), BudgetId: server.NewID().String(),
			Version: 1, CategoryIds: []string{me.Category.String()},
		}
		me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := server.SyncReferences(me.Ctx,
				&ledgerv1.SyncReferencesRequest{Budgets: []*ledgerv1.BudgetReferences{use, use}})
			return err
		})
		me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := server.SyncReferences(me.Ctx, &ledgerv1.SyncReferencesRequest{
				Budgets: make([]*ledgerv1.BudgetReferences, maxSyncs+1),
			})
			return err
		})
	})
}

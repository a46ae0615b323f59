package accounts

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

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
	s := setup(t)
	inUse := func(t *testing.T, err error) {
		t.Helper()
		fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
	}

	t.Run("is refused while the category is reserved", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		budget, reservation := s.NewID(), s.NewID()
		for range 2 {
			require.NoError(t, p.reserve(p.Ctx, budget, reservation, p.Category))
			inUse(t, p.deleteCategory(p.Category))
		}
		p.sync(p.Ctx, t, budget, 1, nil, reservation)
		require.NoError(t, p.deleteCategory(p.Category), "the budget was not written")
	})
	t.Run("is refused while the budget has the category", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		budget, other := s.NewID(), p.MakeCategory(p.Ctx, t, "Other")
		require.Equal(t, texts([]uuid.UUID{p.Category}),
			p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category}))
		inUse(t, p.deleteCategory(p.Category))
		p.sync(p.Ctx, t, budget, 2, []uuid.UUID{other})
		require.NoError(t, p.deleteCategory(p.Category), "the budget has another category")
		inUse(t, p.deleteCategory(other))
		p.sync(p.Ctx, t, budget, 2, nil)
		require.NoError(t, p.deleteCategory(other), "the budget is deleted")
	})
	t.Run("is allowed after a reservation expired", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		require.NoError(t, reserveCategories(t.Context(), s.DB, p.ID, s.NewID(), s.NewID(),
			[]uuid.UUID{p.Category}, fixture.Today))
		require.NoError(t, p.deleteCategory(p.Category))
	})
	t.Run("concerns the owner alone", func(t *testing.T) {
		t.Parallel()
		p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
		fixture.RequireReason(t, stranger.reserve(t.Context(), s.NewID(), s.NewID(), p.Category),
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS")
		require.Equal(t, []string{""},
			stranger.sync(t.Context(), t, s.NewID(), 1, []uuid.UUID{p.Category}))
		require.NoError(t, p.deleteCategory(p.Category))
	})
}

func TestSyncReferences(t *testing.T) {
	t.Parallel()
	s := setup(t)
	t.Run("follows a chain of merges", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		a, b, c := p.Category, p.MakeCategory(p.Ctx, t, "B"), p.MakeCategory(p.Ctx, t, "C")
		budget, reservation := s.NewID(), s.NewID()
		require.NoError(t, p.reserve(p.Ctx, budget, reservation, a))
		require.NoError(t, p.merge(a, b))
		require.NoError(t, p.merge(b, c))
		require.Equal(t, texts([]uuid.UUID{c}),
			p.sync(p.Ctx, t, budget, 1, []uuid.UUID{a}, reservation), "as reserved")
		require.Equal(t, texts([]uuid.UUID{c}), p.sync(p.Ctx, t, budget, 1, []uuid.UUID{a}),
			"as recorded")
		fixture.RequireReason(t, p.deleteCategory(c), codes.FailedPrecondition, "CATEGORY_IN_USE")
		require.Equal(t, texts([]uuid.UUID{c}), p.sync(p.Ctx, t, budget, 2, []uuid.UUID{c}))
		p.sync(p.Ctx, t, budget, 2, nil)
		require.NoError(t, p.deleteCategory(c))
	})
	t.Run("answers the target for both when a budget has it already", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		other, budget := p.MakeCategory(p.Ctx, t, "Other"), s.NewID()
		p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category, other})
		require.NoError(t, p.merge(p.Category, other))
		require.Equal(t, texts([]uuid.UUID{other, other}),
			p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category, other}))
	})
	t.Run("follows merges from before the budget was recorded", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		a, b, c := p.Category, p.MakeCategory(p.Ctx, t, "B"), p.MakeCategory(p.Ctx, t, "C")
		require.NoError(t, p.merge(a, b))
		require.NoError(t, p.merge(b, c))
		require.Equal(t, texts([]uuid.UUID{c, c}),
			p.sync(p.Ctx, t, s.NewID(), 1, []uuid.UUID{a, b}))
		fixture.RequireReason(t, p.deleteCategory(c), codes.FailedPrecondition, "CATEGORY_IN_USE")
	})
	t.Run("reports a category that no longer exists", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		deleted, merged := p.MakeCategory(p.Ctx, t, "Deleted"), p.MakeCategory(p.Ctx, t, "Merged")
		require.NoError(t, p.merge(merged, deleted))
		require.NoError(t, p.deleteCategory(deleted))
		held := []uuid.UUID{deleted, p.Category, merged}
		require.Equal(t, []string{"", p.Category.String(), ""},
			p.sync(p.Ctx, t, s.NewID(), 7, held))
	})
	t.Run("ignores an older version", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		other, budget := p.MakeCategory(p.Ctx, t, "Other"), s.NewID()
		p.sync(p.Ctx, t, budget, 2, []uuid.UUID{other})
		require.Empty(t, p.sync(p.Ctx, t, budget, 1, []uuid.UUID{p.Category}))
		p.sync(p.Ctx, t, budget, 3, nil)
		require.Empty(t, p.sync(p.Ctx, t, budget, 2, []uuid.UUID{other}), "the budget is deleted")
		require.NoError(t, p.deleteCategory(p.Category))
		require.NoError(t, p.deleteCategory(other))
	})
	t.Run("keeps reservations that are not settled", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t.Context(), t, s)
		other, budget, reservation := p.MakeCategory(p.Ctx, t, "Other"), s.NewID(), s.NewID()
		require.NoError(t, p.reserve(p.Ctx, budget, reservation, p.Category))
		p.sync(p.Ctx, t, budget, 1, []uuid.UUID{other}, s.NewID())
		fixture.RequireReason(t, p.deleteCategory(p.Category),
			codes.FailedPrecondition, "CATEGORY_IN_USE")
		p.sync(p.Ctx, t, budget, 0, []uuid.UUID{other}, reservation)
		require.NoError(t, p.deleteCategory(p.Category),
			"settled by a request that is older than the recorded version")
	})
	t.Run("expires reservations and deleted budgets", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		p := newPerson(t.Context(), t, s)
		kept := s.NewID()
		require.NoError(t, p.reserve(p.Ctx, s.NewID(), s.NewID(), p.Category))
		p.sync(p.Ctx, t, s.NewID(), 1, nil)
		p.sync(p.Ctx, t, kept, 1, []uuid.UUID{p.Category})
		rows := func() (n int) {
			require.NoError(t, s.DB.QueryRow(t.Context(), `
				SELECT (SELECT count(*) FROM budget_references) +
					(SELECT count(*) FROM referencing_budgets)`).Scan(&n))
			return n
		}
		require.NoError(t,
			ExpireReferences(t.Context(), s.DB, fixture.Today.Add(reservationLife-time.Second)))
		require.Equal(t, 4, rows())
		require.NoError(t, ExpireReferences(t.Context(), s.DB, fixture.Today.Add(reservationLife)))
		require.Equal(t, 2, rows())
	})
	t.Run("records budgets of several owners in their order", func(t *testing.T) {
		t.Parallel()
		p, other := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
		fun := p.MakeCategory(p.Ctx, t, "Fun")
		req := &ledgerv1.SyncReferencesRequest{}
		for _, u := range []struct {
			owner    person
			category uuid.UUID
		}{{p, p.Category}, {other, other.Category}, {p, fun}, {other, fun}} {
			req.Budgets = append(req.Budgets, &ledgerv1.BudgetReferences{
				OwnerId: u.owner.ID.String(), BudgetId: s.NewID().String(), Version: 1,
				CategoryIds: []string{u.category.String()},
			})
		}
		resp, err := s.SyncReferences(t.Context(), req)
		require.NoError(t, err)
		var current []string
		for _, b := range resp.GetBudgets() {
			current = append(current, b.GetCategoryIds()...)
		}
		require.Equal(t, append(texts([]uuid.UUID{p.Category, other.Category, fun}), ""), current)
		for _, err := range []error{
			p.deleteCategory(p.Category), p.deleteCategory(fun),
			other.deleteCategory(other.Category),
		} {
			fixture.RequireReason(t, err, codes.FailedPrecondition, "CATEGORY_IN_USE")
		}
	})
	t.Run("takes each budget once and at most 100", func(t *testing.T) {
		t.Parallel()
		// RequireRejected compares all rows, so the other subtests must not write to this schema.
		s := setup(t)
		p := newPerson(t.Context(), t, s)
		use := &ledgerv1.BudgetReferences{
			OwnerId: p.ID.String(), BudgetId: s.NewID().String(),
			Version: 1, CategoryIds: []string{p.Category.String()},
		}
		p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := s.SyncReferences(p.Ctx,
				&ledgerv1.SyncReferencesRequest{Budgets: []*ledgerv1.BudgetReferences{use, use}})
			return err
		})
		p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := s.SyncReferences(p.Ctx, &ledgerv1.SyncReferencesRequest{
				Budgets: make([]*ledgerv1.BudgetReferences, maxSyncs+1),
			})
			return err
		})
	})
}

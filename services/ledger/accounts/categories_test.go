package accounts

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestUpdateCategoryRenames(t *testing.T) {
	t.Parallel()
	s := setup(t)
	owner := s.NewID()
	ctx := fixture.ActAs(t.Context(), owner)
	created, err := s.CreateCategory(ctx, &categoryCreate{Name: " Food "})
	require.NoError(t, err)
	require.Equal(t, "Food", created.GetCategory().GetName())
	require.Equal(t, `"1"`, created.GetEtag())
	s.RequireEvent(t,
		&ledgerv1.CategoryCreated{OwnerId: owner.String(), Category: created.GetCategory()})

	// Only the letters' case changes: that is no conflict with itself.
	renamed, err := s.UpdateCategory(ctx,
		&categoryUpdate{Id: created.GetCategory().GetId(), Name: new("FOOD"), IfMatch: `"1"`})
	require.NoError(t, err)
	require.Equal(t, "FOOD", renamed.GetCategory().GetName())
	require.Equal(t, `"2"`, renamed.GetEtag())
	s.RequireEvent(t,
		&ledgerv1.CategoryUpdated{OwnerId: owner.String(), Category: renamed.GetCategory()})
	got, err := s.GetCategory(ctx, &ledgerv1.GetCategoryRequest{Id: created.GetCategory().GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(renamed.GetCategory(), got.GetCategory()))
}

func TestCreateCategoryNameIsUniqueIgnoringCase(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	other := p.MakeCategory(p.Ctx, t, "Ärger")
	for _, name := range []string{"food", "FOOD", " Food ", "äRGER"} {
		e := p.RequireRejected(t, codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", func() error {
			_, err := p.CreateCategory(p.Ctx, &categoryCreate{Name: name})
			return err
		})
		require.Equal(t, []string{"name"}, fixture.FieldNames(e))
	}
	p.RequireRejected(t, codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", func() error {
		_, err := p.UpdateCategory(p.Ctx, &categoryUpdate{Id: other.String(), Name: new("fOOd")})
		return err
	})
	_, err := p.CreateCategory(fixture.ActAs(t.Context(), p.NewID()), &categoryCreate{Name: "Food"})
	require.NoError(t, err)
}

func TestCreateCategoryConcurrentDuplicate(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	errs := make([]error, 8)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() { _, errs[i] = s.CreateCategory(ctx, &categoryCreate{Name: "Food"}) })
	}
	asking.Wait()
	created := 0
	for _, err := range errs {
		if err == nil {
			created++
			continue
		}
		fixture.RequireReason(t, err, codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS")
	}
	require.Equal(t, 1, created)
}

func TestListCategoriesNewestFirst(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	a, b, c := s.MakeCategory(ctx, t, "A"), s.MakeCategory(ctx, t, "B"), s.MakeCategory(ctx, t, "C")
	s.MakeCategory(fixture.ActAs(t.Context(), s.NewID()), t, "another's")
	first, err := s.ListCategories(ctx, &categoryList{Limit: new(int32(2))})
	require.NoError(t, err)
	require.True(t, first.GetPagination().GetHasMore())
	second, err := s.ListCategories(ctx,
		&categoryList{Limit: new(int32(2)), Cursor: first.GetPagination().GetNextCursor()})
	require.NoError(t, err)
	require.False(t, second.GetPagination().GetHasMore())
	var got []string
	for _, x := range append(first.GetCategories(), second.GetCategories()...) {
		got = append(got, x.GetId())
	}
	require.Equal(t, []string{c.String(), b.String(), a.String()}, got)

	_, err = s.ListWallets(ctx, &walletList{Cursor: first.GetPagination().GetNextCursor()})
	fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
	_, err = s.ListCategories(fixture.ActAs(t.Context(), s.NewID()),
		&categoryList{Cursor: first.GetPagination().GetNextCursor()})
	fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
}

func TestDeleteCategoryInUse(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	tr := p.Create(t, p.Spends("5"))
	del := func() error {
		_, err := p.DeleteCategory(p.Ctx, &categoryDelete{Id: p.Category.String()})
		return err
	}
	p.RequireRejected(t, codes.FailedPrecondition, "CATEGORY_IN_USE", del)
	_, err := p.DeleteTransaction(p.Ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId()})
	require.NoError(t, err)
	require.NoError(t, del())
	p.RequireRejected(t, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", del)
}

func TestDeleteCategoryReassignsTransactions(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	heir := p.MakeCategory(p.Ctx, t, "Meals")
	kept := p.Spends("1")
	kept.CategoryId = heir.String()
	p.Create(t, kept)
	moved := p.Create(t, p.Spends("5"))
	_, err := p.DeleteCategory(p.Ctx,
		&categoryDelete{Id: p.Category.String(), ReassignTo: new(heir.String()), IfMatch: `"1"`})
	require.NoError(t, err)
	require.True(t, proto.Equal(&ledgerv1.CategoryDeleted{
		OwnerId: p.ID.String(), CategoryId: p.Category.String(), ReassignedTo: new(heir.String()),
	}, p.LastEvent(t)))
	got, err := p.GetTransaction(p.Ctx, &ledgerv1.GetTransactionRequest{Id: moved.GetId()})
	require.NoError(t, err)
	require.Equal(t, heir.String(), got.GetTransaction().GetCategoryId())
	require.Equal(t, `"2"`, got.GetEtag())
	require.Equal(t, map[string]string{"EUR": "-6.00"}, p.Balances(t, p.Wallet))
	p.RequireConsistent(t)
}

func TestDeleteCategoryInvalidTarget(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	p.Create(t, p.Spends("5"))
	for name, c := range map[string]struct {
		to     string
		code   codes.Code
		reason string
	}{
		"itself":         {p.Category.String(), codes.InvalidArgument, "VALIDATION_ERROR"},
		"no id":          {"", codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS"},
		"an unknown one": {s.NewID().String(), codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS"},
		"another user's one": {
			stranger.Category.String(), codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.RequireRejected(t, c.code, c.reason, func() error {
				_, err := s.DeleteCategory(p.Ctx,
					&categoryDelete{Id: p.Category.String(), ReassignTo: &c.to})
				return err
			})
			require.Equal(t, []string{"reassignTo"}, fixture.FieldNames(e))
		})
	}
}

func TestDeleteCategoryTotalsOutOfRange(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	other := s.MakeCategory(p.Ctx, t, "Other")
	for _, category := range []uuid.UUID{p.Category, other} {
		// Incomes and expenses cancel out, because the balance has a limit, too.
		var both []*ledgerv1.CreateTransactionRequest
		for range 60 {
			out := p.Spends("999999999999")
			out.Currency, out.CategoryId = "CLF", category.String()
			in := proto.CloneOf(out)
			in.Type = new(posting.Income)
			both = append(both, out, in)
		}
		_, err := p.CreateTransactions(p.Ctx, fixture.Bulk(both...))
		require.NoError(t, err)
	}
	e := s.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := s.DeleteCategory(p.Ctx,
			&categoryDelete{Id: p.Category.String(), ReassignTo: new(other.String())})
		return err
	})
	require.Equal(t, []string{"reassignTo"}, fixture.FieldNames(e))
	s.RequireConsistent(t)
}

func TestCategoryIDErrors(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	for id, code := range map[string]codes.Code{
		"":                         codes.InvalidArgument,
		"food":                     codes.InvalidArgument,
		uuid.Nil.String():          codes.NotFound,
		s.NewID().String():         codes.NotFound,
		stranger.Category.String(): codes.NotFound,
		p.Wallet.String():          codes.NotFound,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := s.GetCategory(p.Ctx, &ledgerv1.GetCategoryRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := s.UpdateCategory(p.Ctx, &categoryUpdate{Id: id, Name: new("Mine")})
				return err
			},
			"delete": func() error {
				_, err := s.DeleteCategory(p.Ctx, &categoryDelete{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				s.RequireRejected(t, code, "INVALID_CATEGORY_EXIST_PARAMS", do)
			})
		}
	}
}

func TestCreateCategoryErrors(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for _, name := range []string{"", " ", strings.Repeat("x", 101), "a\x00"} {
		p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := p.CreateCategory(p.Ctx, &categoryCreate{Name: name})
			return err
		})
		p.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := p.UpdateCategory(p.Ctx, &categoryUpdate{Id: p.Category.String(), Name: &name})
			return err
		})
	}
	p.RequireRejected(t, codes.InvalidArgument, apierr.EmptyUpdate.Reason, func() error {
		_, err := p.UpdateCategory(p.Ctx, &categoryUpdate{Id: p.Category.String()})
		return err
	})
	p.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := p.UpdateCategory(p.Ctx,
			&categoryUpdate{Id: p.Category.String(), Name: new("A"), IfMatch: `"9"`})
		return err
	})
	p.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := p.DeleteCategory(p.Ctx, &categoryDelete{Id: p.Category.String(), IfMatch: `"9"`})
		return err
	})
}

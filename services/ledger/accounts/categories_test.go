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
	srv := setup(t)
	owner := srv.NewID()
	ctx := fixture.ActAs(t.Context(), owner)
	created, err := srv.CreateCategory(ctx, &categoryCreate{Name: " Food "})
	require.NoError(t, err)
	require.Equal(t, "Food", created.GetCategory().GetName())
	require.Equal(t, `"1"`, created.GetEtag())
	srv.RequireEvent(t,
		&ledgerv1.CategoryCreated{OwnerId: owner.String(), Category: created.GetCategory()})

	// Only the letters' case changes: that is no conflict with itself.
	renamed, err := srv.UpdateCategory(ctx,
		&categoryUpdate{Id: created.GetCategory().GetId(), Name: new("FOOD"), IfMatch: `"1"`})
	require.NoError(t, err)
	require.Equal(t, "FOOD", renamed.GetCategory().GetName())
	require.Equal(t, `"2"`, renamed.GetEtag())
	srv.RequireEvent(t,
		&ledgerv1.CategoryUpdated{OwnerId: owner.String(), Category: renamed.GetCategory()})
	got, err := srv.GetCategory(ctx,
		&ledgerv1.GetCategoryRequest{Id: created.GetCategory().GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(renamed.GetCategory(), got.GetCategory()))
}

func TestCreateCategoryNameIsUniqueIgnoringCase(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	other := me.MakeCategory(me.Ctx, t, "Ärger")
	for _, name := range []string{"food", "FOOD", " Food ", "äRGER"} {
		e := me.RequireRejected(t, codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", func() error {
			_, err := me.CreateCategory(me.Ctx, &categoryCreate{Name: name})
			return err
		})
		require.Equal(t, []string{"name"}, fixture.FieldNames(e))
	}
	me.RequireRejected(t, codes.AlreadyExists, "CATEGORY_ALREADY_EXISTS", func() error {
		_, err := me.UpdateCategory(me.Ctx, &categoryUpdate{Id: other.String(), Name: new("fOOd")})
		return err
	})
	_, err := me.CreateCategory(fixture.ActAs(t.Context(), me.NewID()),
		&categoryCreate{Name: "Food"})
	require.NoError(t, err)
}

func TestCreateCategoryConcurrentDuplicate(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	errs := make([]error, 8)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() { _, errs[i] = srv.CreateCategory(ctx, &categoryCreate{Name: "Food"}) })
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
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	oldest, middle, third := srv.MakeCategory(ctx, t, "A"), srv.MakeCategory(ctx, t,
		"B"), srv.MakeCategory(ctx, t, "C")
	srv.MakeCategory(fixture.ActAs(t.Context(), srv.NewID()), t, "another's")
	first, err := srv.ListCategories(ctx, &categoryList{Limit: new(int32(2))})
	require.NoError(t, err)
	require.True(t, first.GetPagination().GetHasMore())
	second, err := srv.ListCategories(ctx,
		&categoryList{Limit: new(int32(2)), Cursor: first.GetPagination().GetNextCursor()})
	require.NoError(t, err)
	require.False(t, second.GetPagination().GetHasMore())
	var got []string
	for _, x := range append(first.GetCategories(), second.GetCategories()...) {
		got = append(got, x.GetId())
	}
	require.Equal(t, []string{third.String(), middle.String(), oldest.String()}, got)

	_, err = srv.ListWallets(ctx, &walletList{Cursor: first.GetPagination().GetNextCursor()})
	fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
	_, err = srv.ListCategories(fixture.ActAs(t.Context(), srv.NewID()),
		&categoryList{Cursor: first.GetPagination().GetNextCursor()})
	fixture.RequireReason(t, err, codes.InvalidArgument, "INVALID_CURSOR")
}

func TestDeleteCategoryInUse(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	tr := me.Create(t, me.Spends("5"))
	del := func() error {
		_, err := me.DeleteCategory(me.Ctx, &categoryDelete{Id: me.Category.String()})
		return err
	}
	me.RequireRejected(t, codes.FailedPrecondition, "CATEGORY_IN_USE", del)
	_, err := me.DeleteTransaction(me.Ctx, &ledgerv1.DeleteTransactionRequest{Id: tr.GetId()})
	require.NoError(t, err)
	require.NoError(t, del())
	me.RequireRejected(t, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS", del)
}

func TestDeleteCategoryReassignsTransactions(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	heir := me.MakeCategory(me.Ctx, t, "Meals")
	kept := me.Spends("1")
	kept.CategoryId = heir.String()
	me.Create(t, kept)
	moved := me.Create(t, me.Spends("5"))
	_, err := me.DeleteCategory(me.Ctx,
		&categoryDelete{Id: me.Category.String(), ReassignTo: new(heir.String()), IfMatch: `"1"`})
	require.NoError(t, err)
	require.True(t, proto.Equal(&ledgerv1.CategoryDeleted{
		OwnerId: me.ID.String(), CategoryId: me.Category.String(), ReassignedTo: new(heir.String()),
	}, me.LastEvent(t)))
	got, err := me.GetTransaction(me.Ctx, &ledgerv1.GetTransactionRequest{Id: moved.GetId()})
	require.NoError(t, err)
	require.Equal(t, heir.String(), got.GetTransaction().GetCategoryId())
	require.Equal(t, `"2"`, got.GetEtag())
	require.Equal(t, map[string]string{"EUR": "-6.00"}, me.Balances(t, me.Wallet))
	me.RequireConsistent(t)
}

func TestDeleteCategoryInvalidTarget(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("5"))
	for name, tc := range map[string]struct {
		to     string
		code   codes.Code
		reason string
	}{
		"itself":         {me.Category.String(), codes.InvalidArgument, "VALIDATION_ERROR"},
		"no id":          {"", codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS"},
		"an unknown one": {srv.NewID().String(), codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS"},
		"another user's one": {
			stranger.Category.String(), codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := srv.RequireRejected(t, tc.code, tc.reason, func() error {
				_, err := srv.DeleteCategory(me.Ctx,
					&categoryDelete{Id: me.Category.String(), ReassignTo: &tc.to})
				return err
			})
			require.Equal(t, []string{"reassignTo"}, fixture.FieldNames(e))
		})
	}
}

func TestDeleteCategoryTotalsOutOfRange(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	other := srv.MakeCategory(me.Ctx, t, "Other")
	for _, category := range []uuid.UUID{me.Category, other} {
		// Incomes and expenses cancel out, because the balance has a limit, too.
		var both []*ledgerv1.CreateTransactionRequest
		for range 60 {
			out := me.Spends("999999999999")
			out.Currency, out.CategoryId = "CLF", category.String()
			in := proto.CloneOf(out)
			in.Type = new(posting.Income)
			both = append(both, out, in)
		}
		_, err := me.CreateTransactions(me.Ctx, fixture.Bulk(both...))
		require.NoError(t, err)
	}
	e := srv.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
		_, err := srv.DeleteCategory(me.Ctx,
			&categoryDelete{Id: me.Category.String(), ReassignTo: new(other.String())})
		return err
	})
	require.Equal(t, []string{"reassignTo"}, fixture.FieldNames(e))
	srv.RequireConsistent(t)
}

func TestCategoryIDErrors(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	for id, code := range map[string]codes.Code{
		"":                         codes.InvalidArgument,
		"food":                     codes.InvalidArgument,
		uuid.Nil.String():          codes.NotFound,
		srv.NewID().String():       codes.NotFound,
		stranger.Category.String(): codes.NotFound,
		me.Wallet.String():         codes.NotFound,
	} {
		for name, do := range map[string]func() error{
			"get": func() error {
				_, err := srv.GetCategory(me.Ctx, &ledgerv1.GetCategoryRequest{Id: id})
				return err
			},
			"update": func() error {
				_, err := srv.UpdateCategory(me.Ctx, &categoryUpdate{Id: id, Name: new("Mine")})
				return err
			},
			"delete": func() error {
				_, err := srv.DeleteCategory(me.Ctx, &categoryDelete{Id: id})
				return err
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				srv.RequireRejected(t, code, "INVALID_CATEGORY_EXIST_PARAMS", do)
			})
		}
	}
}

func TestCreateCategoryErrors(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	for _, name := range []string{"", " ", strings.Repeat("x", 101), "a\x00"} {
		me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := me.CreateCategory(me.Ctx, &categoryCreate{Name: name})
			return err
		})
		me.RequireRejected(t, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := me.UpdateCategory(me.Ctx,
				&categoryUpdate{Id: me.Category.String(), Name: &name})
			return err
		})
	}
	me.RequireRejected(t, codes.InvalidArgument, apierr.EmptyUpdate.Reason, func() error {
		_, err := me.UpdateCategory(me.Ctx, &categoryUpdate{Id: me.Category.String()})
		return err
	})
	me.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := me.UpdateCategory(me.Ctx,
			&categoryUpdate{Id: me.Category.String(), Name: new("A"), IfMatch: `"9"`})
		return err
	})
	me.RequireRejected(t, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := me.DeleteCategory(me.Ctx,
			&categoryDelete{Id: me.Category.String(), IfMatch: `"9"`})
		return err
	})
}

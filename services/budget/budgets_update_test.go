package budget

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestUpdateBudget(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, editor, guest := env.user(t, "Owner"), env.user(t, "Editor"), env.user(t, "Guest")
	before := env.budget(t, owner)
	env.join(t, owner, before.GetId(), editor, "editor")
	env.share(t, owner, before.GetId(), guest, "viewer")
	env.events(t)
	env.ledger.checked = nil

	category := uuid.NewString()
	got, err := env.UpdateBudget(editor.Ctx, &budgetv1.UpdateBudgetRequest{
		Id: before.GetId(), Name: new("Food"), Limit: new("5e2"), Period: new("CUSTOM"),
		StartDate: new("2026-02-01"), EndDate: new("2026-04-30"),
		CategoryIds: &budgetv1.CategoryIds{Values: []string{before.GetCategoryIds()[0], category}},
		IfMatch:     `"1"`,
	})
	require.NoError(t, err)
	want := proto.CloneOf(before)
	want.Name = "Food"
	want.Limit = "500.00"
	want.Period = "custom"
	want.StartDate = "2026-02-01"
	want.EndDate = new("2026-04-30")
	want.CategoryIds = append(want.CategoryIds, category)
	want.Role, want.MembershipStatus, want.OwnerName = "editor", new("accepted"), new("Owner")
	want.Progress.WindowStart = "2026-02-01"
	want.Progress.WindowEnd = "2026-04-30"
	want.Progress.Remaining = "500.00"
	read, err := env.GetBudget(editor.Ctx, &budgetv1.GetBudgetRequest{Id: before.GetId()})
	require.NoError(t, err)
	require.Len(t, read.GetBudget().GetMembers(), 2)
	want.Members = read.GetBudget().GetMembers()
	require.True(t, proto.Equal(want, got.GetBudget()), "%v", got)
	require.True(t, proto.Equal(want, read.GetBudget()), "%v", read)
	require.Equal(t, `"2"`, got.GetEtag())
	require.Len(t, env.ledger.checked, 1)
	require.Equal(t, owner.ID.String(), env.ledger.checked[0].GetOwnerId(),
		"references are the owner's")
	require.Empty(t, env.ledger.checked[0].GetWalletId(), "an unchanged wallet may be deleted")
	require.Equal(t, want.GetCategoryIds(), env.ledger.checked[0].GetCategoryIds())

	requirePublished(t, env.events(t), &budgetv1.BudgetUpdated{
		UpdatedBy: editor.ID.String(), Before: snapshotOf(t, before), After: snapshotOf(t, want),
	}, owner, editor)

	got, err = env.UpdateBudget(owner.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: before.GetId(), Period: new("weekly"), EndDate: new("")})
	require.NoError(t, err)
	require.Nil(t, got.GetBudget().EndDate)
}

func TestUpdateBudgetErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	req := newBudget()
	req.Limit = "10.50"
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	type update = budgetv1.UpdateBudgetRequest
	for name, tc := range map[string]struct {
		update *update
		reason string
		code   codes.Code
	}{
		"nothing":    {&update{IfMatch: `"1"`}, "EMPTY_UPDATE", codes.InvalidArgument},
		"empty name": {&update{Name: new("")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"zero limit": {&update{Limit: new("0")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"too fine a limit": {
			&update{Limit: new("0.001")}, "VALIDATION_ERROR", codes.InvalidArgument,
		},
		"a currency too coarse": {
			&update{Currency: new("JPY"), Limit: new("0.5")}, "VALIDATION_ERROR",
			codes.InvalidArgument,
		},
		"unknown currency": {
			&update{Currency: new("")}, "UNSUPPORTED_CURRENCY", codes.InvalidArgument,
		},
		"unknown period": {
			&update{Period: new("")}, "INVALID_BUDGET_PERIOD", codes.InvalidArgument,
		},
		"custom without an end": {
			&update{Period: new("custom")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument,
		},
		"an end before the old start": {
			&update{EndDate: new("2026-01-01")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument,
		},
		"no start": {
			&update{StartDate: new("")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument,
		},
		"malformed wallet": {&update{WalletId: new("")}, "WALLET_NOT_FOUND", codes.InvalidArgument},
		"no categories": {
			&update{CategoryIds: &budgetv1.CategoryIds{}}, "INVALID_CATEGORY_EXIST_PARAMS",
			codes.InvalidArgument,
		},
		"a version that is not any more": {
			&update{Name: new("x"), IfMatch: `"2"`}, "VERSION_MISMATCH", codes.FailedPrecondition,
		},
		"a weak tag": {
			&update{Name: new("x"), IfMatch: `W/"1"`}, "VERSION_MISMATCH", codes.FailedPrecondition,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.update.Id = created.GetBudget().GetId()
			budgettest.Refuses(t, env.db, tc.code, tc.reason,
				pgtest.Call(owner.Ctx, env.UpdateBudget, tc.update))
		})
	}
	budgettest.Refuses(t, env.db, codes.FailedPrecondition, "VERSION_MISMATCH",
		pgtest.Call(owner.Ctx, env.DeleteBudget,
			&budgetv1.DeleteBudgetRequest{Id: created.GetBudget().GetId(), IfMatch: `"7"`}))
}

func TestUpdateBudgetCurrency(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	for _, currency := range []string{"JPY", "BHD", "eur"} {
		e := budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR",
			pgtest.Call(owner.Ctx, env.UpdateBudget,
				&budgetv1.UpdateBudgetRequest{Id: id, Currency: &currency}))
		require.Equal(t,
			[]apierr.Field{{Name: "limit", Message: "is required with another currency"}}, e.Fields)
	}
	got, err := env.UpdateBudget(owner.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: id, Currency: new("usd")})
	require.NoError(t, err, "the currency that it has")
	require.Equal(t, "400.00", got.GetBudget().GetLimit())
	got, err = env.UpdateBudget(owner.Ctx,
		&budgetv1.UpdateBudgetRequest{Id: id, Currency: new("BHD"), Limit: new("0.125")})
	require.NoError(t, err)
	require.Equal(t, "0.125", got.GetBudget().GetLimit())
}

func TestUpdateBudgetIfMatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	errs := b.race(t, id, func(int) error {
		_, err := b.UpdateBudget(owner.Ctx,
			&budgetv1.UpdateBudgetRequest{Id: id, Limit: new("1"), IfMatch: `"1"`})
		return err
	})
	budgettest.RequireWinners(t, 1, apierr.VersionMismatch, errs)
}

func TestDeleteBudget(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	viewer := env.user(t, "Viewer")
	guest := env.user(t, "Guest")
	gone := env.user(t, "Gone")
	budget := env.budget(t, owner)
	env.join(t, owner, budget.GetId(), viewer, "viewer")
	env.join(t, owner, budget.GetId(), gone, "viewer")
	env.share(t, owner, budget.GetId(), guest, "viewer")
	_, err := env.respond(gone, budget.GetId(), "rejected")
	require.NoError(t, err)
	env.events(t)
	got, err := env.DeleteBudget(owner.Ctx,
		&budgetv1.DeleteBudgetRequest{Id: budget.GetId(), IfMatch: "*"})
	require.NoError(t, err)
	require.Equal(t, budget.GetId(), got.GetId())
	events := env.events(t)
	deleted := &budgetv1.BudgetDeleted{Budget: snapshotOf(t, budget)}
	requirePublished(t, events[:2], deleted, owner, viewer)
	requirePublished(t, events[2:], &budgetv1.MemberRemoved{
		BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(),
		MemberId: guest.ID.String(), RemovedBy: owner.ID.String(),
	}, guest)
	_, err = env.GetBudget(viewer.Ctx, &budgetv1.GetBudgetRequest{Id: budget.GetId()})
	require.ErrorIs(t, err, errBudgetNotFound)
	invitations, err := env.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Empty(t, invitations.GetInvitations())
}

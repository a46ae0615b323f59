package budget

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestCreateBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	req := newBudget()
	req.Name = "  Groceries "
	req.EndDate = new("2026-12-31")
	req.CategoryIds = append(req.CategoryIds, strings.ToUpper(req.CategoryIds[0]), uuid.Nil.String())
	created, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	want := &budgetv1.Budget{
		Id: created.GetBudget().GetId(), Name: "Groceries", Currency: "USD", Limit: "400.00", Period: "monthly",
		StartDate: "2026-01-31", EndDate: new("2026-12-31"), WalletId: req.GetWalletId(),
		CategoryIds: []string{req.GetCategoryIds()[0], uuid.Nil.String()}, OwnerId: owner.ID.String(), Role: "owner",
		CreatedAt: "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z", AlertThresholds: []int32{80, 100}, Status: "active",
		Progress: &budgetv1.Progress{WindowStart: "2026-02-28", WindowEnd: "2026-03-30", Spent: "0.00", Remaining: "400.00", State: "ok"},
	}
	require.True(t, proto.Equal(want, created.GetBudget()), "%v", created)
	require.Equal(t, `"1"`, created.GetEtag())

	require.Len(t, b.ledger.checked, 1)
	require.Equal(t, owner.ID.String(), b.ledger.checked[0].GetOwnerId())
	require.Equal(t, req.GetWalletId(), b.ledger.checked[0].GetWalletId())
	require.Equal(t, want.GetCategoryIds(), b.ledger.checked[0].GetCategoryIds())

	got, err := b.GetBudget(owner.Ctx, &budgetv1.GetBudgetRequest{Id: strings.ToUpper(want.GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetBudget()), "%v", got)

	requirePublished(t, b.events(t), &budgetv1.BudgetCreated{Budget: snapshotOf(t, want)}, owner)
}

func TestCreateBudgetErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	for name, c := range map[string]struct {
		spoil  func(*budgetv1.CreateBudgetRequest)
		reason string
		fields string
	}{
		"empty name":           {func(r *budgetv1.CreateBudgetRequest) { r.Name = " " }, "VALIDATION_ERROR", "name"},
		"long name":            {func(r *budgetv1.CreateBudgetRequest) { r.Name = strings.Repeat("x", 101) }, "VALIDATION_ERROR", "name"},
		"no currency":          {func(r *budgetv1.CreateBudgetRequest) { r.Currency = "" }, "VALIDATION_ERROR", "currency"},
		"unknown currency":     {func(r *budgetv1.CreateBudgetRequest) { r.Currency = "XXZ" }, "UNSUPPORTED_CURRENCY", "currency"},
		"no limit":             {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "" }, "VALIDATION_ERROR", "limit"},
		"zero limit":           {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "0.00" }, "VALIDATION_ERROR", "limit"},
		"negative limit":       {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "-1" }, "VALIDATION_ERROR", "limit"},
		"too fine a limit":     {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "1.001" }, "VALIDATION_ERROR", "limit"},
		"huge limit":           {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "1e400" }, "VALIDATION_ERROR", "limit"},
		"limit is no number":   {func(r *budgetv1.CreateBudgetRequest) { r.Limit = "NaN" }, "VALIDATION_ERROR", "limit"},
		"no period":            {func(r *budgetv1.CreateBudgetRequest) { r.Period = "" }, "VALIDATION_ERROR", "period"},
		"unknown period":       {func(r *budgetv1.CreateBudgetRequest) { r.Period = "fortnightly" }, "INVALID_BUDGET_PERIOD", "period"},
		"no start":             {func(r *budgetv1.CreateBudgetRequest) { r.StartDate = "" }, "VALIDATION_ERROR", "startDate"},
		"start is no date":     {func(r *budgetv1.CreateBudgetRequest) { r.StartDate = "2026-02-30" }, "INVALID_BUDGET_TIMEFRAME", "startDate"},
		"start is a time":      {func(r *budgetv1.CreateBudgetRequest) { r.StartDate = "2026-02-20T00:00:00Z" }, "INVALID_BUDGET_TIMEFRAME", "startDate"},
		"start too early":      {func(r *budgetv1.CreateBudgetRequest) { r.StartDate = "1899-12-31" }, "INVALID_BUDGET_TIMEFRAME", "startDate"},
		"end is no date":       {func(r *budgetv1.CreateBudgetRequest) { r.EndDate = new("soon") }, "INVALID_BUDGET_TIMEFRAME", "endDate"},
		"end before start":     {func(r *budgetv1.CreateBudgetRequest) { r.EndDate = new("2026-01-30") }, "INVALID_BUDGET_TIMEFRAME", "endDate"},
		"more than ten years":  {func(r *budgetv1.CreateBudgetRequest) { r.EndDate = new("2036-02-01") }, "INVALID_BUDGET_TIMEFRAME", "endDate"},
		"custom without end":   {func(r *budgetv1.CreateBudgetRequest) { r.Period = "CUSTOM" }, "INVALID_BUDGET_TIMEFRAME", "endDate"},
		"no wallet":            {func(r *budgetv1.CreateBudgetRequest) { r.WalletId = "" }, "VALIDATION_ERROR", "walletId"},
		"malformed wallet":     {func(r *budgetv1.CreateBudgetRequest) { r.WalletId = "mine" }, "WALLET_NOT_FOUND", "walletId"},
		"no categories":        {func(r *budgetv1.CreateBudgetRequest) { r.CategoryIds = nil }, "INVALID_CATEGORY_EXIST_PARAMS", "categoryIds"},
		"malformed category":   {func(r *budgetv1.CreateBudgetRequest) { r.CategoryIds = []string{uuid.NewString(), ""} }, "INVALID_CATEGORY_EXIST_PARAMS", "categoryIds"},
		"too many categories":  {func(r *budgetv1.CreateBudgetRequest) { r.CategoryIds = manyIDs(101) }, "VALIDATION_ERROR", "categoryIds"},
		"everything at once":   {func(r *budgetv1.CreateBudgetRequest) { proto.Reset(r) }, "VALIDATION_ERROR", "name currency limit period startDate walletId categoryIds"},
		"several kinds of bad": {func(r *budgetv1.CreateBudgetRequest) { r.Limit, r.Period, r.WalletId = "-1", "x", "x" }, "VALIDATION_ERROR", "limit period walletId"},
		"two specific ones":    {func(r *budgetv1.CreateBudgetRequest) { r.Currency, r.Period = "x", "x" }, "UNSUPPORTED_CURRENCY", "currency period"},
	} {
		t.Run(name, func(t *testing.T) {
			req := newBudget()
			c.spoil(req)
			e := budgettest.Refuses(t, b.db, codes.InvalidArgument, c.reason, func() error {
				_, err := b.CreateBudget(owner.Ctx, req)
				return err
			})
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, c.fields, strings.Join(fields, " "))
		})
	}
}

func TestCreateBudgetUnknownReferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	wallet, category := uuid.NewString(), uuid.NewString()
	create := func() error {
		req := newBudget()
		req.Limit, req.Period, req.WalletId, req.CategoryIds = "0", "x", wallet, []string{category}
		_, err := b.CreateBudget(owner.Ctx, req)
		return err
	}
	update := func() error {
		_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{
			Id: id, Limit: new("0"), Period: new("x"), WalletId: &wallet, CategoryIds: &budgetv1.CategoryIds{Values: []string{category}},
		})
		return err
	}
	unknown := apierr.New(restv1.Reason_WALLET_NOT_FOUND).With("walletId", "is unknown").With("categoryIds", "is unknown")
	for name, c := range map[string]struct {
		refuse error
		fields []string
	}{
		"unknown references": {unknown.GRPCStatus().Err(), []string{"limit", "period", "walletId", "categoryIds"}},
		"unavailable ledger": {grpcstatus.Error(codes.Unavailable, "connection refused"), []string{"limit", "period"}},
	} {
		b.ledger.rejection = c.refuse
		for operation, do := range map[string]func() error{"create": create, "update": update} {
			b.ledger.checked = nil
			e := budgettest.Refuses(t, b.db, codes.InvalidArgument, "VALIDATION_ERROR", do)
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, c.fields, fields, "%s, %s", operation, name)
			require.Len(t, b.ledger.checked, 1)
			require.Equal(t, wallet, b.ledger.checked[0].GetWalletId())
			require.Equal(t, []string{category}, b.ledger.checked[0].GetCategoryIds())
		}
	}
}

func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = uuid.NewString()
	}
	return ids
}

func TestCreateBudgetLedgerErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	budget := b.budget(t, owner)
	create := func() error { _, err := b.CreateBudget(owner.Ctx, newBudget()); return err }
	update := func() error {
		_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: budget.GetId(), WalletId: new(uuid.NewString())})
		return err
	}
	for _, reason := range []restv1.Reason{restv1.Reason_WALLET_NOT_FOUND, restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS} {
		b.ledger.rejection = apierr.New(reason).GRPCStatus().Err()
		budgettest.Refuses(t, b.db, codes.NotFound, reason.String(), create)
		budgettest.Refuses(t, b.db, codes.NotFound, reason.String(), update)
	}
	b.ledger.rejection = grpcstatus.Error(codes.Unavailable, "connection refused")
	before := budgettest.State(t, b.db)
	require.Equal(t, codes.Unavailable, grpcstatus.Code(create()))
	require.Equal(t, before, budgettest.State(t, b.db))
}

func TestCreateBudgetConcurrentDuplicates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	first := newBudget()
	const n = 8
	errs := make([]error, n)
	var racing sync.WaitGroup
	for i := range n {
		racing.Go(func() {
			req := proto.CloneOf(first)
			if i%2 == 1 {
				req.Name = "GROCERIES"
			}
			_, errs[i] = b.CreateBudget(owner.Ctx, req)
		})
	}
	racing.Wait()
	budgettest.RequireWinners(t, 1, errBudgetAlreadyExists, errs)
	require.Len(t, b.events(t), 1)

	other := b.user(t, "Other")
	_, err := b.CreateBudget(other.Ctx, first)
	require.NoError(t, err, "another owner's budget is no duplicate")
	second := proto.CloneOf(first)
	second.StartDate = "2026-02-01"
	created, err := b.CreateBudget(owner.Ctx, second)
	require.NoError(t, err, "another start is no duplicate")
	budgettest.Refuses(t, b.db, codes.AlreadyExists, "BUDGET_ALREADY_EXISTS", func() error {
		_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: created.GetBudget().GetId(), StartDate: &first.StartDate})
		return err
	})
}

func TestCreateBudgetIdempotency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	req := newBudget()
	req.IdempotencyKey = "once"
	first, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	b.ledger.rejection = apierr.New(restv1.Reason_WALLET_NOT_FOUND).WithMessage("the wallet was deleted since").GRPCStatus().Err()
	again, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetBudget(), again.GetBudget()))
	require.Len(t, b.events(t), 1)
	other := proto.CloneOf(req)
	other.Limit = "401"
	budgettest.Refuses(t, b.db, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT", func() error { _, err := b.CreateBudget(owner.Ctx, other); return err })
}

func TestUpdateBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, editor, guest := b.user(t, "Owner"), b.user(t, "Editor"), b.user(t, "Guest")
	before := b.budget(t, owner)
	b.join(t, owner, before.GetId(), editor, "editor")
	b.share(t, owner, before.GetId(), guest, "viewer")
	b.events(t)
	b.ledger.checked = nil

	category := uuid.NewString()
	got, err := b.UpdateBudget(editor.Ctx, &budgetv1.UpdateBudgetRequest{
		Id: before.GetId(), Name: new("Food"), Limit: new("5e2"), Period: new("CUSTOM"), StartDate: new("2026-02-01"), EndDate: new("2026-04-30"),
		CategoryIds: &budgetv1.CategoryIds{Values: []string{before.GetCategoryIds()[0], category}}, IfMatch: `"1"`,
	})
	require.NoError(t, err)
	want := proto.CloneOf(before)
	want.Name, want.Limit, want.Period, want.StartDate, want.EndDate = "Food", "500.00", "custom", "2026-02-01", new("2026-04-30")
	want.CategoryIds = append(want.CategoryIds, category)
	want.Role, want.MembershipStatus, want.OwnerName = "editor", new("accepted"), new("Owner")
	want.Progress.WindowStart, want.Progress.WindowEnd, want.Progress.Remaining = "2026-02-01", "2026-04-30", "500.00"
	read, err := b.GetBudget(editor.Ctx, &budgetv1.GetBudgetRequest{Id: before.GetId()})
	require.NoError(t, err)
	require.Len(t, read.GetBudget().GetMembers(), 2)
	want.Members = read.GetBudget().GetMembers()
	require.True(t, proto.Equal(want, got.GetBudget()), "%v", got)
	require.True(t, proto.Equal(want, read.GetBudget()), "%v", read)
	require.Equal(t, `"2"`, got.GetEtag())
	require.Len(t, b.ledger.checked, 1)
	require.Equal(t, owner.ID.String(), b.ledger.checked[0].GetOwnerId(), "references are the owner's")
	require.Empty(t, b.ledger.checked[0].GetWalletId(), "an unchanged wallet may be deleted")
	require.Equal(t, want.GetCategoryIds(), b.ledger.checked[0].GetCategoryIds())

	requirePublished(t, b.events(t), &budgetv1.BudgetUpdated{
		UpdatedBy: editor.ID.String(), Before: snapshotOf(t, before), After: snapshotOf(t, want),
	}, owner, editor)

	got, err = b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: before.GetId(), Period: new("weekly"), EndDate: new("")})
	require.NoError(t, err)
	require.Nil(t, got.GetBudget().EndDate)
}

func TestUpdateBudgetErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	req := newBudget()
	req.Limit = "10.50"
	created, err := b.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		update *budgetv1.UpdateBudgetRequest
		reason string
		code   codes.Code
	}{
		"nothing":                        {&budgetv1.UpdateBudgetRequest{IfMatch: `"1"`}, "EMPTY_UPDATE", codes.InvalidArgument},
		"empty name":                     {&budgetv1.UpdateBudgetRequest{Name: new("")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"zero limit":                     {&budgetv1.UpdateBudgetRequest{Limit: new("0")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"too fine a limit":               {&budgetv1.UpdateBudgetRequest{Limit: new("0.001")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"a currency too coarse":          {&budgetv1.UpdateBudgetRequest{Currency: new("JPY"), Limit: new("0.5")}, "VALIDATION_ERROR", codes.InvalidArgument},
		"unknown currency":               {&budgetv1.UpdateBudgetRequest{Currency: new("")}, "UNSUPPORTED_CURRENCY", codes.InvalidArgument},
		"unknown period":                 {&budgetv1.UpdateBudgetRequest{Period: new("")}, "INVALID_BUDGET_PERIOD", codes.InvalidArgument},
		"custom without an end":          {&budgetv1.UpdateBudgetRequest{Period: new("custom")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument},
		"an end before the old start":    {&budgetv1.UpdateBudgetRequest{EndDate: new("2026-01-01")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument},
		"no start":                       {&budgetv1.UpdateBudgetRequest{StartDate: new("")}, "INVALID_BUDGET_TIMEFRAME", codes.InvalidArgument},
		"malformed wallet":               {&budgetv1.UpdateBudgetRequest{WalletId: new("")}, "WALLET_NOT_FOUND", codes.InvalidArgument},
		"no categories":                  {&budgetv1.UpdateBudgetRequest{CategoryIds: &budgetv1.CategoryIds{}}, "INVALID_CATEGORY_EXIST_PARAMS", codes.InvalidArgument},
		"a version that is not any more": {&budgetv1.UpdateBudgetRequest{Name: new("x"), IfMatch: `"2"`}, "VERSION_MISMATCH", codes.FailedPrecondition},
		"a weak tag":                     {&budgetv1.UpdateBudgetRequest{Name: new("x"), IfMatch: `W/"1"`}, "VERSION_MISMATCH", codes.FailedPrecondition},
	} {
		t.Run(name, func(t *testing.T) {
			c.update.Id = created.GetBudget().GetId()
			budgettest.Refuses(t, b.db, c.code, c.reason, func() error { _, err := b.UpdateBudget(owner.Ctx, c.update); return err })
		})
	}
	budgettest.Refuses(t, b.db, codes.FailedPrecondition, "VERSION_MISMATCH", func() error {
		_, err := b.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: created.GetBudget().GetId(), IfMatch: `"7"`})
		return err
	})
}

func TestUpdateBudgetCurrency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	for _, currency := range []string{"JPY", "BHD", "eur"} {
		e := budgettest.Refuses(t, b.db, codes.InvalidArgument, "VALIDATION_ERROR", func() error {
			_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: id, Currency: &currency})
			return err
		})
		require.Equal(t, []apierr.Field{{Name: "limit", Message: "is required with another currency"}}, e.Fields)
	}
	got, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: id, Currency: new("usd")})
	require.NoError(t, err, "the currency that it has")
	require.Equal(t, "400.00", got.GetBudget().GetLimit())
	got, err = b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: id, Currency: new("BHD"), Limit: new("0.125")})
	require.NoError(t, err)
	require.Equal(t, "0.125", got.GetBudget().GetLimit())
}

func TestUpdateBudgetIfMatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	id := b.budget(t, owner).GetId()
	errs := b.race(t, id, func(int) error {
		_, err := b.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{Id: id, Limit: new("1"), IfMatch: `"1"`})
		return err
	})
	budgettest.RequireWinners(t, 1, apierr.VersionMismatch, errs)
}

func TestDeleteBudget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner, viewer, guest, gone := b.user(t, "Owner"), b.user(t, "Viewer"), b.user(t, "Guest"), b.user(t, "Gone")
	budget := b.budget(t, owner)
	b.join(t, owner, budget.GetId(), viewer, "viewer")
	b.join(t, owner, budget.GetId(), gone, "viewer")
	b.share(t, owner, budget.GetId(), guest, "viewer")
	_, err := b.respond(gone, budget.GetId(), "rejected")
	require.NoError(t, err)
	b.events(t)
	got, err := b.DeleteBudget(owner.Ctx, &budgetv1.DeleteBudgetRequest{Id: budget.GetId(), IfMatch: "*"})
	require.NoError(t, err)
	require.Equal(t, budget.GetId(), got.GetId())
	events := b.events(t)
	requirePublished(t, events[:2], &budgetv1.BudgetDeleted{Budget: snapshotOf(t, budget)}, owner, viewer)
	requirePublished(t, events[2:], &budgetv1.MemberRemoved{
		BudgetId: budget.GetId(), BudgetName: "Groceries", OwnerId: owner.ID.String(), MemberId: guest.ID.String(), RemovedBy: owner.ID.String(),
	}, guest)
	_, err = b.GetBudget(viewer.Ctx, &budgetv1.GetBudgetRequest{Id: budget.GetId()})
	require.ErrorIs(t, err, errBudgetNotFound)
	invitations, err := b.ListInvitations(guest.Ctx, &budgetv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Empty(t, invitations.GetInvitations())
}

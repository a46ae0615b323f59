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
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func TestCreateBudget(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	req := newBudget()
	req.Name = "  Groceries "
	req.EndDate = new("2026-12-31")
	req.CategoryIds = append(req.CategoryIds, strings.ToUpper(req.CategoryIds[0]),
		uuid.Nil.String())
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	want := &budgetv1.Budget{
		Id: created.GetBudget().GetId(), OwnerId: owner.ID.String(), Role: "owner",
		Name: "Groceries", Currency: "USD", Limit: "400.00", Period: "monthly",
		StartDate: "2026-01-31", EndDate: new("2026-12-31"), WalletId: req.GetWalletId(),
		CategoryIds: []string{req.GetCategoryIds()[0], uuid.Nil.String()},
		CreatedAt:   "2026-03-15T12:00:00.000Z", UpdatedAt: "2026-03-15T12:00:00.000Z",
		AlertThresholds: []int32{80, 100}, Status: "active",
		Progress: &budgetv1.Progress{
			WindowStart: "2026-02-28", WindowEnd: "2026-03-30", Spent: "0.00", Remaining: "400.00",
			State: "ok",
		},
	}
	require.True(t, proto.Equal(want, created.GetBudget()), "%v", created)
	require.Equal(t, `"1"`, created.GetEtag())

	require.Len(t, env.ledger.checked, 1)
	require.Equal(t, owner.ID.String(), env.ledger.checked[0].GetOwnerId())
	require.Equal(t, req.GetWalletId(), env.ledger.checked[0].GetWalletId())
	require.Equal(t, want.GetCategoryIds(), env.ledger.checked[0].GetCategoryIds())

	got, err := env.GetBudget(owner.Ctx,
		&budgetv1.GetBudgetRequest{Id: strings.ToUpper(want.GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(want, got.GetBudget()), "%v", got)

	requirePublished(t, env.events(t), &budgetv1.BudgetCreated{Budget: snapshotOf(t, want)}, owner)
}

func TestCreateBudgetErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	type create = budgetv1.CreateBudgetRequest
	for name, tc := range map[string]struct {
		spoil  func(*create)
		reason string
		fields string
	}{
		"empty name": {func(r *create) { r.Name = " " }, "VALIDATION_ERROR", "name"},
		"long name": {
			func(r *create) { r.Name = strings.Repeat("x", 101) }, "VALIDATION_ERROR", "name",
		},
		"no currency": {func(r *create) { r.Currency = "" }, "VALIDATION_ERROR", "currency"},
		"unknown currency": {
			func(r *create) { r.Currency = "XXZ" }, "UNSUPPORTED_CURRENCY", "currency",
		},
		"no limit":           {func(r *create) { r.Limit = "" }, "VALIDATION_ERROR", "limit"},
		"zero limit":         {func(r *create) { r.Limit = "0.00" }, "VALIDATION_ERROR", "limit"},
		"negative limit":     {func(r *create) { r.Limit = "-1" }, "VALIDATION_ERROR", "limit"},
		"too fine a limit":   {func(r *create) { r.Limit = "1.001" }, "VALIDATION_ERROR", "limit"},
		"huge limit":         {func(r *create) { r.Limit = "1e400" }, "VALIDATION_ERROR", "limit"},
		"limit is no number": {func(r *create) { r.Limit = "NaN" }, "VALIDATION_ERROR", "limit"},
		"no period":          {func(r *create) { r.Period = "" }, "VALIDATION_ERROR", "period"},
		"unknown period": {
			func(r *create) { r.Period = "fortnightly" }, "INVALID_BUDGET_PERIOD", "period",
		},
		"no start": {func(r *create) { r.StartDate = "" }, "VALIDATION_ERROR", "startDate"},
		"start is no date": {
			func(r *create) { r.StartDate = "2026-02-30" }, "INVALID_BUDGET_TIMEFRAME", "startDate",
		},
		"start is a time": {
			func(r *create) { r.StartDate = "2026-02-20T00:00:00Z" }, "INVALID_BUDGET_TIMEFRAME",
			"startDate",
		},
		"start too early": {
			func(r *create) { r.StartDate = "1899-12-31" }, "INVALID_BUDGET_TIMEFRAME", "startDate",
		},
		"end is no date": {
			func(r *create) { r.EndDate = new("soon") }, "INVALID_BUDGET_TIMEFRAME", "endDate",
		},
		"end before start": {
			func(r *create) { r.EndDate = new("2026-01-30") }, "INVALID_BUDGET_TIMEFRAME",
			"endDate",
		},
		"more than ten years": {
			func(r *create) { r.EndDate = new("2036-02-01") }, "INVALID_BUDGET_TIMEFRAME",
			"endDate",
		},
		"custom without end": {
			func(r *create) { r.Period = "CUSTOM" }, "INVALID_BUDGET_TIMEFRAME", "endDate",
		},
		"no wallet": {func(r *create) { r.WalletId = "" }, "VALIDATION_ERROR", "walletId"},
		"malformed wallet": {
			func(r *create) { r.WalletId = "mine" }, "WALLET_NOT_FOUND", "walletId",
		},
		"no categories": {
			func(r *create) { r.CategoryIds = nil }, "INVALID_CATEGORY_EXIST_PARAMS", "categoryIds",
		},
		"malformed category": {
			func(r *create) { r.CategoryIds = []string{uuid.NewString(), ""} },
			"INVALID_CATEGORY_EXIST_PARAMS", "categoryIds",
		},
		"too many categories": {
			func(r *create) { r.CategoryIds = manyIDs(101) }, "VALIDATION_ERROR", "categoryIds",
		},
		"everything at once": {
			func(r *create) { proto.Reset(r) }, "VALIDATION_ERROR",
			"name currency limit period startDate walletId categoryIds",
		},
		"several kinds of bad": {
			func(r *create) { r.Limit, r.Period, r.WalletId = "-1", "x", "x" }, "VALIDATION_ERROR",
			"limit period walletId",
		},
		"two specific ones": {
			func(r *create) { r.Currency, r.Period = "x", "x" }, "UNSUPPORTED_CURRENCY",
			"currency period",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := newBudget()
			tc.spoil(req)
			e := budgettest.Refuses(t, env.db, codes.InvalidArgument, tc.reason,
				pgtest.Call(owner.Ctx, env.CreateBudget, req))
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, tc.fields, strings.Join(fields, " "))
		})
	}
}

func TestCreateBudgetUnknownReferences(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	id := env.budget(t, owner).GetId()
	wallet, category := uuid.NewString(), uuid.NewString()
	create := func() error {
		req := newBudget()
		req.Limit, req.Period, req.WalletId, req.CategoryIds = "0", "x", wallet, []string{category}
		_, err := env.CreateBudget(owner.Ctx, req)
		return err
	}
	update := func() error {
		_, err := env.UpdateBudget(owner.Ctx, &budgetv1.UpdateBudgetRequest{
			Id: id, Limit: new("0"), Period: new("x"), WalletId: &wallet,
			CategoryIds: &budgetv1.CategoryIds{Values: []string{category}},
		})
		return err
	}
	unknown := apierr.New(restv1.Reason_WALLET_NOT_FOUND).
		With("walletId", "is unknown").With("categoryIds", "is unknown")
	for name, tc := range map[string]struct {
		refuse error
		fields []string
	}{
		"unknown references": {
			unknown.GRPCStatus().Err(), []string{"limit", "period", "walletId", "categoryIds"},
		},
		"unavailable ledger": {
			grpcstatus.Error(codes.Unavailable, "connection refused"), []string{"limit", "period"},
		},
	} {
		env.ledger.rejection = tc.refuse
		for operation, do := range map[string]func() error{"create": create, "update": update} {
			env.ledger.checked = nil
			e := budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR", do)
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, tc.fields, fields, "%s, %s", operation, name)
			require.Len(t, env.ledger.checked, 1)
			require.Equal(t, wallet, env.ledger.checked[0].GetWalletId())
			require.Equal(t, []string{category}, env.ledger.checked[0].GetCategoryIds())
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
	env := setup(t)
	owner := env.user(t, "Owner")
	budget := env.budget(t, owner)
	create := pgtest.Call(owner.Ctx, env.CreateBudget, newBudget())
	update := pgtest.Call(owner.Ctx, env.UpdateBudget,
		&budgetv1.UpdateBudgetRequest{Id: budget.GetId(), WalletId: new(uuid.NewString())})
	for _, reason := range []restv1.Reason{
		restv1.Reason_WALLET_NOT_FOUND, restv1.Reason_INVALID_CATEGORY_EXIST_PARAMS,
	} {
		env.ledger.rejection = apierr.New(reason).GRPCStatus().Err()
		budgettest.Refuses(t, env.db, codes.NotFound, reason.String(), create)
		budgettest.Refuses(t, env.db, codes.NotFound, reason.String(), update)
	}
	env.ledger.rejection = grpcstatus.Error(codes.Unavailable, "connection refused")
	before := budgettest.State(t, env.db)
	require.Equal(t, codes.Unavailable, grpcstatus.Code(create()))
	require.Equal(t, before, budgettest.State(t, env.db))
}

func TestCreateBudgetConcurrentDuplicates(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
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
			_, errs[i] = env.CreateBudget(owner.Ctx, req)
		})
	}
	racing.Wait()
	budgettest.RequireWinners(t, 1, errBudgetAlreadyExists, errs)
	require.Len(t, env.events(t), 1)

	other := env.user(t, "Other")
	_, err := env.CreateBudget(other.Ctx, first)
	require.NoError(t, err, "another owner's budget is no duplicate")
	second := proto.CloneOf(first)
	second.StartDate = "2026-02-01"
	created, err := env.CreateBudget(owner.Ctx, second)
	require.NoError(t, err, "another start is no duplicate")
	budgettest.Refuses(t, env.db, codes.AlreadyExists, "BUDGET_ALREADY_EXISTS",
		pgtest.Call(owner.Ctx, env.UpdateBudget, &budgetv1.UpdateBudgetRequest{
			Id: created.GetBudget().GetId(), StartDate: &first.StartDate,
		}))
}

func TestCreateBudgetIdempotency(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	req := newBudget()
	req.IdempotencyKey = "once"
	first, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.False(t, first.GetReplayed())
	env.ledger.rejection = apierr.New(restv1.Reason_WALLET_NOT_FOUND).
		WithMessage("the wallet was deleted since").GRPCStatus().Err()
	again, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.True(t, again.GetReplayed())
	require.True(t, proto.Equal(first.GetBudget(), again.GetBudget()))
	require.Len(t, env.events(t), 1)
	other := proto.CloneOf(req)
	other.Limit = "401"
	budgettest.Refuses(t, env.db, codes.AlreadyExists, "IDEMPOTENCY_KEY_CONFLICT",
		pgtest.Call(owner.Ctx, env.CreateBudget, other))
}

package budget

import (
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/apierr"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// fakeLedger owns every wallet and category, unless a field says otherwise.
type fakeLedger struct {
	ledgerv1.LedgerServiceClient
	mu      sync.Mutex
	checked []*ledgerv1.CheckReferencesRequest
	summed  []*ledgerv1.SumSpendingRequest
	// CheckReferences returns rejection, and the other calls return unavailable.
	rejection, unavailable error
	spend                  func(*ledgerv1.SpendingWindow) *ledgerv1.Spending
	// current maps merged categories to their targets, and deleted ones to the empty string.
	current map[string]string
	synced  []*ledgerv1.BudgetReferences
	// recorded, if positive, is the number of budgets after which SyncReferences ends early.
	recorded int
	// reserved and syncing, if set, are called during CheckReferences and SyncReferences.
	reserved, syncing func()
}

func (f *fakeLedger) SyncReferences(
	_ context.Context, req *ledgerv1.SyncReferencesRequest, _ ...grpc.CallOption,
) (*ledgerv1.SyncReferencesResponse, error) {
	if f.syncing != nil {
		f.syncing()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unavailable != nil {
		return nil, f.unavailable
	}
	resp := &ledgerv1.SyncReferencesResponse{}
	for i, b := range req.GetBudgets() {
		if f.recorded > 0 && i == f.recorded {
			break
		}
		current := &ledgerv1.CurrentCategories{}
		for _, id := range b.GetCategoryIds() {
			for to, known := f.current[id]; known; to, known = f.current[id] {
				id = to
			}
			current.CategoryIds = append(current.CategoryIds, id)
		}
		f.synced, resp.Budgets = append(f.synced, b), append(resp.Budgets, current)
	}
	return resp, nil
}

func (f *fakeLedger) CheckReferences(
	_ context.Context, req *ledgerv1.CheckReferencesRequest, _ ...grpc.CallOption,
) (*ledgerv1.CheckReferencesResponse, error) {
	if f.reserved != nil {
		f.reserved()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = append(f.checked, req)
	return &ledgerv1.CheckReferencesResponse{}, f.rejection
}

func (f *fakeLedger) SumSpending(
	_ context.Context, req *ledgerv1.SumSpendingRequest, _ ...grpc.CallOption,
) (*ledgerv1.SumSpendingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.summed = append(f.summed, req)
	if f.unavailable != nil {
		return nil, f.unavailable
	}
	resp := &ledgerv1.SumSpendingResponse{}
	for _, w := range req.GetWindows() {
		resp.Spendings = append(resp.Spendings, f.spend(w))
	}
	return resp, nil
}

// ReadBalances returns no balances, as for deleted wallets.
func (f *fakeLedger) ReadBalances(
	context.Context, *ledgerv1.ReadBalancesRequest, ...grpc.CallOption,
) (*ledgerv1.ReadBalancesResponse, error) {
	return &ledgerv1.ReadBalancesResponse{}, f.unavailable
}

type fakeAuth struct {
	authv1.AuthServiceClient
	mu          sync.Mutex
	users       []*authv1.User
	unavailable error
	calls       int
}

func (f *fakeAuth) FindUserByEmail(
	_ context.Context, req *authv1.FindUserByEmailRequest, _ ...grpc.CallOption,
) (*authv1.FindUserByEmailResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	for _, u := range f.users {
		if strings.EqualFold(u.GetEmail(), req.GetEmail()) && f.unavailable == nil {
			return &authv1.FindUserByEmailResponse{User: u}, nil
		}
	}
	if f.unavailable != nil {
		return nil, f.unavailable
	}
	return nil, apierr.New(restv1.Reason_USER_NOT_FOUND).GRPCStatus().Err()
}

func (f *fakeAuth) CheckInvitation(
	_ context.Context, req *authv1.CheckInvitationRequest, _ ...grpc.CallOption,
) (*authv1.CheckInvitationResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	resp := &authv1.CheckInvitationResponse{Email: strings.ToLower(req.GetEmail())}
	for _, u := range f.users {
		if u.GetEmail() == resp.GetEmail() && slices.Contains(req.GetUserIds(), u.GetId()) {
			resp.UserId = u.GetId()
		}
	}
	return resp, f.unavailable
}

func (f *fakeAuth) GetUsers(
	_ context.Context, req *authv1.GetUsersRequest, _ ...grpc.CallOption,
) (*authv1.GetUsersResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	resp := &authv1.GetUsersResponse{}
	for _, u := range f.users {
		for _, id := range req.GetIds() {
			if id == u.GetId() {
				resp.Users = append(resp.Users, u)
				break
			}
		}
	}
	return resp, f.unavailable
}

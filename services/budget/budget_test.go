package budget

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/seal"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

// fakeLedger knows every wallet and category unless told otherwise.
type fakeLedger struct {
	ledgerv1.LedgerServiceClient
	mu      sync.Mutex
	checked []*ledgerv1.CheckReferencesRequest
	summed  []*ledgerv1.SumSpendingRequest
	refuse  error
	away    error
	spend   func(*ledgerv1.SpendingWindow) *ledgerv1.Spending
	// current maps merged categories to their targets, and deleted ones to the empty string.
	current map[string]string
	synced  []*ledgerv1.BudgetReferences
	// reserved and syncing, if set, are called during CheckReferences and SyncReferences.
	reserved, syncing func()
}

func (f *fakeLedger) SyncReferences(_ context.Context, req *ledgerv1.SyncReferencesRequest, _ ...grpc.CallOption) (*ledgerv1.SyncReferencesResponse, error) {
	if f.syncing != nil {
		f.syncing()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != nil {
		return nil, f.away
	}
	resp := &ledgerv1.SyncReferencesResponse{}
	for _, b := range req.GetBudgets() {
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

func (f *fakeLedger) CheckReferences(_ context.Context, req *ledgerv1.CheckReferencesRequest, _ ...grpc.CallOption) (*ledgerv1.CheckReferencesResponse, error) {
	if f.reserved != nil {
		f.reserved()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = append(f.checked, req)
	return &ledgerv1.CheckReferencesResponse{}, f.refuse
}

func (f *fakeLedger) SumSpending(_ context.Context, req *ledgerv1.SumSpendingRequest, _ ...grpc.CallOption) (*ledgerv1.SumSpendingResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.summed = append(f.summed, req)
	if f.away != nil {
		return nil, f.away
	}
	resp := &ledgerv1.SumSpendingResponse{}
	for _, w := range req.GetWindows() {
		resp.Spendings = append(resp.Spendings, f.spend(w))
	}
	return resp, nil
}

type fakeAuth struct {
	authv1.AuthServiceClient
	mu    sync.Mutex
	users []*authv1.User
	away  error
	calls int
}

func (f *fakeAuth) FindUserByEmail(_ context.Context, req *authv1.FindUserByEmailRequest, _ ...grpc.CallOption) (*authv1.FindUserByEmailResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	for _, u := range f.users {
		if strings.EqualFold(u.GetEmail(), req.GetEmail()) && f.away == nil {
			return &authv1.FindUserByEmailResponse{User: u}, nil
		}
	}
	if f.away != nil {
		return nil, f.away
	}
	return nil, apierr.New(restv1.Reason_USER_NOT_FOUND).GRPCStatus().Err()
}

func (f *fakeAuth) GetUsers(_ context.Context, req *authv1.GetUsersRequest, _ ...grpc.CallOption) (*authv1.GetUsersResponse, error) {
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
	return resp, f.away
}

type bundle struct {
	*server
	ledger *fakeLedger
	auth   *fakeAuth
}

var today = time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T) *bundle {
	t.Helper()
	nothing := func(*ledgerv1.SpendingWindow) *ledgerv1.Spending { return &ledgerv1.Spending{Found: true} }
	b := &bundle{ledger: &fakeLedger{spend: nothing, current: map[string]string{}}, auth: &fakeAuth{}}
	b.server = &server{
		db:      pgtest.New(t, Migrations),
		ledger:  b.ledger,
		auth:    b.auth,
		cursors: page.NewCursors("test"),
		relay:   func() {},
		streams: streams{open: map[uuid.UUID]int{}},
		spent:   make(chan struct{}, 1),
		written: make(chan struct{}, 1),
		queued:  make(chan struct{}, 1),
		sealer:  seal.NewKey("test", "webhook secret"),
		client:  newDeliveryClient(internetOnly.contains, nil, nil),
		log:     slog.New(slog.DiscardHandler),
		now:     func() time.Time { return today },
		newID:   func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
	}
	return b
}

// person is a user with an account, and the context that acts for them.
type person struct {
	id    uuid.UUID
	email string
	ctx   context.Context
}

func (b *bundle) person(t *testing.T, name string) person {
	t.Helper()
	p := person{id: uuid.Must(uuid.NewV7()), email: strings.ToLower(name) + "@example.com"}
	p.ctx = caller.With(t.Context(), caller.Identity{UserID: p.id, SessionID: uuid.Must(uuid.NewV7())})
	b.auth.mu.Lock()
	defer b.auth.mu.Unlock()
	b.auth.users = append(b.auth.users, &authv1.User{Id: p.id.String(), Name: name, Email: p.email})
	return p
}

func newBudget() *budgetv1.CreateBudgetRequest {
	return &budgetv1.CreateBudgetRequest{
		Name: "Groceries", Currency: "usd", Limit: "400", Period: "Monthly", StartDate: "2026-01-31",
		WalletId: uuid.NewString(), CategoryIds: []string{uuid.NewString()},
	}
}

func (b *bundle) budget(t *testing.T, owner person) *budgetv1.Budget {
	t.Helper()
	resp, err := b.CreateBudget(owner.ctx, newBudget())
	require.NoError(t, err)
	return resp.GetBudget()
}

func (b *bundle) budgetNamed(t *testing.T, owner person, name string) *budgetv1.Budget {
	t.Helper()
	req := newBudget()
	req.Name = name
	resp, err := b.CreateBudget(owner.ctx, req)
	require.NoError(t, err)
	return resp.GetBudget()
}

func (b *bundle) share(t *testing.T, owner person, budgetID string, with person, role string) {
	t.Helper()
	_, err := b.ShareBudget(owner.ctx, &budgetv1.ShareBudgetRequest{BudgetId: budgetID, Email: with.email, Role: &role})
	require.NoError(t, err)
}

func (b *bundle) respond(who person, budgetID, answer string) (*budgetv1.RespondToInvitationResponse, error) {
	return b.RespondToInvitation(who.ctx, &budgetv1.RespondToInvitationRequest{BudgetId: budgetID, MemberId: who.id.String(), Status: &answer})
}

func (b *bundle) join(t *testing.T, owner person, budgetID string, who person, role string) {
	t.Helper()
	b.share(t, owner, budgetID, who, role)
	_, err := b.respond(who, budgetID, "accepted")
	require.NoError(t, err)
}

// state is everything that the service has stored.
func (b *bundle) state(t *testing.T) string {
	t.Helper()
	var s string
	require.NoError(t, b.db.QueryRow(t.Context(), `
		SELECT coalesce((SELECT string_agg(b::text, ';' ORDER BY b.id) FROM budgets b), '')
			|| coalesce((SELECT string_agg(m::text, ';' ORDER BY m.budget_id, m.user_id) FROM members m), '')
			|| coalesce((SELECT string_agg(n::text, ';' ORDER BY n.user_id, n.id) FROM notifications n), '')
			|| coalesce((SELECT string_agg(w::text, ';' ORDER BY w.id) FROM webhooks w), '')
			|| coalesce((SELECT string_agg(d::text, ';' ORDER BY d.id) FROM webhook_deliveries d), '')
			|| (SELECT count(*) FROM outbox)::text || ' ' || (SELECT count(*) FROM idempotency_keys)::text`).Scan(&s))
	return s
}

// refuses requires a reason and code, and that nothing changed.
func (b *bundle) refuses(t *testing.T, code codes.Code, reason string, call func() error) apierr.Error {
	t.Helper()
	before := b.state(t)
	err := call()
	e := apierr.From(err)
	require.NotNil(t, e, "%v", err)
	require.Equal(t, reason, e.Reason)
	require.Equal(t, code, e.Code)
	require.Equal(t, before, b.state(t))
	return *e
}

type told struct {
	UserID  uuid.UUID `db:"user_id"`
	Subject string
	Data    []byte
}

// events empties the outbox.
func (b *bundle) events(t *testing.T) []told {
	t.Helper()
	events, err := pg.All[told](t.Context(), b.db, `
		WITH gone AS (DELETE FROM outbox RETURNING seq, user_id, subject, data)
		SELECT user_id, subject, data FROM gone ORDER BY seq`)
	require.NoError(t, err)
	return events
}

func (e told) message(t *testing.T) proto.Message {
	t.Helper()
	var data anypb.Any
	require.NoError(t, proto.Unmarshal(e.Data, &data))
	m, err := data.UnmarshalNew()
	require.NoError(t, err)
	return m
}

func requireTold(t *testing.T, events []told, want proto.Message, users ...person) {
	t.Helper()
	require.Len(t, events, len(users))
	var got []uuid.UUID
	for _, e := range events {
		m := e.message(t)
		require.Equal(t, want.ProtoReflect().Descriptor().FullName(), m.ProtoReflect().Descriptor().FullName())
		require.True(t, proto.Equal(want, m), "want %v\ngot  %v", want, m)
		require.Equal(t, outbox.Type(want.ProtoReflect().Descriptor().FullName()), e.Subject)
		got = append(got, e.UserID)
	}
	var ids []uuid.UUID
	for _, p := range users {
		ids = append(ids, p.id)
	}
	require.ElementsMatch(t, ids, got)
}

// snapshotOf returns the part of an answer that events carry. Both messages number their fields alike, so that an event of
// an earlier release reads the same.
func snapshotOf(t *testing.T, b *budgetv1.Budget) *budgetv1.BudgetSnapshot {
	t.Helper()
	encoded, err := proto.Marshal(b)
	require.NoError(t, err)
	s := &budgetv1.BudgetSnapshot{}
	require.NoError(t, proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(encoded, s))
	return s
}

// racers and the two connections of race fill the pool of a test.
const racers = 6

// race holds a budget's row until all racers wait for it, so that they meet inside their transactions.
func (b *bundle) race(t *testing.T, budgetID string, call func(i int) error) []error {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	require.NoError(t, err)
	// Also when the test fails: the racers must not wait for ever.
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), `SELECT id FROM budgets WHERE id = $1 FOR UPDATE`, budgetID)
	require.NoError(t, err)
	errs := make([]error, racers)
	var racing sync.WaitGroup
	for i := range errs {
		racing.Go(func() { errs[i] = call(i) })
	}
	// The first waits for the holder, the others for their turn at the row.
	require.Eventually(t, func() bool {
		var queued int
		err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE relation = 'budgets'::regclass AND locktype = 'tuple' AND NOT granted`).Scan(&queued)
		return err == nil && queued == racers-1
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, tx.Rollback(t.Context()))
	racing.Wait()
	return errs
}

// requireWinners requires that so many calls succeeded and the others were refused for one reason.
func requireWinners(t *testing.T, n int, loss error, errs []error) {
	t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		require.ErrorIs(t, err, loss)
	}
	require.Equal(t, n, won)
}

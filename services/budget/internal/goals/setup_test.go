package goals

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/page"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
	"github.com/coffer-budget/coffer/services/budget/internal/notification"
	"github.com/coffer-budget/coffer/services/budget/internal/sharing"
)

// ledger has the balances of wallets in EUR. It knows no other wallets.
type ledger struct {
	ledgerv1.LedgerServiceClient
	mu          sync.Mutex
	balances    map[string]int64
	timeZone    string
	unavailable error
	calls       int
}

func (l *ledger) CheckReferences(
	_ context.Context, req *ledgerv1.CheckReferencesRequest, _ ...grpc.CallOption,
) (*ledgerv1.CheckReferencesResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.balances[req.GetWalletId()]; !ok {
		return nil, apierr.New(restv1.Reason_WALLET_NOT_FOUND).GRPCStatus().Err()
	}
	return &ledgerv1.CheckReferencesResponse{}, l.unavailable
}

func (l *ledger) ReadBalances(
	_ context.Context, req *ledgerv1.ReadBalancesRequest, _ ...grpc.CallOption,
) (*ledgerv1.ReadBalancesResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	resp := &ledgerv1.ReadBalancesResponse{TimeZone: l.timeZone}
	for id, minor := range l.balances {
		if slices.Contains(req.GetWalletIds(), id) {
			resp.Balances = append(resp.Balances, &ledgerv1.WalletBalance{
				WalletId: id, Currency: "EUR", BalanceMinor: minor,
			})
		}
	}
	return resp, l.unavailable
}

// auth knows users by id and e-mail, unless it is unavailable.
type auth struct {
	authv1.AuthServiceClient
	users       []*authv1.User
	unavailable error
}

func (a *auth) GetUsers(
	_ context.Context, req *authv1.GetUsersRequest, _ ...grpc.CallOption,
) (*authv1.GetUsersResponse, error) {
	resp := &authv1.GetUsersResponse{}
	for _, u := range a.users {
		if slices.Contains(req.GetIds(), u.GetId()) {
			resp.Users = append(resp.Users, u)
		}
	}
	return resp, a.unavailable
}

func (a *auth) FindUserByEmail(
	_ context.Context, req *authv1.FindUserByEmailRequest, _ ...grpc.CallOption,
) (*authv1.FindUserByEmailResponse, error) {
	for _, u := range a.users {
		if u.GetEmail() == req.GetEmail() {
			return &authv1.FindUserByEmailResponse{User: u}, a.unavailable
		}
	}
	return nil, apierr.New(restv1.Reason_USER_NOT_FOUND).GRPCStatus().Err()
}

// bundle is a server on a separate database, with a user and two wallets.
type bundle struct {
	*Server
	ledger        *ledger
	auth          auth
	me            budgettest.User
	bank, savings string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	db, log := pgtest.New(t, os.DirFS("../..")), slog.New(slog.DiscardHandler)
	b := &bundle{
		ledger: &ledger{balances: map[string]int64{}}, me: budgettest.NewUser(t, "User"),
		bank:    "00000000-0000-7000-8000-000000000001",
		savings: "00000000-0000-7000-8000-000000000002",
	}
	b.ledger.balances[b.bank], b.ledger.balances[b.savings] = 500_00, 1000_00
	cursors, now := page.NewCursors("test"), func() time.Time { return budgettest.Today }
	notifications := notification.New(notification.Dependencies{
		DB: db, Cursors: cursors, WakeRelay: func() {}, Log: log, Now: now,
		NewID: budgettest.NewID,
	})
	b.Server = &Server{Dependencies: Dependencies{
		DB: db, Ledger: b.ledger, Notifications: notifications, Cursors: cursors, Log: log,
		Now: now, NewID: budgettest.NewID,
	}}
	b.Members = &sharing.Members{Kind: sharing.Goals, Dependencies: sharing.Dependencies{
		DB: db, Auth: &b.auth, Notifications: notifications, Cursors: cursors, Log: log, Now: now,
		NewID: budgettest.NewID,
	}}
	return b
}

// goal creates a goal of the user, in EUR.
func (b *bundle) goal(t *testing.T, target string) *budgetv1.Goal {
	t.Helper()
	resp, err := b.CreateGoal(b.me.Ctx,
		&budgetv1.CreateGoalRequest{Name: "Trip", Currency: "eur", Target: target})
	require.NoError(t, err)
	return resp.GetGoal()
}

func (b *bundle) assign(
	goal *budgetv1.Goal, wallet, amount string,
) (*budgetv1.Assignment, error) {
	resp, err := b.CreateAssignment(b.me.Ctx, &budgetv1.CreateAssignmentRequest{
		GoalId: goal.GetId(), WalletId: wallet, Amount: amount, Date: "2026-03-01",
	})
	return resp.GetAssignment(), err
}

func (b *bundle) unassign(a *budgetv1.Assignment) error {
	_, err := b.DeleteAssignment(b.me.Ctx, &budgetv1.DeleteAssignmentRequest{
		GoalId: a.GetGoalId(), AssignmentId: a.GetId(),
	})
	return err
}

func (b *bundle) get(t *testing.T, goal *budgetv1.Goal) *budgetv1.Goal {
	t.Helper()
	resp, err := b.GetGoal(b.me.Ctx, &budgetv1.GetGoalRequest{Id: goal.GetId()})
	require.NoError(t, err)
	return resp.GetGoal()
}

// events empties the outbox and returns the data of its events. All are for the user.
func (b *bundle) events(t *testing.T) []proto.Message {
	t.Helper()
	rows, err := pg.Values[[]byte](t.Context(), b.DB, `
		WITH deleted AS (DELETE FROM outbox RETURNING seq, user_id, data)
		SELECT data FROM deleted WHERE user_id = $1 ORDER BY seq`, b.me.ID)
	require.NoError(t, err)
	var events []proto.Message
	for _, row := range rows {
		var data anypb.Any
		require.NoError(t, proto.Unmarshal(row, &data))
		event, err := data.UnmarshalNew()
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// sums returns the number of the user's sums of a goal and a wallet.
func (b *bundle) sums(t *testing.T) int64 {
	t.Helper()
	return pgtest.Value[int64](t, b.DB,
		`SELECT count(*) FROM goal_wallets WHERE owner_id = $1`, b.me.ID)
}

// notified returns the number of the user's notifications.
func (b *bundle) notified(t *testing.T) int64 {
	t.Helper()
	return pgtest.Value[int64](t, b.DB,
		`SELECT count(*) FROM notifications WHERE user_id = $1`, b.me.ID)
}

// race runs calls concurrently, and returns their errors.
func race(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var racing sync.WaitGroup
	for i := range errs {
		racing.Go(func() { errs[i] = call(i) })
	}
	racing.Wait()
	return errs
}

// raceFor runs calls concurrently that change a goal. It locks the goal's row until all of them
// wait for it, so that they meet within their transactions.
func (b *bundle) raceFor(t *testing.T, goal *budgetv1.Goal, call func(i int) error) []error {
	t.Helper()
	tx, err := b.DB.Begin(t.Context())
	require.NoError(t, err)
	// The calls must not wait forever if the test fails.
	defer func() { _ = tx.Rollback(t.Context()) }()
	pgtest.Exec(t, tx, `SELECT id FROM goals WHERE id = $1 FOR UPDATE`, goal.GetId())
	var errs []error
	var racing sync.WaitGroup
	racing.Go(func() { errs = race(budgettest.Racers, call) })
	require.Eventually(t, func() bool {
		waiting, err := pg.Value[int](t.Context(), b.DB, `
			SELECT count(*)
			FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		return err == nil && waiting == budgettest.Racers
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Rollback(t.Context()))
	racing.Wait()
	return errs
}

// snapshotOf returns a goal as events contain it.
func snapshotOf(g *budgetv1.Goal) *budgetv1.Goal {
	snapshot := proto.CloneOf(g)
	snapshot.Progress, snapshot.Role, snapshot.OwnerName = nil, "", nil
	return snapshot
}

func requireEqual(t *testing.T, want, got proto.Message) {
	t.Helper()
	require.True(t, proto.Equal(want, got), "want %v\ngot  %v", want, got)
}

func newID() string { return uuid.NewString() }

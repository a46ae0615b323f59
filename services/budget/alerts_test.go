package budget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// fakeSpending is the ledger's spending by wallet and day, in US cents.
type fakeSpending struct {
	mu    sync.Mutex
	spent map[string]int64
}

func (l *fakeSpending) spend(wallet, day string, cents int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent[wallet+day] += cents
}

func (l *fakeSpending) sum(window *ledgerv1.SpendingWindow) *ledgerv1.Spending {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, _ := time.Parse(calendar.DateLayout, window.GetFrom())
	to, _ := time.Parse(calendar.DateLayout, window.GetTo())
	var sum int64
	for d := from; !d.After(to); d = d.AddDate(0, 0, 1) {
		sum += l.spent[window.GetWalletId()+d.Format(calendar.DateLayout)]
	}
	return &ledgerv1.Spending{
		Found: true, Amounts: []*ledgerv1.SpentAmount{{Currency: "USD", SpentMinor: sum}},
	}
}

func (b *bundle) books() *fakeSpending {
	l := &fakeSpending{spent: map[string]int64{}}
	b.ledger.spend = l.sum
	return l
}

func createdIn(owner uuid.UUID, of *budgetv1.Budget, day string) outbox.Received {
	created := &ledgerv1.TransactionCreated{Transaction: &ledgerv1.Transaction{
		WalletId: of.GetWalletId(), CategoryId: of.GetCategoryIds()[0],
		Date: day + "T00:00:00.000Z",
	}}
	return outbox.Received{ID: uuid.Must(uuid.NewV7()), UserID: owner, Data: created}
}

// apply applies events like the consumer, and does the due checks.
func (b *bundle) apply(t *testing.T, events ...outbox.Received) {
	t.Helper()
	require.NoError(t, pg.InTx(t.Context(), b.db,
		func(tx pgx.Tx) error { return b.applyEvents(t.Context(), tx, events) }))
	b.check(t)
}

func (b *bundle) check(t *testing.T) {
	t.Helper()
	for {
		n, err := b.server.notifications.CheckBudgets(t.Context())
		require.NoError(t, err)
		if n == 0 {
			break
		}
	}
}

// alerts empties the outbox and returns the published alerts, as "user threshold window".
func (b *bundle) alerts(t *testing.T) []string {
	t.Helper()
	var alerts []string
	for _, e := range b.events(t) {
		if m, ok := e.message(t).(*budgetv1.BudgetThresholdReached); ok {
			alerts = append(alerts,
				fmt.Sprintf("%s %d %s", e.UserID, m.GetThreshold(), m.GetWindowStart()))
		}
	}
	return alerts
}

func TestAlertOncePerWindow(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner, member, invited := env.user(t, "Owner"), env.user(t, "Member"), env.user(t, "Invited")
	made := env.budget(t, owner)
	env.join(t, owner, made.GetId(), member, "viewer")
	env.share(t, owner, made.GetId(), invited, "viewer")
	env.check(t)
	env.events(t)

	books.spend(made.GetWalletId(), "2026-03-10", 319_99)
	env.apply(t, createdIn(owner.ID, made, "2026-03-10"))
	require.Empty(t, env.alerts(t))

	books.spend(made.GetWalletId(), "2026-03-11", 1)
	env.apply(t, createdIn(owner.ID, made, "2026-03-11"))
	want := &budgetv1.BudgetThresholdReached{
		BudgetId: made.GetId(), BudgetName: made.GetName(), OwnerId: owner.ID.String(),
		Threshold: 80, WindowStart: "2026-02-28",
		WindowEnd: "2026-03-30", Currency: "USD", Limit: "400.00", Spent: "320.00",
	}
	requirePublished(t, env.events(t), want, owner, member)

	// A repeated event, less spending, and more spending below the next threshold raise nothing.
	env.apply(t, createdIn(owner.ID, made, "2026-03-11"))
	books.spend(made.GetWalletId(), "2026-03-11", -100_00)
	env.apply(t, createdIn(owner.ID, made, "2026-03-11"))
	books.spend(made.GetWalletId(), "2026-03-11", 150_00)
	env.apply(t, createdIn(owner.ID, made, "2026-03-11"))
	require.Empty(t, env.alerts(t))

	books.spend(made.GetWalletId(), "2026-03-12", 50_00)
	books.spend(made.GetWalletId(), "2026-04-01", 4000_00)
	env.apply(t, createdIn(owner.ID, made, "2026-03-12"), createdIn(owner.ID, made, "2026-04-01"))
	require.ElementsMatch(t,
		[]string{owner.ID.String() + " 100 2026-02-28", member.ID.String() + " 100 2026-02-28"},
		env.alerts(t))
}

func TestAlertWindows(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner := env.user(t, "Owner")
	req := newBudget()
	req.Period, req.StartDate = "weekly", "2020-01-06"
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	made := created.GetBudget()
	env.check(t)
	env.events(t)
	// Today, 2026-03-15, is in the week from 2026-03-09 to 2026-03-15. The ledger has the whole
	// batch before its first event arrives.
	var batch []outbox.Received
	for week := -150; week <= 10; week++ {
		day := date(t, "2026-03-10").AddDate(0, 0, 7*week).Format(calendar.DateLayout)
		books.spend(made.GetWalletId(), day, 500_00)
		batch = append(batch, createdIn(owner.ID, made, day))
	}
	for events := range slices.Chunk(batch, 20) {
		env.apply(t, events...)
	}
	require.ElementsMatch(t, []string{
		owner.ID.String() + " 80 2026-03-09", owner.ID.String() + " 100 2026-03-09",
		owner.ID.String() + " 100 2026-03-02",
	}, env.alerts(t))

	// A check that is done after its window became past raises nothing.
	pgtest.Exec(t, env.db, `INSERT INTO alert_checks (budget_id, day) VALUES ($1, $2)`,
		made.GetId(), date(t, "2026-02-23"))
	env.check(t)
	require.Empty(t, env.alerts(t))
	left := pgtest.Value[int](t, env.db, `SELECT count(*) FROM alert_checks`)
	require.Zero(t, left)

	upcoming, ended := newBudget(), newBudget()
	upcoming.StartDate = "2026-03-16"
	ended.StartDate, ended.EndDate = "2025-01-01", new("2025-03-01")
	for _, req := range []*budgetv1.CreateBudgetRequest{upcoming, ended} {
		req.WalletId = made.GetWalletId()
		_, err := env.CreateBudget(owner.Ctx, req)
		require.NoError(t, err)
		env.check(t)
		require.Empty(t, env.alerts(t), "a new budget that is not active")
	}
}

func TestAlertAfterChange(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner := env.user(t, "Owner")
	req := newBudget()
	books.spend(req.GetWalletId(), "2026-03-10", 100_00)
	req.AlertThresholds = &budgetv1.AlertThresholds{Values: []int32{50, 25, 50}}
	created, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	require.Equal(t, []int32{25, 50}, created.GetBudget().GetAlertThresholds())
	env.check(t)
	require.Equal(t, []string{owner.ID.String() + " 25 2026-02-28"}, env.alerts(t))

	update := &budgetv1.UpdateBudgetRequest{Id: created.GetBudget().GetId(), Limit: new("200")}
	_, err = env.UpdateBudget(owner.Ctx, update)
	require.NoError(t, err)
	env.check(t)
	require.Equal(t, []string{owner.ID.String() + " 50 2026-02-28"}, env.alerts(t))

	update = &budgetv1.UpdateBudgetRequest{
		Id: created.GetBudget().GetId(), Limit: new("10"),
		AlertThresholds: &budgetv1.AlertThresholds{},
	}
	updated, err := env.UpdateBudget(owner.Ctx, update)
	require.NoError(t, err)
	require.Empty(t, updated.GetBudget().GetAlertThresholds())
	env.apply(t, createdIn(owner.ID, created.GetBudget(), "2026-03-10"))
	require.Empty(t, env.alerts(t))
}

func TestUpdateBudgetThresholdErrors(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	made := env.budget(t, owner)
	for _, bad := range [][]int32{{0}, {-1}, {1001}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}} {
		e := budgettest.Refuses(t, env.db, codes.InvalidArgument, "VALIDATION_ERROR",
			pgtest.Call(owner.Ctx, env.UpdateBudget, &budgetv1.UpdateBudgetRequest{
				Id: made.GetId(), AlertThresholds: &budgetv1.AlertThresholds{Values: bad},
			}))
		require.Equal(t, "alertThresholds", e.Fields[0].Name)
	}
}

func TestCheckBudgetsConcurrentEvent(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner := env.user(t, "Owner")
	made := env.budget(t, owner)
	env.check(t)
	env.events(t)
	env.ledger.spend = func(w *ledgerv1.SpendingWindow) *ledgerv1.Spending {
		asked := books.sum(w)
		// More is spent after the ledger has answered and before the check is settled.
		env.ledger.spend = books.sum
		books.spend(made.GetWalletId(), "2026-03-10", 400_00)
		require.NoError(t, pg.InTx(t.Context(), env.db, func(tx pgx.Tx) error {
			return env.server.notifications.QueueChecks(t.Context(), tx,
				[]outbox.Received{createdIn(owner.ID, made, "2026-03-10")})
		}))
		return asked
	}
	env.apply(t, createdIn(owner.ID, made, "2026-03-10"))
	require.ElementsMatch(t,
		[]string{owner.ID.String() + " 80 2026-02-28", owner.ID.String() + " 100 2026-02-28"},
		env.alerts(t))
}

func TestCheckBudgetsRetry(t *testing.T) {
	t.Parallel()
	env := setup(t)
	books := env.books()
	owner := env.user(t, "Owner")
	made := env.budget(t, owner)
	books.spend(made.GetWalletId(), "2026-03-10", 320_00)
	env.ledger.unavailable = context.DeadlineExceeded
	_, err := env.server.notifications.CheckBudgets(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	env.ledger.unavailable = nil
	env.check(t)
	require.Empty(t, env.alerts(t), "the lease has not expired")
	env.now = func() time.Time { return budgettest.Today.Add(time.Minute) }
	env.check(t)
	require.Equal(t, []string{owner.ID.String() + " 80 2026-02-28"}, env.alerts(t))
}

package budget

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
	"github.com/coffer-budget/coffer/services/budget/internal/spending"
)

// TestAlertExactlyOnce stops relays, consumers and workers of two replicas at random times while
// events of many users arrive. In the end each reached threshold of each budget and window was
// published exactly once.
func TestAlertExactlyOnce(t *testing.T) {
	t.Parallel()
	env := setup(t)
	begin := time.Now()
	env.now = func() time.Time { return budgettest.Today.Add(time.Since(begin)) }
	books, url, ledgerDB := env.books(), natstest.New(t), pgtest.New(t, Migrations)
	const owners, each = 5, 60
	users, budgets := make([]budgettest.User, owners), make([]*budgetv1.Budget, owners)
	for i := range users {
		users[i] = env.user(t, fmt.Sprintf("Owner%d", i))
		budgets[i] = env.budget(t, users[i])
	}
	env.check(t)
	env.events(t)
	var writers sync.WaitGroup
	for i := range users {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for range each {
				// The writes continue while replicas are stopped and started.
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				day := budgettest.Today.AddDate(0, 0, -random.IntN(75)).Format(calendar.DateLayout)
				books.spend(budgets[i].GetWalletId(), day, 5_00+random.Int64N(40_00))
				e := createdIn(users[i].ID, budgets[i], day)
				assert.NoError(t, outbox.Add(t.Context(), ledgerDB,
					outbox.Event{ID: e.ID, UserID: e.UserID, Data: e.Data}))
			}
		})
	}
	random := rand.New(rand.NewPCG(7, owners))
	for range 12 {
		env.replicas(t, url, ledgerDB, time.Duration(20+random.IntN(200))*time.Millisecond,
			func() bool { return false })
	}
	writers.Wait()
	watcher, err := outbox.Connect(outbox.Config{NATSURL: url}, "test",
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer watcher.Close()
	env.replicas(t, url, ledgerDB, time.Minute, func() bool {
		var unpublished, left int
		require.NoError(t,
			ledgerDB.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&unpublished))
		require.NoError(t,
			env.db.QueryRow(t.Context(), `SELECT count(*) FROM alert_checks`).Scan(&left))
		lag, err := watcher.Lag(t.Context(), "budget-events")
		return err == nil && lag == 0 && unpublished == 0 && left == 0
	})
	var want []string
	recent := map[string]bool{}
	for index, made := range budgets {
		day := date(t, "2025-12-31")
		for ; day.Before(budgettest.Today); day = day.AddDate(0, 0, 20) {
			period := spending.Timeframe{Period: "monthly", Start: date(t, "2026-01-31")}.At(day)
			asked := &ledgerv1.SpendingWindow{
				WalletId: made.GetWalletId(), From: period.From.Format(calendar.DateLayout),
				To: period.LastDay().Format(calendar.DateLayout),
			}
			spent := spending.AmountIn(books.sum(asked).GetAmounts(), "USD")
			var hit []int32
			for _, threshold := range defaultThresholds {
				if spent*100 >= 400_00*int64(threshold) {
					hit = append(hit, threshold)
				}
			}
			for n, threshold := range hit {
				alert := fmt.Sprintf("%s %d %s", users[index].ID, threshold,
					period.From.Format(calendar.DateLayout))
				// In a window that has ended, a lower threshold is only published if a separate
				// check found it reached.
				if period.LastDay().Before(budgettest.Today) && n < len(hit)-1 {
					recent[alert] = true
					continue
				}
				want = append(want, alert)
			}
		}
	}
	slices.Sort(want)
	require.Greater(t, len(want), owners)
	got := env.alerts(t)
	slices.Sort(got)
	require.Len(t, slices.Compact(slices.Clone(got)), len(got), "an alert was published twice")
	require.Equal(t, slices.Compact(want),
		slices.DeleteFunc(got, func(alert string) bool { return recent[alert] }))
}

// replicas runs two replicas of the budget service, and the ledger's relay, until enough returns
// true or the time has passed.
func (b *bundle) replicas(
	t *testing.T, url string, ledgerDB *pgxpool.Pool, life time.Duration, enough func() bool,
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	var buses []*outbox.Bus
	for _, service := range []string{"ledger", "budget", "budget"} {
		bus, err := outbox.Connect(outbox.Config{NATSURL: url, NATSReplicas: 1}, service,
			slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		buses = append(buses, bus)
		if service == "ledger" {
			running.Go(func() { bus.Relay(ctx, ledgerDB) })
			continue
		}
		running.Go(func() {
			bus.Consume(ctx, b.db, b.consumer())
		})
		running.Go(func() { b.server.notifications.Alerts.Run(ctx) })
	}
	for ctx.Err() == nil && !enough() {
		time.Sleep(20 * time.Millisecond)
	}
	// Events that were applied now are not acknowledged. Events that were delivered are delivered
	// again after the ack timeout.
	for _, bus := range buses {
		bus.Close()
	}
	cancel()
}

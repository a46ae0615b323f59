package budget

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// in sets the clock, and the time zone of all owners in the ledger. A window of the month m has
// spent m dollars.
func (b *bundle) in(t *testing.T, now, zone string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	require.NoError(t, err)
	b.now = func() time.Time { return at }
	b.ledger.spend = func(w *ledgerv1.SpendingWindow) *ledgerv1.Spending {
		month := int64(date(t, w.GetFrom()).Month())
		return &ledgerv1.Spending{Found: true, TimeZone: zone, Amounts: []*ledgerv1.SpentAmount{
			{Currency: "USD", SpentMinor: month * 100},
		}}
	}
}

// TestBudgetsInTimeZones requires that the owner's time zone decides the current window and the
// status, for all readers.
func TestBudgetsInTimeZones(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner, viewer := env.user(t, "Owner"), env.user(t, "Viewer")
	req := newBudget()
	req.StartDate = "2026-01-01"
	made, err := env.CreateBudget(owner.Ctx, req)
	require.NoError(t, err)
	env.join(t, owner, made.GetBudget().GetId(), viewer, "viewer")
	starting := newBudget()
	starting.Name, starting.StartDate = "Later", "2026-02-01"
	later, err := env.CreateBudget(owner.Ctx, starting)
	require.NoError(t, err)
	for _, tc := range []struct{ now, zone, start, spent, later string }{
		{"2026-01-31T10:59:59Z", "Pacific/Auckland", "2026-01-01", "1.00", "upcoming"},
		{"2026-01-31T11:00:00Z", "Pacific/Auckland", "2026-02-01", "2.00", "active"},
		{"2026-01-31T11:00:00Z", "", "2026-01-01", "1.00", "upcoming"},
		{"2026-02-01T07:59:59Z", "America/Los_Angeles", "2026-01-01", "1.00", "upcoming"},
		{"2026-02-01T07:59:59Z", "UTC", "2026-02-01", "2.00", "active"},
		{"2026-02-01T08:00:00Z", "America/Los_Angeles", "2026-02-01", "2.00", "active"},
	} {
		env.in(t, tc.now, tc.zone)
		env.ledger.summed = nil
		one, err := env.GetBudget(viewer.Ctx,
			&budgetv1.GetBudgetRequest{Id: made.GetBudget().GetId()})
		require.NoError(t, err)
		require.Len(t, env.ledger.summed, 1, "the zone comes with the spending")
		require.Equal(t, []string{tc.start, tc.spent}, []string{
			one.GetBudget().GetProgress().GetWindowStart(),
			one.GetBudget().GetProgress().GetSpent(),
		}, tc)
		list, err := env.ListBudgets(owner.Ctx, &budgetv1.ListBudgetsRequest{})
		require.NoError(t, err)
		require.Len(t, env.ledger.summed, 2)
		require.Equal(t, tc.later, list.GetBudgets()[0].GetStatus(), tc)
		require.Equal(t, tc.start, list.GetBudgets()[1].GetProgress().GetWindowStart(), tc)
		changed, err := env.UpdateBudget(owner.Ctx,
			&budgetv1.UpdateBudgetRequest{Id: later.GetBudget().GetId(), Limit: new("401")})
		require.NoError(t, err)
		require.Equal(t, tc.later, changed.GetBudget().GetStatus(), tc)
		past, err := env.GetBudget(owner.Ctx,
			&budgetv1.GetBudgetRequest{Id: made.GetBudget().GetId(), At: new("2026-03-31")})
		require.NoError(t, err)
		require.Equal(t, "2026-03-01", past.GetBudget().GetProgress().GetWindowStart(),
			"a requested day has no zone")

		other := newBudget()
		other.Name, other.StartDate, other.Period = tc.now+tc.zone, "2026-02-01", "daily"
		created, err := env.CreateBudget(owner.Ctx, other)
		require.NoError(t, err)
		require.Equal(t, tc.later, created.GetBudget().GetStatus(), tc)
		_, err = env.DeleteBudget(owner.Ctx,
			&budgetv1.DeleteBudgetRequest{Id: created.GetBudget().GetId()})
		require.NoError(t, err)
	}
}

// TestAlertsInTimeZones requires that the owner's time zone decides which window is current, recent
// or future.
func TestAlertsInTimeZones(t *testing.T) {
	t.Parallel()
	january := []string{"80 2026-01-01", "100 2026-01-01"}
	ended := []string{"100 2026-01-01"}
	february := []string{"80 2026-02-01", "100 2026-02-01"}
	for _, tc := range []struct {
		name, now, zone string
		january         []string
		february        []string
	}{
		{"January in Los Angeles", "2026-02-01T07:59:59Z", "America/Los_Angeles", january, nil},
		{"February in Los Angeles", "2026-02-01T08:00:00Z", "America/Los_Angeles", ended, february},
		{"January in UTC", "2026-01-31T23:59:59Z", "", january, nil},
		{"February in Auckland", "2026-01-31T11:00:00Z", "Pacific/Auckland", ended, february},
		{"January in Auckland", "2026-01-31T10:59:59Z", "Pacific/Auckland", january, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := setup(t)
			owner := env.user(t, "Owner")
			env.in(t, tc.now, tc.zone)
			books := &fakeSpending{spent: map[string]int64{}}
			env.ledger.spend = func(w *ledgerv1.SpendingWindow) *ledgerv1.Spending {
				sum := books.sum(w)
				sum.TimeZone = tc.zone
				return sum
			}
			req := newBudget()
			req.StartDate = "2025-12-01"
			created, err := env.CreateBudget(owner.Ctx, req)
			require.NoError(t, err)
			made := created.GetBudget()
			env.check(t)
			env.events(t)
			alerts := map[string][]string{"2026-01-31": tc.january, "2026-02-01": tc.february}
			for day, raised := range alerts {
				books.spend(made.GetWalletId(), day, 500_00)
				env.apply(t, createdIn(owner.ID, made, day))
				var want []string
				for _, alert := range raised {
					want = append(want, owner.ID.String()+" "+alert)
				}
				require.ElementsMatch(t, want, env.alerts(t), day)
			}

			// A new budget whose current window has spending already is checked at once.
			again := newBudget()
			again.Name, again.StartDate, again.WalletId = "Again", "2025-12-01", uuid.NewString()
			books.spend(again.GetWalletId(), "2026-01-31", 500_00)
			books.spend(again.GetWalletId(), "2026-02-01", 500_00)
			_, err = env.CreateBudget(owner.Ctx, again)
			require.NoError(t, err)
			env.check(t)
			at, err := time.Parse(time.RFC3339, tc.now)
			require.NoError(t, err)
			current := calendar.MonthOf(calendar.Today(at, tc.zone)).Format(calendar.DateLayout)
			require.Subset(t, env.alerts(t), []string{
				owner.ID.String() + " 80 " + current, owner.ID.String() + " 100 " + current,
			})
		})
	}
}

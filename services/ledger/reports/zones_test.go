package reports

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// setZone stores the time zone of a user.
func (s *server) setZone(t require.TestingT, user uuid.UUID, zone string) {
	_, err := s.DB.Exec(context.Background(), `
		INSERT INTO settings (owner_id, time_zone, week_start, locale, base_currency, version,
			updated_at)
		VALUES ($1, $2, 'monday', '', '', 1, now())
		ON CONFLICT (owner_id) DO UPDATE SET time_zone = $2`, user, zone)
	require.NoError(t, err)
}

// TestGetSummaryInTimeZones requires that the current month, which is the default window, is that
// of the user's time zone, and that the zone changes nothing else.
func TestGetSummaryInTimeZones(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	late := user.Spends("5")
	late.Date = "2026-01-31T23:30:00Z"
	user.Create(t, late)
	for _, tc := range []struct{ now, zone, from, to string }{
		{"2026-01-31T10:59:59Z", "Pacific/Auckland", "2026-01-01", "2026-01-31"},
		{"2026-01-31T11:00:00Z", "Pacific/Auckland", "2026-02-01", "2026-02-28"},
		{"2026-02-01T07:59:59Z", "America/Los_Angeles", "2026-01-01", "2026-01-31"},
		{"2026-02-01T08:00:00Z", "America/Los_Angeles", "2026-02-01", "2026-02-28"},
		{"2026-01-31T23:59:59Z", "UTC", "2026-01-01", "2026-01-31"},
		{"2026-02-01T00:00:00Z", "UTC", "2026-02-01", "2026-02-28"},
		{"2026-02-15T00:00:00Z", "Pacific/Auckland", "2026-02-01", "2026-02-28"},
	} {
		at, err := time.Parse(time.RFC3339, tc.now)
		require.NoError(t, err)
		ledger := *srv.Service.Ledger
		ledger.Now = func() time.Time { return at }
		reports := &Reports{Ledger: &ledger, Reads: srv.Service.Reads}
		srv.setZone(t, user.ID, tc.zone)
		for _, include := range [][]string{nil, {"daily"}} {
			resp, err := reports.GetSummary(user.Ctx, &summaryRequest{Include: include})
			require.NoError(t, err)
			require.Equal(t, []string{tc.from, tc.to},
				[]string{resp.GetSummary().GetFrom(), resp.GetSummary().GetTo()}, tc)
			want := int32(0)
			if tc.from == "2026-01-01" {
				want = 1
			}
			require.Equal(t, want, resp.GetSummary().GetTotals()[0].GetTransactionCount(),
				"the day of a transaction is the one in UTC")
		}
		resp, err := reports.GetSummary(user.Ctx, &summaryRequest{From: new("2025-12-15")})
		require.NoError(t, err)
		require.Equal(t, tc.to, resp.GetSummary().GetTo(), tc)
		resp, err = reports.GetSummary(user.Ctx, ask("2026-01-31", "2026-01-31"))
		require.NoError(t, err)
		require.Equal(t, int32(1), resp.GetSummary().GetTotals()[0].GetTransactionCount(),
			"a requested window has no zone")
	}
}

// TestSumSpendingTimeZone requires that each window has the time zone of its owner, also if the
// wallet does not exist.
func TestSumSpendingTimeZone(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	first, second := srv.NewUser(t.Context(), t), srv.NewUser(t.Context(), t)
	srv.setZone(t, first.ID, "Pacific/Auckland")
	window := func(u fixture.User, wallet uuid.UUID) *ledgerv1.SpendingWindow {
		return &ledgerv1.SpendingWindow{
			OwnerId: u.ID.String(), WalletId: wallet.String(),
			CategoryIds: []string{u.Category.String()}, From: "2026-03-01", To: "2026-03-31",
		}
	}
	resp, err := srv.SumSpending(t.Context(), &spendingRequest{Windows: []*ledgerv1.SpendingWindow{
		window(first, first.Wallet), window(second, second.Wallet), window(first, second.Wallet),
	}})
	require.NoError(t, err)
	type answer struct {
		found bool
		zone  string
	}
	var got []answer
	for _, spending := range resp.GetSpendings() {
		got = append(got, answer{spending.GetFound(), spending.GetTimeZone()})
	}
	require.Equal(t, []answer{{true, "Pacific/Auckland"}, {true, ""}, {false, "Pacific/Auckland"}},
		got)
}

package reports

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestParseInclude(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	with := func(from, to string, include ...string) *summaryRequest {
		req := ask(from, to)
		req.Include = include
		return req
	}
	for name, tc := range map[string]struct {
		req   *summaryRequest
		field string
	}{
		"a month":              {with("2026-03-01", "2026-03-31", "daily"), ""},
		"the same value twice": {with("2026-03-01", "2026-03-31", "daily", "daily"), ""},
		"400 days":             {with("2025-01-01", "2026-02-04", "daily"), ""},
		"401 days":             {with("2025-01-01", "2026-02-05", "daily"), "to"},
		"400 days and a moment": {
			with("2025-01-01", "2026-02-05T00:00:00Z", "daily"), "to",
		},
		"401 days without the days":       {with("2025-01-01", "2026-02-05"), ""},
		"more than ten years":             {with("2016-03-01", "2026-03-01", "daily"), "to"},
		"a window that ends at its start": {with("2026-03-02", "2026-03-01", "daily"), "from"},
		"an unknown part":                 {with("2026-03-01", "2026-03-31", "weekly"), "include"},
		"an empty part":                   {with("2026-03-01", "2026-03-31", ""), "include"},
		"a known part and an unknown part": {
			with("2026-03-01", "2026-03-31", "daily", "totals"), "include",
		},
		"days and tags":     {with("2026-03-01", "2026-03-31", "tags", "daily"), ""},
		"ten years of tags": {with("2016-03-01", "2026-02-28", "tags"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := srv.GetSummary(ctx, tc.req)
			if tc.field != "" {
				e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
				require.Equal(t, []string{tc.field}, fixture.FieldNames(e))
				return
			}
			require.NoError(t, err)
			require.Equal(t, slices.Contains(tc.req.GetInclude(), "daily"),
				resp.GetSummary().GetDaily() != nil)
			require.Empty(t, resp.GetSummary().GetDaily().GetValues())
			require.Equal(t, slices.Contains(tc.req.GetInclude(), "tags"),
				resp.GetSummary().GetByTag() != nil)
			require.Empty(t, resp.GetSummary().GetByTag().GetValues())
		})
	}
}

func TestDailyProtoLimits(t *testing.T) {
	t.Parallel()
	days := make([]day, maxDailyRows)
	for i := range days {
		days[i] = day{
			Day:      at("2026-03-01").AddDate(0, 0, i/25),
			Currency: []string{"EUR", "JPY"}[i%2], Count: 1,
		}
	}
	got, err := dailyProto(days, "")
	require.NoError(t, err)
	require.Len(t, got.GetValues(), maxDailyRows)
	days = append(days, day{Currency: "EUR", Count: 1})
	_, err = dailyProto(days, "")
	require.ErrorIs(t, err, errTooManyCurrencies)
	got, err = dailyProto(days, "EUR")
	require.NoError(t, err)
	require.Len(t, got.GetValues(), maxDailyRows/2+1)
	days = []day{{Currency: "EUR", Count: maxReadTransactions - 1}, {Currency: "JPY", Count: 1}}
	_, err = dailyProto(days, "EUR")
	require.NoError(t, err)
	days[1].Count++
	_, err = dailyProto(days, "EUR")
	require.ErrorIs(t, err, errTooManyTransactions)
}

// TestGetSummaryDailyLimit reads a window with one transaction more than allowed.
func TestGetSummaryDailyLimit(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	insert := func(n int, date time.Time) {
		pgtest.Exec(t, me.DB, `
			INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
				amount_e4, description, date, created_at, updated_at)
			SELECT gen_random_uuid(), $1, $2, $3, 'EUR', -100, -10000, '', $4, $4, $4
			FROM generate_series(1, $5)`,
			me.ID, me.Wallet, me.Category, date, n)
	}
	insert(maxReadTransactions, fixture.Today)
	insert(1, fixture.Today.AddDate(0, 0, 1))
	req := ask("2026-03-15", "2026-03-15")
	req.Include = []string{"daily"}
	resp, err := me.GetSummary(me.Ctx, req)
	require.NoError(t, err)
	require.Len(t, resp.GetSummary().GetDaily().GetValues(), 1)
	require.Equal(t, "100000.00", resp.GetSummary().GetDaily().GetValues()[0].GetExpense())
	req.To = new("2026-03-16")
	_, err = me.GetSummary(me.Ctx, req)
	require.ErrorIs(t, err, errTooManyTransactions)
	req.Include = []string{"tags"}
	_, err = me.GetSummary(me.Ctx, req)
	require.ErrorIs(t, err, errTooManyTransactions)
	req.To = new("2026-03-15")
	_, err = me.GetSummary(me.Ctx, req)
	require.NoError(t, err)
}

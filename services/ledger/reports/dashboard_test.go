package reports

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/calendar"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// at reads a date, or a date and a time of day.
func at(s string) time.Time {
	if len(s) == len(calendar.DateLayout) {
		s += "T00:00"
	}
	t, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestTrend(t *testing.T) {
	t.Parallel()
	between := func(from, end string) calendar.Period {
		return calendar.Period{From: at(from), End: at(end)}
	}
	for period, want := range map[calendar.Period]calendar.Period{
		between("2026-03-01", "2026-04-01"):       between("2025-04-01", "2026-04-01"),
		between("2026-01-01", "2026-02-01"):       between("2025-02-01", "2026-02-01"),
		between("2026-01-01", "2026-04-01"):       between("2025-04-01", "2026-04-01"),
		between("2025-01-01", "2026-01-01"):       between("2025-01-01", "2026-01-01"),
		between("2026-03-10", "2026-03-13"):       between("2025-04-01", "2026-04-01"),
		between("2026-01-31", "2026-04-02"):       between("2025-05-01", "2026-05-01"),
		between("2026-02-02", "2026-03-31"):       between("2025-04-01", "2026-04-01"),
		between("2026-02-01", "2026-03-01T10:30"): between("2025-04-01", "2026-04-01"),
	} {
		require.Equal(t, want, trend(period))
	}
}

func TestParseSummary(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	for name, tc := range map[string]struct {
		req      *summaryRequest
		from, to string
		reason   string
		fields   []string
	}{
		"without bounds it is the current month": {
			req: &summaryRequest{}, from: "2026-03-01", to: "2026-03-31",
		},
		"a bare date is a whole day": {
			req: ask("2026-03-15", "2026-03-15"), from: "2026-03-15", to: "2026-03-15",
		},
		"a time is taken as UTC": {
			req: ask("2026-03-01T01:00:00+02:00", "2026-03-14T23:00:00-02:00"), from: "2026-02-28",
			to: "2026-03-15",
		},
		"one moment is a window": {
			req: ask("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"), from: "2026-03-01",
			to: "2026-03-01",
		},
		"without an end it ends with the month": {
			req: &summaryRequest{From: new("2025-12-24")}, from: "2025-12-24", to: "2026-03-31",
		},
		"without a start it starts with the month": {
			req: &summaryRequest{To: new("2026-03-02")}, from: "2026-03-01", to: "2026-03-02",
		},
		"a later start ends with its own month": {
			req: &summaryRequest{From: new("2026-04-10")}, from: "2026-04-10", to: "2026-04-30",
		},
		"an earlier end starts with its own month": {
			req: &summaryRequest{To: new("2025-12-24")}, from: "2025-12-01", to: "2025-12-24",
		},
		"ten years are allowed": {
			req: ask("2016-03-01", "2026-02-28"), from: "2016-03-01", to: "2026-02-28",
		},
		"the first years are allowed": {
			req: ask("1900-01-01", "1900-01-31"), from: "1900-01-01", to: "1900-01-31",
		},
		"the last years are allowed": {
			req: ask("2200-12-01", "2200-12-31"), from: "2200-12-01", to: "2200-12-31",
		},
		"more than ten years are refused": {
			req: ask("2016-03-01", "2026-03-01"), reason: "VALIDATION_ERROR",
			fields: []string{"to"},
		},
		"an upside-down window is refused": {
			req: ask("2026-03-02", "2026-03-01"), reason: "VALIDATION_ERROR",
			fields: []string{"from"},
		},
		"dates that are none are refused": {
			req: ask("yesterday", "2026-02-30"), reason: "INVALID_TRANSACTION_DATE",
			fields: []string{"from", "to"},
		},
		"an empty date is refused": {
			req: ask("", "2026-02-28"), reason: "INVALID_TRANSACTION_DATE",
			fields: []string{"from"},
		},
		"a currency that is none is refused": {
			req: &summaryRequest{Currency: new("EURO")}, reason: "UNSUPPORTED_CURRENCY",
			fields: []string{"currency"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := srv.GetSummary(ctx, tc.req)
			if tc.reason == "" {
				require.NoError(t, err)
				require.Equal(t, tc.from, resp.GetSummary().GetFrom())
				require.Equal(t, tc.to, resp.GetSummary().GetTo())
				return
			}
			var fields []string
			e := fixture.RequireReason(t, err, codes.InvalidArgument, tc.reason)
			for _, f := range e.Fields {
				fields = append(fields, f.Name)
			}
			require.Equal(t, tc.fields, fields)
		})
	}
}

func ask(from, to string) *summaryRequest {
	return &summaryRequest{From: &from, To: &to}
}

func TestGetSummaryOfNewUser(t *testing.T) {
	t.Parallel()
	s := setup(t)
	resp, err := s.GetSummary(fixture.ActAs(t.Context(), s.NewID()), &summaryRequest{})
	require.NoError(t, err)
	want := &ledgerv1.Summary{From: "2026-03-01", To: "2026-03-31"}
	require.True(t, proto.Equal(want, resp.GetSummary()), resp.GetSummary())
}

func TestGetSummaryOfUnusedCurrency(t *testing.T) {
	t.Parallel()
	s := setup(t)
	resp, err := s.GetSummary(fixture.ActAs(t.Context(), s.NewID()),
		&summaryRequest{Currency: new("jpy")})
	require.NoError(t, err)
	zero := []*ledgerv1.Totals{{Currency: "JPY", Income: "0", Expense: "0", Net: "0", Balance: "0"}}
	requireSame(t, zero, resp.GetSummary().GetTotals())
	requireSame(t, zero, resp.GetSummary().GetPrevious())
	require.Len(t, resp.GetSummary().GetTrend(), 12)
	requireSame(t, []*ledgerv1.MonthTotals{{
		Month: "2025-04", Currency: "JPY", Income: "0", Expense: "0", Net: "0",
	}}, resp.GetSummary().GetTrend()[:1])
}

func TestGetSummaryShowsUnusedWallet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := fixture.ActAs(t.Context(), s.NewID())
	id := s.MakeWallet(ctx, t, "Cash", "EUR")
	resp, err := s.GetSummary(ctx, &summaryRequest{})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.WalletTotals{{
		WalletId: id.String(), Name: "Cash", Currency: "EUR", Income: "0.00", Expense: "0.00",
		Net: "0.00", Balance: "0.00", TransferredIn: "0.00", TransferredOut: "0.00",
		Adjusted: "0.00",
	}}, resp.GetSummary().GetByWallet())
	requireSame(t, []*ledgerv1.Totals{{
		Currency: "EUR", Income: "0.00", Expense: "0.00", Net: "0.00", Balance: "0.00",
	}}, resp.GetSummary().GetTotals())
	require.Len(t, resp.GetSummary().GetTrend(), 12)
}

func TestGetSummaryOfThePast(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	resp, err := srv.CreateWallet(ctx, &ledgerv1.CreateWalletRequest{
		Name: "Cash", Currency: "EUR", Balance: new("100"), OpeningDate: new("2026-01-01"),
	})
	require.NoError(t, err)
	wallet, category := uuid.MustParse(resp.GetWallet().GetId()), srv.MakeCategory(ctx, t, "Food")
	entry := func(day, currency string, amount int64) posting.Transaction {
		return posting.Transaction{
			WalletID: wallet, CategoryID: &category, AmountMinor: amount,
			Currency: currency, Date: at(day),
		}
	}
	srv.Record(ctx, t, entry("2026-01-10", "EUR", -1000), entry("2026-01-20", "EUR", -200),
		entry("2026-02-20", "EUR", -30), entry("2026-03-10", "EUR", -4),
		entry("2026-01-15", "JPY", -9000), entry("2026-02-15", "JPY", 9000))
	balances := func(of []*ledgerv1.Totals) map[string]string {
		byCurrency := map[string]string{}
		for _, m := range of {
			byCurrency[m.GetCurrency()] = m.GetBalance()
		}
		return byCurrency
	}
	for name, tc := range map[string]struct {
		from, to         string
		totals, previous map[string]string
	}{
		"a whole month": {
			"2026-01-01", "2026-01-31",
			map[string]string{"EUR": "88.00", "JPY": "-9000"},
			map[string]string{"EUR": "0.00", "JPY": "0"},
		},
		"a window within a month": {
			"2026-01-15", "2026-01-19",
			map[string]string{"EUR": "90.00", "JPY": "-9000"},
			map[string]string{"EUR": "90.00", "JPY": "0"},
		},
		"a window over two months": {
			"2026-01-20", "2026-02-17",
			map[string]string{"EUR": "88.00", "JPY": "0"},
			map[string]string{"EUR": "90.00", "JPY": "-9000"},
		},
		"the current month": {
			"2026-03-01", "2026-03-31",
			map[string]string{"EUR": "87.66"},
			map[string]string{"EUR": "87.70", "JPY": "0"},
		},
		"before the opening day": {
			"2025-12-31", "2025-12-31",
			map[string]string{"EUR": "0.00"},
			map[string]string{"EUR": "0.00"},
		},
		"the opening day": {
			"2026-01-01", "2026-01-01",
			map[string]string{"EUR": "100.00"},
			map[string]string{"EUR": "0.00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := srv.GetSummary(ctx, ask(tc.from, tc.to))
			require.NoError(t, err)
			require.Equal(t, tc.totals, balances(resp.GetSummary().GetTotals()))
			require.Equal(t, tc.previous, balances(resp.GetSummary().GetPrevious()))
			for _, w := range resp.GetSummary().GetByWallet() {
				require.Equal(t, tc.totals[w.GetCurrency()], w.GetBalance())
			}
		})
	}
}

func TestGetSummaryCategoryPercentages(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	ctx := fixture.ActAs(t.Context(), srv.NewID())
	wallet, food := srv.MakeWallet(ctx, t, "Cash", "EUR"), srv.MakeCategory(ctx, t, "Food")
	fun, pay := srv.MakeCategory(ctx, t, "Fun"), srv.MakeCategory(ctx, t, "Pay")
	entry := func(category uuid.UUID, amount int64) posting.Transaction {
		return posting.Transaction{
			WalletID: wallet, CategoryID: &category, AmountMinor: amount,
			Currency: "EUR", Date: fixture.Today,
		}
	}
	srv.Record(ctx, t, entry(food, -100), entry(food, -100), entry(fun, -100), entry(fun, 30),
		entry(pay, 100_000))
	resp, err := srv.GetSummary(ctx, &summaryRequest{})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.CategoryTotals{
		{
			CategoryId: food.String(), Name: "Food", Currency: "EUR", Income: "0.00",
			Expense: "2.00", Percentage: 66.67,
		},
		{
			CategoryId: fun.String(), Name: "Fun", Currency: "EUR", Income: "0.30", Expense: "1.00",
			Percentage: 33.33,
		},
		{
			CategoryId: pay.String(), Name: "Pay", Currency: "EUR", Income: "1000.00",
			Expense: "0.00",
		},
	}, resp.GetSummary().GetByCategory())
}

func TestGetSummaryOmitsOtherUsers(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	other := fixture.ActAs(t.Context(), srv.NewID())
	srv.Record(other, t, posting.Transaction{
		WalletID:    srv.MakeWallet(other, t, "Cash", "EUR"),
		CategoryID:  new(srv.MakeCategory(other, t, "Food")),
		AmountMinor: -100, Currency: "EUR", Date: fixture.Today,
	})
	resp, err := srv.GetSummary(fixture.ActAs(t.Context(), srv.NewID()),
		ask("2026-03-02", "2026-03-20"))
	require.NoError(t, err)
	want := &ledgerv1.Summary{From: "2026-03-02", To: "2026-03-20"}
	require.True(t, proto.Equal(want, resp.GetSummary()), resp.GetSummary())
}

package series

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

type wantedBalances = ledgerv1.GetBalancesRequest

func TestGetBalances(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	house, err := s.CreateWallet(u.Ctx, &ledgerv1.CreateWalletRequest{
		Name: "House", Currency: "EUR", Kind: new("asset"), Balance: new("1000"),
		OpeningDate: new("2026-02-10"), Position: new(int32(1)),
	})
	require.NoError(t, err)
	u.Create(t, u.Spends("3.50"))
	resp, err := reports.GetBalances(u.Ctx, &wantedBalances{
		From: new("2026-01-01"), To: new("2026-03-14"),
	})
	require.NoError(t, err)
	report := resp.GetBalances()
	require.Equal(t, "month", report.GetInterval())
	require.Len(t, report.GetIntervals(), 3)
	require.Equal(t, "2026-03-14", report.GetIntervals()[2].GetEnd())
	require.Len(t, report.GetWallets(), 2)
	first, second := report.GetWallets()[0], report.GetWallets()[1]
	require.Equal(t, house.GetWallet().GetId(), first.GetWalletId())
	require.Equal(t, []string{"House", "asset"}, []string{first.GetName(), first.GetKind()})
	require.Equal(t, []string{"0.00", "1000.00", "1000.00"}, first.GetBalances())
	require.Equal(t, []string{"0.00", "0.00", "-3.50"}, second.GetBalances())
	totals := report.GetTotals()[0]
	require.Equal(t, []string{"0.00", "1000.00", "1000.00"}, totals.GetAssets())
	require.Equal(t, []string{"0.00", "0.00", "3.50"}, totals.GetDebts())
	require.Equal(t, []string{"0.00", "1000.00", "996.50"}, totals.GetNet())

	filtered, err := reports.GetBalances(u.Ctx, &wantedBalances{
		From: new("2026-01-01"), To: new("2026-03-14"), WalletId: []string{u.Wallet.String()},
		Interval: new("week"), Currency: new("eur"),
	})
	require.NoError(t, err)
	require.Len(t, filtered.GetBalances().GetWallets(), 1)
	weeks := filtered.GetBalances().GetWallets()[0].GetBalances()
	require.Equal(t, []string{"0.00", "-3.50"}, weeks[len(weeks)-2:])
}

// TestGetBalancesOfDays reads a month that ends a week, of which the first days belong to the
// interval before, and the bounds of all dates.
func TestGetBalancesOfDays(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	for _, day := range []string{"1900-01-01", "2024-02-29", "2200-12-31"} {
		req := u.Spends("1")
		req.Date = day
		u.Create(t, req)
	}
	for name, tc := range map[string]struct {
		from, to, interval string
		want               []string
	}{
		"leap day": {"2024-02-28", "2024-03-01", "day", []string{"-1.00", "-2.00", "-2.00"}},
		"first":    {"1900-01-01", "1900-01-01", "day", []string{"-1.00"}},
		"last":     {"2200-12-30", "2200-12-31", "day", []string{"-2.00", "-3.00"}},
		"years":    {"2023-07-01", "2024-02-28", "year", []string{"-1.00", "-1.00"}},
	} {
		resp, err := reports.GetBalances(u.Ctx, &wantedBalances{
			From: &tc.from, To: &tc.to, Interval: &tc.interval,
		})
		require.NoError(t, err, name)
		require.Equal(t, tc.want, resp.GetBalances().GetWallets()[0].GetBalances(), name)
	}
	_, err := reports.GetBalances(u.Ctx, &wantedBalances{
		From: new("1900-01-01"), To: new("2200-12-31"), Interval: new("month"),
	})
	fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	_, err = reports.GetBalances(fixture.ActAs(t.Context(), s.NewID()),
		&wantedBalances{WalletId: []string{u.Wallet.String()}})
	fixture.RequireReason(t, err, codes.NotFound, "WALLET_NOT_FOUND")
}

func TestGetBalancesTooLarge(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	u.Create(t, u.Spends("1"))
	_, err := s.DB.Exec(t.Context(), `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, version, created_at, updated_at)
		SELECT gen_random_uuid(), owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, '', date, 1, created_at, updated_at
		FROM transactions, generate_series(1, 100000)`)
	require.NoError(t, err)
	week := &wantedBalances{
		From: new("2026-03-01"), To: new("2026-03-31"), Interval: new("week"),
	}
	_, err = reports.GetBalances(u.Ctx, week)
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "REPORT_TOO_LARGE")
	require.Equal(t, []string{"interval"}, fixture.FieldNames(e))
	week.Interval = new("month")
	_, err = reports.GetBalances(u.Ctx, week)
	require.NoError(t, err)

	s.MakeWallets(u.Ctx, t, 450, "EUR")
	_, err = s.DB.Exec(t.Context(), `UPDATE wallet_balances SET amount_minor = 1`)
	require.NoError(t, err)
	_, err = reports.GetBalances(u.Ctx, &wantedBalances{
		From: new("2026-01-01"), To: new("2026-12-31"), Interval: new("day"),
		Currency: new("EUR"),
	})
	e = fixture.RequireReason(t, err, codes.InvalidArgument, "REPORT_TOO_LARGE")
	require.Equal(t, []string{"interval"}, fixture.FieldNames(e))
}

func TestGetBalancesOfArchivedWallets(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	spent := posting.Transaction{
		WalletID: u.Wallet, CategoryID: &u.Category, AmountMinor: 500, Currency: "EUR",
		Date: fixture.Today.AddDate(0, -2, 0),
	}
	s.Record(u.Ctx, t, spent)
	_, err := s.UpdateWallet(u.Ctx,
		&ledgerv1.UpdateWalletRequest{Id: u.Wallet.String(), Archived: new(true)})
	require.NoError(t, err)
	resp, err := reports.GetBalances(u.Ctx, &wantedBalances{
		From: new("2025-12-01"), To: new("2026-03-31"),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"0.00", "5.00", "0.00", "0.00"},
		resp.GetBalances().GetWallets()[0].GetBalances())
	require.Equal(t, []string{"0.00", "5.00", "0.00", "0.00"},
		resp.GetBalances().GetTotals()[0].GetNet())
}

func TestExportBalances(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	wallet, err := s.CreateWallet(u.Ctx, &ledgerv1.CreateWalletRequest{
		Name: "=House", Currency: "JPY", Kind: new("loan"), Balance: new("-7"),
		OpeningDate: new(""),
	})
	require.NoError(t, err)
	u.Create(t, u.Spends("3.50"))
	stream := &fixture.DownloadStream[ledgerv1.ExportBalancesResponse]{Ctx: u.Ctx}
	require.NoError(t, reports.ExportBalances(&ledgerv1.ExportBalancesRequest{
		From: new("2026-03-01"), To: new("2026-03-31"),
	}, stream))
	require.Equal(t, "coffer-balances-2026-03-01-2026-03-31.csv",
		stream.Sent[0].GetHeader().GetFileName())
	var file strings.Builder
	for _, m := range stream.Sent {
		file.Write(m.GetContent())
	}
	rows, err := csv.NewReader(strings.NewReader(file.String())).ReadAll()
	require.NoError(t, err)
	const start, end = "2026-03-01", "2026-03-31"
	require.Equal(t, [][]string{
		{"group", "key", "name", "kind", "start", "end", "balance", "currency"},
		{"wallet", wallet.GetWallet().GetId(), "'=House", "loan", start, end, "-7", "JPY"},
		{"wallet", u.Wallet.String(), "Cash", "other", start, end, "-3.50", "EUR"},
		{"assets", "", "", "", start, end, "0.00", "EUR"},
		{"debts", "", "", "", start, end, "3.50", "EUR"},
		{"net", "", "", "", start, end, "-3.50", "EUR"},
		{"assets", "", "", "", start, end, "0", "JPY"},
		{"debts", "", "", "", start, end, "7", "JPY"},
		{"net", "", "", "", start, end, "-7", "JPY"},
	}, rows)
}

// TestGetBalancesPlans requires that balances at the ends of months read sums only, and that others
// read the transactions of their months.
func TestGetBalancesPlans(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, s.DB)
	on := fixture.On(pool)
	reports := &Reports{Ledger: on.Ledger, Reads: on.Reads}
	for name, tc := range map[string]struct {
		req         *wantedBalances
		rows, pages int
	}{
		"ten years": {
			&wantedBalances{From: new("2016-04-01"), To: new("2026-03-31")}, 12_000, 1000,
		},
		"ten years until a day": {
			&wantedBalances{From: new("2016-04-01"), To: new("2026-03-15")}, 16_000, 5000,
		},
		"a wallet": {&wantedBalances{
			From: new("2025-04-01"), To: new("2026-03-31"), WalletId: []string{u.Wallet.String()},
		}, 3000, 1000},
	} {
		for range 7 {
			_, err := reports.GetBalances(u.Ctx, tc.req)
			require.NoError(t, err, name)
			plans.RequireCheap(t, tc.rows, tc.pages)
		}
	}
}

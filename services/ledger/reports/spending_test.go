package reports

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/reads"
)

func (p person) window(from, to string) *ledgerv1.SpendingWindow {
	return &ledgerv1.SpendingWindow{
		OwnerId: p.ID.String(), WalletId: p.Wallet.String(),
		CategoryIds: []string{p.Category.String()}, From: from, To: to,
	}
}

func TestSumSpendingOutOfRange(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, rich := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("10"))
	other := srv.MakeCategory(rich.Ctx, t, "Other")
	for month := 1; month <= 12; month++ {
		// As much comes back in another category: balances are bounded, and so are the sums of a
		// month.
		var both []*ledgerv1.CreateTransactionRequest
		for range 90 {
			out := rich.Spends("999999999999")
			out.Currency, out.Date = "CLF", fmt.Sprintf("2026-%02d-03", month)
			in := proto.CloneOf(out)
			in.Type, in.CategoryId = new(posting.Income), other.String()
			both = append(both, out, in)
		}
		_, err := rich.CreateTransactions(rich.Ctx,
			&ledgerv1.CreateTransactionsRequest{Transactions: both})
		require.NoError(t, err)
	}
	resp, err := srv.SumSpending(t.Context(), &spendingRequest{Windows: []*ledgerv1.SpendingWindow{
		me.window("2026-03-01", "2026-03-31"), rich.window("2026-01-01", "2026-12-31"),
	}})
	require.NoError(t, err)
	require.EqualValues(t, 1000, resp.GetSpendings()[0].GetAmounts()[0].GetSpentMinor())
	require.EqualValues(t, maxSpent, resp.GetSpendings()[1].GetAmounts()[0].GetSpentMinor())
}

func TestMonthsAreUTC(t *testing.T) {
	t.Parallel()
	config := setup(t).DB.Config()
	config.ConnConfig.RuntimeParams["timezone"] = "America/New_York"
	west, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(west.Close)
	srv := serve(t.Context(), fixture.On(west))
	me := newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("10"))
	_, err = me.CreateTransactions(me.Ctx, &ledgerv1.CreateTransactionsRequest{
		Transactions: []*ledgerv1.CreateTransactionRequest{me.Spends("5")},
	})
	require.NoError(t, err)
	resp, err := srv.SumSpending(t.Context(), &spendingRequest{Windows: []*ledgerv1.SpendingWindow{
		me.window("2026-02-01", "2026-02-28"), me.window("2026-03-01", "2026-03-31"),
	}})
	require.NoError(t, err)
	require.Empty(t, resp.GetSpendings()[0].GetAmounts())
	require.EqualValues(t, 1500, resp.GetSpendings()[1].GetAmounts()[0].GetSpentMinor())
	srv.RequireConsistent(t)
}

func TestSumSpending(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me, stranger := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("5"))
	refund := me.Spends("7")
	refund.Type, refund.Date, refund.Currency = nil, "2026-03-31T23:59:59Z", "USD"
	me.Create(t, refund)
	stranger.Create(t, stranger.Spends("1"))

	gone, foreign := me.window("2026-03-01", "2026-03-31"), me.window("2026-03-01", "2026-03-31")
	gone.WalletId = srv.NewID().String()
	foreign.WalletId = stranger.Wallet.String()
	none := me.window("2026-03-01", "2026-03-31")
	none.CategoryIds = nil
	resp, err := srv.SumSpending(t.Context(), &spendingRequest{Windows: []*ledgerv1.SpendingWindow{
		me.window("2026-03-01", "2026-03-31"), me.window("2026-03-14", "2026-03-14"), gone,
		me.window("2026-04-01", "2026-04-30"), foreign, none,
	}})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.Spending{
		{Found: true, Amounts: []*ledgerv1.SpentAmount{
			{Currency: "EUR", SpentMinor: 500}, {Currency: "USD", SpentMinor: -700},
		}},
		{Found: true, Amounts: []*ledgerv1.SpentAmount{{Currency: "EUR", SpentMinor: 500}}},
		{},
		{Found: true},
		{},
		{Found: true},
	}, resp.GetSpendings())
}

func TestSumSpendingReadLimit(t *testing.T) {
	t.Parallel()
	base := fixture.New(t)
	base.Reads = reads.NewGates(1, 0)
	srv := serve(t.Context(), base)
	me := newPerson(t.Context(), t, srv)
	sum := func(user string) error {
		_, err := srv.SumSpending(t.Context(), &spendingRequest{
			UserId:  user,
			Windows: []*ledgerv1.SpendingWindow{me.window("2026-03-01", "2026-03-31")},
		})
		return err
	}
	leave, err := base.Reads.Enter(t.Context(), me.ID)
	require.NoError(t, err)
	fixture.RequireReason(t, sum(me.ID.String()), codes.ResourceExhausted, "RATE_LIMITED")
	require.NoError(t, sum(srv.NewID().String()), "another user")
	require.NoError(t, sum(""), "background work")
	leave()
	require.NoError(t, sum(me.ID.String()))
	e := fixture.RequireReason(t, sum("x"), codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"userId"}, fixture.FieldNames(e))
}

func TestSumSpendingErrors(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	for name, tc := range map[string]struct {
		change func(*ledgerv1.SpendingWindow)
		reason string
		field  string
	}{
		"a malformed owner": {
			func(w *ledgerv1.SpendingWindow) { w.OwnerId = "" }, "VALIDATION_ERROR",
			"windows[1].ownerId",
		},
		"a malformed wallet": {
			func(w *ledgerv1.SpendingWindow) { w.WalletId = "x" }, "WALLET_NOT_FOUND",
			"windows[1].walletId",
		},
		"a malformed category": {
			func(w *ledgerv1.SpendingWindow) { w.CategoryIds = []string{"x"} },
			"INVALID_CATEGORY_EXIST_PARAMS", "windows[1].categoryIds",
		},
		"a day that is none": {
			func(w *ledgerv1.SpendingWindow) { w.From = "2026-02-30" }, "VALIDATION_ERROR",
			"windows[1].from",
		},
		"a moment": {
			func(w *ledgerv1.SpendingWindow) { w.To = "2026-03-31T00:00:00Z" }, "VALIDATION_ERROR",
			"windows[1].to",
		},
		"upside down": {
			func(w *ledgerv1.SpendingWindow) { w.To = "2026-02-27" }, "VALIDATION_ERROR",
			"windows[1].from",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := me.window("2026-03-01", "2026-03-31")
			tc.change(w)
			_, err := me.SumSpending(t.Context(), &spendingRequest{
				Windows: []*ledgerv1.SpendingWindow{me.window("2026-03-01", "2026-03-31"), w},
			})
			require.Equal(t, []string{tc.field},
				fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, tc.reason)))
		})
	}
	_, err := me.SumSpending(t.Context(), &spendingRequest{Windows: slices.Repeat(
		[]*ledgerv1.SpendingWindow{me.window("2026-03-01", "2026-03-31")}, 1001,
	)})
	fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	var windows []*ledgerv1.SpendingWindow
	for range maxOwners + 1 {
		w := me.window("2026-03-01", "2026-03-31")
		w.OwnerId = me.NewID().String()
		windows = append(windows, w)
	}
	_, err = me.SumSpending(t.Context(), &spendingRequest{Windows: windows[1:]})
	require.NoError(t, err)
	_, err = me.SumSpending(t.Context(), &spendingRequest{Windows: windows})
	fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	resp, err := me.SumSpending(t.Context(), &spendingRequest{})
	require.NoError(t, err)
	require.Empty(t, resp.GetSpendings())
}

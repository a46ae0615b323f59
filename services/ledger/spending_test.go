package ledger

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

func TestCheckReferences(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	type check = ledgerv1.CheckReferencesRequest
	owner, wallet, category := p.id.String(), p.wallet.String(), p.category.String()
	for name, c := range map[string]struct {
		req    *check
		code   codes.Code
		reason string
	}{
		"both are the owner's":        {&check{OwnerId: owner, WalletId: wallet, CategoryIds: []string{category, category}}, codes.OK, ""},
		"nothing to check":            {&check{OwnerId: owner}, codes.OK, ""},
		"only a category":             {&check{OwnerId: owner, CategoryIds: []string{category}}, codes.OK, ""},
		"a malformed owner":           {&check{OwnerId: "x"}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"no owner":                    {&check{}, codes.InvalidArgument, "VALIDATION_ERROR"},
		"a malformed wallet":          {&check{OwnerId: owner, WalletId: "x"}, codes.InvalidArgument, "WALLET_NOT_FOUND"},
		"another user's wallet":       {&check{OwnerId: owner, WalletId: stranger.wallet.String()}, codes.NotFound, "WALLET_NOT_FOUND"},
		"an unknown wallet":           {&check{OwnerId: owner, WalletId: s.newID().String()}, codes.NotFound, "WALLET_NOT_FOUND"},
		"a malformed category":        {&check{OwnerId: owner, CategoryIds: []string{category, ""}}, codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS"},
		"one category of another":     {&check{OwnerId: owner, CategoryIds: []string{category, stranger.category.String()}}, codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS"},
		"a wallet instead of another": {&check{OwnerId: owner, WalletId: category}, codes.NotFound, "WALLET_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.CheckReferences(t.Context(), c.req)
			if c.code == codes.OK {
				require.NoError(t, err)
				return
			}
			requireReason(t, err, c.code, c.reason)
		})
	}
}

func (p person) window(from, to string) *ledgerv1.SpendingWindow {
	return &ledgerv1.SpendingWindow{OwnerId: p.id.String(), WalletId: p.wallet.String(), CategoryIds: []string{p.category.String()}, From: from, To: to}
}

func TestSumSpendingOutOfRange(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, rich := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	p.create(t, p.spends("10"))
	other := s.makeCategory(rich.ctx, t, "Other")
	for month := 1; month <= 12; month++ {
		// As much comes back in another category: balances are bounded, and so are the sums of a month.
		var both []*ledgerv1.CreateTransactionRequest
		for range 90 {
			out := rich.spends("999999999999")
			out.Currency, out.Date = "CLF", fmt.Sprintf("2026-%02d-03", month)
			in := proto.CloneOf(out)
			in.Type, in.CategoryId = new(income), other.String()
			both = append(both, out, in)
		}
		_, err := rich.CreateTransactions(rich.ctx, rich.books(both...))
		require.NoError(t, err)
	}
	resp, err := s.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{
		p.window("2026-03-01", "2026-03-31"), rich.window("2026-01-01", "2026-12-31"),
	}})
	require.NoError(t, err)
	require.EqualValues(t, 1000, resp.GetSpendings()[0].GetAmounts()[0].GetSpentMinor())
	require.EqualValues(t, mostSpent, resp.GetSpendings()[1].GetAmounts()[0].GetSpentMinor())
}

func TestMonthsAreUTC(t *testing.T) {
	t.Parallel()
	s := setup(t)
	config := s.db.Config()
	config.ConnConfig.RuntimeParams["timezone"] = "America/New_York"
	west, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(west.Close)
	s.db, s.batcher = west, newBatcher(west, func() {})
	s.batcher.run(t.Context())
	p := newPerson(t.Context(), t, s)
	p.create(t, p.spends("10"))
	_, err = p.CreateTransactions(p.ctx, p.books(p.spends("5")))
	require.NoError(t, err)
	resp, err := s.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{
		p.window("2026-02-01", "2026-02-28"), p.window("2026-03-01", "2026-03-31"),
	}})
	require.NoError(t, err)
	require.Empty(t, resp.GetSpendings()[0].GetAmounts())
	require.EqualValues(t, 1500, resp.GetSpendings()[1].GetAmounts()[0].GetSpentMinor())
	s.requireConsistent(t)
}

func TestSumSpending(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p, stranger := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
	p.create(t, p.spends("5"))
	refund := p.spends("7")
	refund.Type, refund.Date, refund.Currency = nil, "2026-03-31T23:59:59Z", "USD"
	p.create(t, refund)
	stranger.create(t, stranger.spends("1"))

	gone, foreign := p.window("2026-03-01", "2026-03-31"), p.window("2026-03-01", "2026-03-31")
	gone.WalletId = s.newID().String()
	foreign.WalletId = stranger.wallet.String()
	none := p.window("2026-03-01", "2026-03-31")
	none.CategoryIds = nil
	resp, err := s.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{
		p.window("2026-03-01", "2026-03-31"), p.window("2026-03-14", "2026-03-14"), gone, p.window("2026-04-01", "2026-04-30"), foreign, none,
	}})
	require.NoError(t, err)
	requireSame(t, []*ledgerv1.Spending{
		{Found: true, Amounts: []*ledgerv1.SpentAmount{{Currency: "EUR", SpentMinor: 500}, {Currency: "USD", SpentMinor: -700}}},
		{Found: true, Amounts: []*ledgerv1.SpentAmount{{Currency: "EUR", SpentMinor: 500}}},
		{},
		{Found: true},
		{},
		{Found: true},
	}, resp.GetSpendings())
}

func TestSumSpendingErrors(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for name, c := range map[string]struct {
		change func(*ledgerv1.SpendingWindow)
		reason string
		field  string
	}{
		"a malformed owner":    {func(w *ledgerv1.SpendingWindow) { w.OwnerId = "" }, "VALIDATION_ERROR", "windows[1].ownerId"},
		"a malformed wallet":   {func(w *ledgerv1.SpendingWindow) { w.WalletId = "x" }, "WALLET_NOT_FOUND", "windows[1].walletId"},
		"a malformed category": {func(w *ledgerv1.SpendingWindow) { w.CategoryIds = []string{"x"} }, "INVALID_CATEGORY_EXIST_PARAMS", "windows[1].categoryIds"},
		"a day that is none":   {func(w *ledgerv1.SpendingWindow) { w.From = "2026-02-30" }, "VALIDATION_ERROR", "windows[1].from"},
		"a moment":             {func(w *ledgerv1.SpendingWindow) { w.To = "2026-03-31T00:00:00Z" }, "VALIDATION_ERROR", "windows[1].to"},
		"upside down":          {func(w *ledgerv1.SpendingWindow) { w.To = "2026-02-27" }, "VALIDATION_ERROR", "windows[1].from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := p.window("2026-03-01", "2026-03-31")
			c.change(w)
			_, err := p.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{Windows: []*ledgerv1.SpendingWindow{p.window("2026-03-01", "2026-03-31"), w}})
			require.Equal(t, []string{c.field}, fieldNames(requireReason(t, err, codes.InvalidArgument, c.reason)))
		})
	}
	_, err := p.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{Windows: slices.Repeat([]*ledgerv1.SpendingWindow{p.window("2026-03-01", "2026-03-31")}, 1001)})
	requireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	resp, err := p.SumSpending(t.Context(), &ledgerv1.SumSpendingRequest{})
	require.NoError(t, err)
	require.Empty(t, resp.GetSpendings())
}

// TestSumSpendingEqualsRecomputation compares with a plain walk over random histories.
func TestSumSpendingEqualsRecomputation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		id := s.newID()
		h := s.anyHistory(r, actAs(context.Background(), id))
		req := &ledgerv1.SumSpendingRequest{}
		var want []*ledgerv1.Spending
		for range rapid.IntRange(1, 4).Draw(r, "windows") {
			from, to := anyTime(r), anyTime(r)
			if to.Before(from) {
				from, to = to, from
			}
			w := rapid.SampledFrom(h.wallets).Draw(r, "wallet")
			question := &ledgerv1.SpendingWindow{OwnerId: id.String(), WalletId: w.ID.String(), From: from.Format(dateLayout), To: to.Format(dateLayout)}
			answer := &ledgerv1.Spending{Found: true}
			for c := range h.categories {
				if rapid.Bool().Draw(r, "category asked for") {
					question.CategoryIds = append(question.CategoryIds, c.String())
				}
			}
			for _, currency := range []string{"BHD", "EUR", "JPY"} {
				income, expense, count := h.moved(window{at(question.GetFrom()), at(question.GetTo()).AddDate(0, 0, 1)}, currency, func(t transaction) bool {
					return t.WalletID == w.ID && slices.Contains(question.GetCategoryIds(), t.CategoryID.String())
				})
				if count > 0 {
					answer.Amounts = append(answer.Amounts, &ledgerv1.SpentAmount{Currency: currency, SpentMinor: expense - income})
				}
			}
			req.Windows, want = append(req.Windows, question), append(want, answer)
		}
		resp, err := s.SumSpending(context.Background(), req)
		require.NoError(r, err)
		require.True(r, proto.Equal(&ledgerv1.SumSpendingResponse{Spendings: want}, resp), "want %v\ngot %v", want, resp)
	})
}

package reports

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestGetSummaryEqualsRecomputation compares summaries of random histories with a computation from
// all their transactions, in windows that start and end anywhere in a month.
func TestGetSummaryEqualsRecomputation(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		ctx := fixture.ActAs(context.Background(), srv.NewID())
		history := srv.anyHistory(r, ctx)
		for range 5 {
			req := anyQuestion(r)
			query, err := parseSummary(req, calendar.MonthOf(fixture.Today))
			require.NoError(r, err)
			resp, err := srv.GetSummary(ctx, req)
			require.NoError(r, err)
			want := history.summary(query)
			got := resp.GetSummary()
			requireSame(r, want.GetTotals(), got.GetTotals())
			requireSame(r, want.GetPrevious(), got.GetPrevious())
			requireSame(r, want.GetByCategory(), got.GetByCategory())
			requireSame(r, want.GetByWallet(), got.GetByWallet())
			requireSame(r, want.GetTrend(), got.GetTrend())
			requireSame(r, want.GetLargestExpenses(), got.GetLargestExpenses())
			requireSame(r, want.GetRecentTransactions(), got.GetRecentTransactions())
			require.True(r, proto.Equal(want, got))
			history.requireBalanced(r, query, got)
		}
	})
}

// requireBalanced requires that the balance before the window and everything that the rows of a
// wallet contain add up to its balance.
func (h history) requireBalanced(r *rapid.T, query summaryQuery, got *ledgerv1.Summary) {
	for _, row := range got.GetByWallet() {
		currency := money.CurrencyOf(row.GetCurrency())
		minor := func(text string) int64 {
			n, err := currency.Parse(text)
			require.NoError(r, err)
			return n
		}
		i := slices.IndexFunc(h.wallets, func(w historyWallet) bool {
			return w.ID.String() == row.GetWalletId()
		})
		wallet := h.wallets[i]
		opening := h.balance(wallet, currency.Code(), query.period.From)
		if wallet.Currency == currency.Code() && wallet.Opened != nil &&
			query.period.Contains(*wallet.Opened) {
			opening += wallet.InitialMinor
		}
		require.Equal(r, minor(row.GetBalance()),
			opening+minor(row.GetIncome())-minor(row.GetExpense())+
				minor(row.GetTransferredIn())-minor(row.GetTransferredOut())+
				minor(row.GetAdjusted()))
	}
}

// TestSumSpendingEqualsRecomputation compares with a plain walk over random histories.
func TestSumSpendingEqualsRecomputation(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		id := srv.NewID()
		history := srv.anyHistory(r, fixture.ActAs(context.Background(), id))
		req := &spendingRequest{}
		var want []*ledgerv1.Spending
		for range rapid.IntRange(1, 4).Draw(r, "windows") {
			from, to := fixture.AnyTime(r), fixture.AnyTime(r)
			if to.Before(from) {
				from, to = to, from
			}
			wallet := rapid.SampledFrom(history.wallets).Draw(r, "wallet")
			question := &ledgerv1.SpendingWindow{
				OwnerId: id.String(), WalletId: wallet.ID.String(),
				From: from.Format(calendar.DateLayout), To: to.Format(calendar.DateLayout),
			}
			answer := &ledgerv1.Spending{Found: true}
			var categories []uuid.UUID
			for c := range history.categories {
				if rapid.Bool().Draw(r, "category asked for") {
					categories = append(categories, c)
					question.CategoryIds = append(question.CategoryIds, c.String())
				}
			}
			for _, currency := range []string{"BHD", "EUR", "JPY"} {
				days := calendar.Days(at(question.GetFrom()), at(question.GetTo()))
				income, expense, count := history.movedIn(days, currency, categories,
					func(t posting.Transaction) bool { return t.WalletID == wallet.ID })
				if count > 0 {
					answer.Amounts = append(answer.Amounts,
						&ledgerv1.SpentAmount{Currency: currency, SpentMinor: expense - income})
				}
			}
			req.Windows, want = append(req.Windows, question), append(want, answer)
		}
		resp, err := srv.SumSpending(context.Background(), req)
		require.NoError(r, err)
		require.True(r, proto.Equal(&ledgerv1.SumSpendingResponse{Spendings: want}, resp),
			"want %v\ngot %v", want, resp)
	})
}

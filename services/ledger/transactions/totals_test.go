package transactions

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/money"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListTransactionsTotalsEqualPages compares the totals of random lists with the sums of the transactions on all pages. Each
// page has the same totals.
func TestListTransactionsTotalsEqualPages(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		p := newPerson(context.Background(), r, s)
		bank, fun := p.MakeWallet(p.Ctx, r, "Bank", "EUR"), p.MakeCategory(p.Ctx, r, "Fun")
		var all []posting.Transaction
		for range rapid.IntRange(0, 25).Draw(r, "transactions") {
			all = append(all, posting.Transaction{
				WalletID:    rapid.SampledFrom([]uuid.UUID{p.Wallet, bank}).Draw(r, "wallet"),
				CategoryID:  new(rapid.SampledFrom([]uuid.UUID{p.Category, fun}).Draw(r, "category")),
				Currency:    rapid.SampledFrom([]string{"EUR", "JPY", "BHD"}).Draw(r, "currency"),
				Description: rapid.SampledFrom([]string{"", "DM", "dm market", "Café"}).Draw(r, "description"),
				AmountMinor: rapid.SampledFrom([]int64{-20_000, -100, 1, 99_999_999_999}).Draw(r, "amount"),
				Date:        fixture.Today.Add(time.Duration(rapid.IntRange(0, 50).Draw(r, "hours")) * time.Hour),
			})
		}
		p.Record(p.Ctx, r, all...)
		req := anyList(r, p, bank, fun)
		want := map[string]*ledgerv1.FilterTotals{}
		income, expense := map[string]int64{}, map[string]int64{}
		var totals []*ledgerv1.FilterTotals
		for page := 0; ; page++ {
			resp, err := p.ListTransactions(p.Ctx, req)
			require.NoError(r, err)
			require.False(r, resp.GetCapped())
			if page > 0 {
				require.True(r, proto.Equal(&ledgerv1.ListTransactionsResponse{Totals: totals}, &ledgerv1.ListTransactionsResponse{Totals: resp.GetTotals()}))
			}
			totals = resp.GetTotals()
			for _, tr := range resp.GetTransactions() {
				c := money.CurrencyOf(tr.GetCurrency())
				minor, err := c.Parse(tr.GetAmount())
				require.NoError(r, err)
				income[tr.GetCurrency()] += max(minor, 0)
				expense[tr.GetCurrency()] += max(-minor, 0)
				if want[tr.GetCurrency()] == nil {
					want[tr.GetCurrency()] = &ledgerv1.FilterTotals{Currency: tr.GetCurrency()}
				}
				want[tr.GetCurrency()].Count++
			}
			if req.Cursor = resp.GetPagination().GetNextCursor(); req.GetCursor() == "" {
				break
			}
		}
		require.Len(r, totals, len(want))
		for i, got := range totals {
			require.True(r, i == 0 || totals[i-1].GetCurrency() < got.GetCurrency(), "by currency")
			c, expected := money.CurrencyOf(got.GetCurrency()), want[got.GetCurrency()]
			require.NotNil(r, expected, got)
			expected.Income, expected.Expense = c.Format(income[got.GetCurrency()]), c.Format(expense[got.GetCurrency()])
			require.True(r, proto.Equal(expected, got), "want %v\ngot %v", expected, got)
		}
	})
}

// anyList draws a list of p's transactions, with filters and totals.
func anyList(r *rapid.T, p person, bank, fun uuid.UUID) *ledgerv1.ListTransactionsRequest {
	sometimes := func(name string, values ...string) *string {
		if rapid.Bool().Draw(r, "filter by "+name) {
			return new(rapid.SampledFrom(values).Draw(r, name))
		}
		return nil
	}
	ids := func(name string, values ...uuid.UUID) (out []string) {
		for _, id := range values {
			if rapid.Bool().Draw(r, "filter by "+name) {
				out = append(out, id.String())
			}
		}
		return out
	}
	return &ledgerv1.ListTransactionsRequest{
		Include: []string{includeTotals}, Limit: new(int32(rapid.IntRange(1, 30).Draw(r, "limit"))),
		Sort: sometimes("sort", "-date", "date", "-amount", "amount"), Type: sometimes("type", "expense", "income"),
		Currency: sometimes("currency", "EUR", "JPY", "USD"), Q: sometimes("q", "dm", "DM MARKET", "é", "x"),
		From: sometimes("from", "2026-03-15", "2026-03-16"), To: sometimes("to", "2026-03-16", "2026-03-17"),
		MinAmount: sometimes("minimum", "-100", "0"), MaxAmount: sometimes("maximum", "1", "1000"),
		WalletId: ids("wallet", p.Wallet, bank), CategoryId: ids("category", p.Category, fun),
	}
}

func TestListTransactionsTotalsCapped(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	insert := func(n int, description string, date time.Time) {
		_, err := p.DB.Exec(p.Ctx, `
			INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date, created_at, updated_at)
			SELECT gen_random_uuid(), $1, $2, $3, 'EUR', -100, -10000, $4, $5, $5, $5 FROM generate_series(1, $6)`,
			p.ID, p.Wallet, p.Category, description, date, n)
		require.NoError(t, err)
	}
	totals := func(req *ledgerv1.ListTransactionsRequest) (count int32, expense string, capped bool) {
		req.Include = []string{includeTotals}
		resp, err := p.ListTransactions(p.Ctx, req)
		require.NoError(t, err)
		require.NotNil(t, resp.Capped)
		require.Len(t, resp.GetTotals(), 1)
		require.Equal(t, "0.00", resp.GetTotals()[0].GetIncome())
		return resp.GetTotals()[0].GetCount(), resp.GetTotals()[0].GetExpense(), resp.GetCapped()
	}
	type list = ledgerv1.ListTransactionsRequest
	insert(totaledRows-1, "Lunch", fixture.Today)
	insert(1, "DM", fixture.Today)
	for name, req := range map[string]*list{"everything": {}, "a filter that all match": {Type: new(posting.Expense), MaxAmount: new("-1")}} {
		count, expense, capped := totals(req)
		require.EqualValues(t, totaledRows, count, name)
		require.Equal(t, "20000.00", expense, name)
		require.False(t, capped, name)
	}
	count, _, capped := totals(&list{Q: new("dm")})
	require.EqualValues(t, 1, count)
	require.False(t, capped)

	insert(10, "Lunch", fixture.Today)
	for name, req := range map[string]*list{"everything": {}, "a filter that all match": {Type: new(posting.Expense), MaxAmount: new("-1")}} {
		count, expense, capped := totals(req)
		require.EqualValues(t, totaledRows+1, count, name)
		require.Equal(t, "20001.00", expense, name)
		require.True(t, capped, name)
	}
	count, _, capped = totals(&list{Q: new("dm")})
	require.LessOrEqual(t, count, int32(1))
	require.True(t, capped, "no index supports the search, and more rows would have to be examined")
	insert(1, "DM", fixture.Today.AddDate(0, 0, 1))
	count, _, capped = totals(&list{Q: new("dm"), From: new("2026-03-16"), Sort: new(largestAmount)})
	require.EqualValues(t, 1, count)
	require.False(t, capped, "few rows have such a date")
}

func TestListTransactionsTotalsErrors(t *testing.T) {
	t.Parallel()
	p := newPerson(t.Context(), t, setup(t))
	for _, include := range [][]string{{""}, {"sums"}, {"Totals"}, {"totals,totals"}, {"totals", "daily"}} {
		_, err := p.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{Include: include})
		require.Equal(t, []string{"include"}, fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")), include)
	}
	resp, err := p.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{})
	require.NoError(t, err)
	require.Nil(t, resp.Capped)
	resp, err = p.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{Include: []string{"totals", "totals"}})
	require.NoError(t, err)
	require.NotNil(t, resp.Capped)
	require.Empty(t, resp.GetTotals())
	// 1000 transactions of the largest amount in a currency with four decimals exceed 64 bits.
	_, err = p.DB.Exec(p.Ctx, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor, amount_e4, description, date, created_at, updated_at)
		SELECT gen_random_uuid(), $1, $2, $3, 'CLF', 9999999999999900, 9999999999999900, '', $4, $4, $4 FROM generate_series(1, 1000)`,
		p.ID, p.Wallet, p.Category, fixture.Today)
	require.NoError(t, err)
	_, err = p.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{Include: []string{"totals"}})
	require.Equal(t, []string{"include"}, fixture.FieldNames(fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")))
}

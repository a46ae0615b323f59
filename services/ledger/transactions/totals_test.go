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
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListTransactionsTotalsEqualPages compares the totals of random lists with the sums of the
// transactions on all pages. Each page has the same totals.
func TestListTransactionsTotalsEqualPages(t *testing.T) {
	t.Parallel()
	s := setup(t)
	rapid.Check(t, func(r *rapid.T) {
		me := newPerson(context.Background(), r, s)
		bank, fun := me.MakeWallet(me.Ctx, r, "Bank", "EUR"), me.MakeCategory(me.Ctx, r, "Fun")
		wallets := rapid.SampledFrom([]uuid.UUID{me.Wallet, bank})
		categories := rapid.SampledFrom([]uuid.UUID{me.Category, fun})
		currencies := rapid.SampledFrom([]string{"EUR", "JPY", "BHD"})
		descriptions := rapid.SampledFrom([]string{"", "DM", "dm market", "Café"})
		amounts := rapid.SampledFrom([]int64{-20_000, -100, 1, 99_999_999_999})
		hours := rapid.IntRange(0, 50)
		var all []posting.Transaction
		for range rapid.IntRange(0, 25).Draw(r, "transactions") {
			all = append(all, posting.Transaction{
				WalletID:    wallets.Draw(r, "wallet"),
				CategoryID:  new(categories.Draw(r, "category")),
				Currency:    currencies.Draw(r, "currency"),
				Description: descriptions.Draw(r, "description"),
				AmountMinor: amounts.Draw(r, "amount"),
				Date:        fixture.Today.Add(time.Duration(hours.Draw(r, "hours")) * time.Hour),
			})
		}
		me.Record(me.Ctx, r, all...)
		req := anyList(r, me, bank, fun)
		want := map[string]*ledgerv1.FilterTotals{}
		income, expense := map[string]int64{}, map[string]int64{}
		var totals []*ledgerv1.FilterTotals
		for page := 0; ; page++ {
			resp, err := me.ListTransactions(me.Ctx, req)
			require.NoError(r, err)
			require.False(r, resp.GetCapped())
			if page > 0 {
				require.True(r, proto.Equal(&ledgerv1.ListTransactionsResponse{Totals: totals},
					&ledgerv1.ListTransactionsResponse{Totals: resp.GetTotals()}))
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
			expected.Income = c.Format(income[got.GetCurrency()])
			expected.Expense = c.Format(expense[got.GetCurrency()])
			require.True(r, proto.Equal(expected, got), "want %v\ngot %v", expected, got)
		}
	})
}

// anyList draws a list of p's transactions, with filters and totals.
func anyList(r *rapid.T, me person, bank, fun uuid.UUID) *listRequest {
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
	return &listRequest{
		Include: []string{includeTotals}, Limit: new(int32(rapid.IntRange(1, 30).Draw(r, "limit"))),
		Sort:      sometimes("sort", "-date", "date", "-amount", "amount"),
		Type:      sometimes("type", "expense", "income"),
		Currency:  sometimes("currency", "EUR", "JPY", "USD"),
		Q:         sometimes("q", "dm", "DM MARKET", "é", "x"),
		From:      sometimes("from", "2026-03-15", "2026-03-16"),
		To:        sometimes("to", "2026-03-16", "2026-03-17"),
		MinAmount: sometimes("minimum", "-100", "0"), MaxAmount: sometimes("maximum", "1", "1000"),
		WalletId: ids("wallet", me.Wallet, bank), CategoryId: ids("category", me.Category, fun),
	}
}

// TestListTransactionsTotalsCapped requires exact totals up to totaledRows transactions, and those
// of the newest totaledRows beyond. The totals of whole months are exact for any number, because
// they are stored.
func TestListTransactionsTotalsCapped(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	insert := func(count int, cents int64, description string, date time.Time) {
		pgtest.Exec(t, me.DB, `
			WITH total AS (
				INSERT INTO monthly_totals AS m
					(owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor,
					transaction_count)
				VALUES ($1, '2026-03-01', $2, $3, 'EUR', 0, $6::bigint * $7::bigint, $6)
				ON CONFLICT (owner_id, month, wallet_id, category_id, currency) DO UPDATE
				SET expense_minor = m.expense_minor + EXCLUDED.expense_minor,
					transaction_count = m.transaction_count + EXCLUDED.transaction_count
			)
			INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
				amount_e4, description, date, created_at, updated_at)
			SELECT gen_random_uuid(), $1, $2, $3, 'EUR', -$7::bigint, -100 * $7, $4, $5,
				$5, $5
			FROM generate_series(1, $6::bigint)`,
			me.ID, me.Wallet, me.Category, description, date, count, cents)
	}
	type list = listRequest
	requireTotals := func(req *list, count int, expense string, capped bool) {
		t.Helper()
		req.Include = []string{includeTotals}
		resp, err := me.ListTransactions(me.Ctx, req)
		require.NoError(t, err)
		require.NotNil(t, resp.Capped)
		require.Equal(t, capped, resp.GetCapped())
		if capped {
			require.EqualValues(t, totaledRows, resp.GetCappedAt())
		} else {
			require.Nil(t, resp.CappedAt)
		}
		if count == 0 {
			require.Empty(t, resp.GetTotals())
			return
		}
		require.Len(t, resp.GetTotals(), 1, "%v", req)
		require.EqualValues(t, count, resp.GetTotals()[0].GetCount())
		require.Equal(t, "0.00", resp.GetTotals()[0].GetIncome())
		require.Equal(t, expense, resp.GetTotals()[0].GetExpense())
	}
	months := func() []*list {
		march := list{
			From: new("2026-03-01"), To: new("2026-03-31"), Currency: new("EUR"),
			WalletId: []string{me.Wallet.String()},
		}
		return []*list{
			{},
			&march,
			{From: new("2026-03-01"), Sort: new(leastAmount)},
			{To: new("2026-03-31")},
		}
	}
	some := func() []*list {
		return []*list{
			{Type: new(posting.Expense)},
			{MaxAmount: new("-1")},
			{From: new("2026-03-02")},
			{To: new("2026-03-30")},
			{CategoryId: []string{me.Category.String()}},
			{Currency: new("EUR"), From: new("2026-03-01T00:00:01Z")},
		}
	}
	insert(totaledRows-1, 100, "Lunch", fixture.Today)
	insert(1, 100, "DM", fixture.Today)
	for _, req := range append(months(), some()...) {
		requireTotals(req, totaledRows, "20000.00", false)
	}
	requireTotals(&list{Q: new("dm")}, 1, "1.00", false)

	insert(10, 300, "Lunch", fixture.Today.AddDate(0, 0, -1))
	for _, req := range months() {
		requireTotals(req, totaledRows+10, "20030.00", false)
	}
	for _, req := range some() {
		requireTotals(req, totaledRows, "20000.00", true)
	}
	other := me.MakeWallet(me.Ctx, t, "Other", "EUR").String()
	requireTotals(&list{WalletId: []string{other}}, 0, "", false)
	requireTotals(&list{From: new("2026-04-01")}, 0, "", false)
	requireTotals(&list{Currency: new("USD")}, 0, "", false)
	insert(1, 50, "dm", fixture.Today.AddDate(0, 0, -2))
	// No index supports the search, so the transactions are examined, and an older one may match.
	// The sort does not matter.
	requireTotals(&list{Q: new("dm"), Sort: new(largestAmount)}, 1, "1.00", true)
	insert(1, 100, "DM", fixture.Today.AddDate(0, 0, 1))
	recent := &list{Q: new("dm"), From: new("2026-03-16"), Sort: new(largestAmount)}
	requireTotals(recent, 1, "1.00", false)
}

func TestListTransactionsTotalsErrors(t *testing.T) {
	t.Parallel()
	me := newPerson(t.Context(), t, setup(t))
	for _, include := range [][]string{
		{""},
		{"sums"},
		{"Totals"},
		{"totals,totals"},
		{"totals", "daily"},
	} {
		_, err := me.ListTransactions(me.Ctx, &listRequest{Include: include})
		e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, []string{"include"}, fixture.FieldNames(e), include)
	}
	resp, err := me.ListTransactions(me.Ctx, &listRequest{})
	require.NoError(t, err)
	require.Nil(t, resp.Capped)
	resp, err = me.ListTransactions(me.Ctx, &listRequest{Include: []string{"totals", "totals"}})
	require.NoError(t, err)
	require.NotNil(t, resp.Capped)
	require.Empty(t, resp.GetTotals())
	// 1000 transactions of the largest amount in a currency with four decimals exceed 64 bits.
	pgtest.Exec(t, me.DB, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, created_at, updated_at)
		SELECT gen_random_uuid(), $1, $2, $3, 'CLF', 9999999999999900, 9999999999999900, '', $4,
			$4, $4
		FROM generate_series(1, 1000)`,
		me.ID, me.Wallet, me.Category, fixture.Today)
	_, err = me.ListTransactions(me.Ctx,
		&listRequest{Include: []string{"totals"}, Type: new(posting.Income)})
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"include"}, fixture.FieldNames(e))
}

package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/internal/rpc"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestGetSummarySize fills a user up to all limits, with the longest names and descriptions, and
// beyond the limit of currencies.
func TestGetSummarySize(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	id := srv.NewID()
	ctx := fixture.ActAs(t.Context(), id)
	srv.MakeWallets(ctx, t, accounts.MaxWallets, "EUR")
	srv.MakeCategories(ctx, t, accounts.MaxCategories)
	pgtest.Exec(t, srv.DB, `
		INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
		SELECT $1, w.id, c, 99999999999999
		FROM (SELECT id, row_number() OVER () AS n FROM wallets WHERE owner_id = $1) AS w,
			unnest($2::text[]) WITH ORDINALITY AS c (c, m)
		WHERE (n + m) % 165 < 49 AND c <> 'EUR'`, id, fixture.CurrencyCodes(t))
	pgtest.Exec(t, srv.DB, `
		INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor,
			expense_minor, transaction_count)
		SELECT $1, '2026-03-01', (SELECT id FROM wallets WHERE owner_id = $1 LIMIT 1), id, c,
			99999999999999, 99999999999999, 1
		FROM categories, unnest($2::text[]) c
		WHERE owner_id = $1`, id, fixture.CurrencyCodes(t))
	pgtest.Exec(t, srv.DB, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, created_at, updated_at)
		SELECT gen_random_uuid(), $1, (SELECT id FROM wallets WHERE owner_id = $1 LIMIT 1),
			(SELECT id FROM categories WHERE owner_id = $1 LIMIT 1), c, -99999999999999,
			-99999999999999, repeat('😀', 1000), $3, $3, $3
		FROM unnest($2::text[]) AS c, generate_series(1, 6)`,
		id, fixture.CurrencyCodes(t), fixture.Today)
	resp, err := srv.GetSummary(ctx, &summaryRequest{})
	require.NoError(t, err)
	summary := resp.GetSummary()
	currencies := len(fixture.CurrencyCodes(t))
	largest := len(summary.GetLargestExpenses()) // Len would print megabytes.
	require.Equal(t, 5*currencies, largest)
	own := 0
	for _, w := range summary.GetByWallet() {
		if w.GetCurrency() == "EUR" {
			own++
		}
	}
	require.Equal(t, accounts.MaxWallets, own)
	require.Len(t, summary.GetByWallet(), maxSummaryRows)
	require.Len(t, summary.GetByCategory(), maxSummaryRows/currencies*currencies)
	require.Less(t, proto.Size(resp), rpc.MaxMessage*2/3)
}

// TestGetSummarySizeOfDetails requires a summary that fits into a message, although the largest
// expenses have notes, tags and parts of the maximum length. Those that do not fit are left out,
// the smallest of each currency first.
func TestGetSummarySizeOfDetails(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	const parts, each = 50, 2
	long := func(length int) string { return strings.Repeat("😀", length) }
	var ts []posting.Transaction
	all := fixture.CurrencyCodes(t)
	for index, currency := range all {
		wallet := user.Wallet
		if index >= 49 {
			wallet = srv.MakeWallet(user.Ctx, t, currency, currency)
		}
		for n := range each {
			transaction := posting.Transaction{
				WalletID: wallet, Currency: currency, AmountMinor: int64(-1000 - n),
				Date: fixture.Today, Payee: long(200), Description: long(1000),
				Notes: long(4000), CategoryID: &user.Category,
			}
			if index < 40 {
				transaction.CategoryID, transaction.SplitCount = nil, parts
				transaction.AmountMinor = int64(-parts * (1 + n))
				for range parts {
					transaction.Splits = append(transaction.Splits, posting.Split{
						CategoryID: user.Category, AmountMinor: int64(-1 - n),
						Description: long(1000),
					})
				}
			}
			ts = append(ts, transaction)
		}
	}
	srv.Record(user.Ctx, t, ts...)
	resp, err := srv.GetSummary(user.Ctx, &summaryRequest{Include: []string{"daily"}})
	require.NoError(t, err)
	require.Less(t, proto.Size(resp), rpc.MaxMessage*2/3)
	largest := resp.GetSummary().GetLargestExpenses()
	require.NotEmpty(t, largest)
	require.Less(t, len(largest), len(ts))
	for i, m := range largest[1:] {
		require.GreaterOrEqual(t, m.GetCurrency(), largest[i].GetCurrency())
	}
}

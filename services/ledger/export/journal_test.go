package export

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// hostile draws names and texts with the signs that have a meaning in a journal.
var hostile = rapid.OneOf(
	rapid.SampledFrom([]string{
		"Cash", "a  b", "a;b", "a:b:c", "(x)", "(open", "* x", "=x", "[2026-01-01]",
		"date:2026/13/45", "\"q\\\"", "日本 銀行", "x\u00a0\u00a0y", "!", "|", "@@ 5 EUR", "a\nb", "%",
		"~ daily", "cash", "CASH", "cash!", "ǆ", "ß", "-", "#tag ^link", "TRUE", "1st", "\\n",
		"e\u0301",
	}),
	rapid.StringN(1, 20, 80),
)

// requireJournals calls check with random books.
func requireJournals(
	t *testing.T,
	check func(t *testing.T, b books, entries []entry, balances map[uuid.UUID]map[string]int64),
) {
	t.Helper()
	draw := rapid.Custom(func(r *rapid.T) func() {
		b, entries, balances := ledgerOf(r)
		return func() { check(t, b, entries, balances) }
	})
	for seed := range 5 {
		draw.Example(seed)()
	}
}

// encode passes books to an encoder.
func encode(t *testing.T, e encoder, b books, entries []entry) {
	t.Helper()
	require.NoError(t, e.begin(b))
	for _, one := range entries {
		require.NoError(t, e.add(one))
	}
	require.NoError(t, e.end())
}

// ledgerOf draws books and their transactions, with the balances in minor units by wallet and
// currency.
func ledgerOf(r *rapid.T) (books, []entry, map[uuid.UUID]map[string]int64) {
	books, balances := books{whole: true}, map[uuid.UUID]map[string]int64{}
	codes := []string{"EUR", "JPY", "KWD", "USD"}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 4 {
		wallet := wallet{walletRow: walletRow{
			ID: uuid.New(), Name: hostile.Draw(r, "wallet"),
			Currency: rapid.SampledFrom(codes).Draw(r, "currency"), Opened: start, Selected: true,
		}}
		if rapid.Bool().Draw(r, "has an opening day") {
			wallet.OpeningDate = new(start.AddDate(0, 0,
				rapid.IntRange(0, 50).Draw(r, "opening day")))
		}
		wallet.InitialMinor = rapid.Int64Range(-100_000, 100_000).Draw(r, "initial")
		wallet.shown = &ledgerv1.Wallet{}
		for _, code := range codes {
			wallet.shown.Balances = append(wallet.shown.Balances, &ledgerv1.Balance{Currency: code})
		}
		books.wallets = append(books.wallets, wallet)
		balances[wallet.ID] = map[string]int64{wallet.Currency: wallet.InitialMinor}
		books.categories = append(books.categories,
			category{ID: uuid.New(), Name: hostile.Draw(r, "category")})
	}
	var entries []entry
	for index := range 40 {
		w, category := books.wallets[index%4], books.categories[index%3]
		amount := rapid.Int64Range(1, 1_000_000).Draw(r, "amount")
		transaction := posting.Transaction{
			ID: uuid.New(), WalletID: w.ID, Currency: rapid.SampledFrom(codes).Draw(r, "currency"),
			AmountMinor: -amount, Date: start.AddDate(0, 0, index),
			Payee: hostile.Draw(r, "payee"), Description: hostile.Draw(r, "description"),
			Notes: hostile.Draw(r, "notes"), TagNames: []string{hostile.Draw(r, "tag")},
		}
		add := func(t posting.Transaction) { balances[t.WalletID][t.Currency] += t.AmountMinor }
		switch index % 4 {
		case 0:
			transaction.AmountMinor, transaction.CategoryID = amount, &category.ID
		case 1:
			transaction.CategoryID = &category.ID
		case 2:
			transaction.Splits = []posting.Split{{
				CategoryID: category.ID, AmountMinor: -amount - 5,
				Description: hostile.Draw(r, "part"),
			}, {CategoryID: books.categories[3].ID, AmountMinor: 5}}
		default:
			in := transaction
			transaction.TransferID = new(uuid.New())
			in.Date = in.Date.AddDate(0, 0, rapid.IntRange(-4, 4).Draw(r, "days"))
			in.ID = uuid.New()
			in.TransferID = transaction.TransferID
			in.AmountMinor = amount
			in.WalletID = books.wallets[(index+1)%4].ID
			if in.Currency = rapid.SampledFrom(codes).Draw(r,
				"to"); in.Currency != transaction.Currency {
				in.AmountMinor = rapid.Int64Range(1, 1_000_000).Draw(r, "received")
			}
			entries = append(entries,
				entry{Transaction: in, other: &transaction, otherExported: true})
			add(in)
			entries = append(entries,
				entry{Transaction: transaction, other: &in, otherExported: true})
			add(transaction)
			continue
		}
		entries = append(entries, entry{Transaction: transaction})
		add(transaction)
	}
	return books, entries, balances
}

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
	b, balances := books{whole: true}, map[uuid.UUID]map[string]int64{}
	codes := []string{"EUR", "JPY", "KWD", "USD"}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 4 {
		w := wallet{walletRow: walletRow{
			ID: uuid.New(), Name: hostile.Draw(r, "wallet"),
			Currency: rapid.SampledFrom(codes).Draw(r, "currency"), Opened: start, Selected: true,
		}}
		if rapid.Bool().Draw(r, "has an opening day") {
			w.OpeningDate = new(start.AddDate(0, 0, rapid.IntRange(0, 50).Draw(r, "opening day")))
		}
		w.InitialMinor = rapid.Int64Range(-100_000, 100_000).Draw(r, "initial")
		w.shown = &ledgerv1.Wallet{}
		for _, code := range codes {
			w.shown.Balances = append(w.shown.Balances, &ledgerv1.Balance{Currency: code})
		}
		b.wallets = append(b.wallets, w)
		balances[w.ID] = map[string]int64{w.Currency: w.InitialMinor}
		b.categories = append(b.categories,
			category{ID: uuid.New(), Name: hostile.Draw(r, "category")})
	}
	var entries []entry
	for i := range 40 {
		w, c := b.wallets[i%4], b.categories[i%3]
		amount := rapid.Int64Range(1, 1_000_000).Draw(r, "amount")
		t := posting.Transaction{
			ID: uuid.New(), WalletID: w.ID, Currency: rapid.SampledFrom(codes).Draw(r, "currency"),
			AmountMinor: -amount, Date: start.AddDate(0, 0, i),
			Payee: hostile.Draw(r, "payee"), Description: hostile.Draw(r, "description"),
			Notes: hostile.Draw(r, "notes"), TagNames: []string{hostile.Draw(r, "tag")},
		}
		add := func(t posting.Transaction) { balances[t.WalletID][t.Currency] += t.AmountMinor }
		switch i % 4 {
		case 0:
			t.AmountMinor, t.CategoryID = amount, &c.ID
		case 1:
			t.CategoryID = &c.ID
		case 2:
			t.Splits = []posting.Split{{
				CategoryID: c.ID, AmountMinor: -amount - 5, Description: hostile.Draw(r, "part"),
			}, {CategoryID: b.categories[3].ID, AmountMinor: 5}}
		default:
			in := t
			t.TransferID = new(uuid.New())
			in.Date = in.Date.AddDate(0, 0, rapid.IntRange(-4, 4).Draw(r, "days"))
			in.ID = uuid.New()
			in.TransferID = t.TransferID
			in.AmountMinor = amount
			in.WalletID = b.wallets[(i+1)%4].ID
			if in.Currency = rapid.SampledFrom(codes).Draw(r, "to"); in.Currency != t.Currency {
				in.AmountMinor = rapid.Int64Range(1, 1_000_000).Draw(r, "received")
			}
			entries = append(entries, entry{Transaction: in, other: &t, otherExported: true})
			add(in)
			entries = append(entries, entry{Transaction: t, other: &in, otherExported: true})
			add(t)
			continue
		}
		entries = append(entries, entry{Transaction: t})
		add(t)
	}
	return b, entries, balances
}

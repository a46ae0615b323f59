package export

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/coffer-budget/coffer/internal/money"
)

// chart holds the accounts of a journal: one per wallet, and two per category, because the sign of
// a transaction decides whether it is an expense or income. Both formats of journals embed it.
type chart struct {
	assets, expenses, income map[uuid.UUID]string
	// opening is the other side of opening balances, and adjustments that of adjustments. transfers
	// is the other side of a leg whose counterpart is not in the entry.
	opening, adjustments, transfers string
}

// newChart returns the accounts of the books. roots are the first segments of the accounts of
// wallets, expenses and income. segment makes a name valid in the format. Names that are equal
// afterwards get a number.
func newChart(books books, roots [3]string, segment func(string) string) chart {
	chart := chart{
		assets: map[uuid.UUID]string{}, expenses: map[uuid.UUID]string{},
		income: map[uuid.UUID]string{},
	}
	taken := map[string]bool{}
	for _, w := range books.wallets {
		chart.assets[w.ID] = roots[0] + ":" + unique(taken, segment(w.Name))
	}
	taken = map[string]bool{}
	for _, one := range books.categories {
		name := unique(taken, segment(one.Name))
		chart.expenses[one.ID], chart.income[one.ID] = roots[1]+":"+name, roots[2]+":"+name
	}
	return chart
}

type line struct {
	account, amount string
	// price is the total price in another currency, or empty.
	price   string
	comment string
}

// repeats reports whether the entry of the other leg already contains the transfer of t. An entry
// belongs to the leg out. A leg in becomes an entry only if a filter excludes the leg out.
func (t entry) repeats() bool { return t.TransferID != nil && t.AmountMinor > 0 && t.otherExported }

// lines returns the lines of the entry of a transaction or transfer. Their amounts, or prices, add
// up to 0.
func (c chart) lines(entry entry) []line {
	own := line{
		account: c.assets[entry.WalletID], amount: amountOf(entry.AmountMinor, entry.Currency),
	}
	switch {
	case entry.TransferID != nil:
		return c.transfer(entry, own)
	case entry.Adjustment:
		other := amountOf(-entry.AmountMinor, entry.Currency)
		return []line{own, {account: c.adjustments, amount: other}}
	case len(entry.Splits) > 0:
		lines := []line{own}
		for _, s := range entry.Splits {
			category := c.category(entry.AmountMinor, s.CategoryID)
			amount := amountOf(-s.AmountMinor, entry.Currency)
			lines = append(lines, line{account: category, amount: amount, comment: s.Description})
		}
		return lines
	}
	category := c.category(entry.AmountMinor, *entry.CategoryID)
	return []line{own, {account: category, amount: amountOf(-entry.AmountMinor, entry.Currency)}}
}

// transfer returns the lines of a transfer. Between currencies, the leg out has the amount of the
// leg in as its total price, which keeps both amounts exact; a rate would have to be rounded. If
// the amounts of one currency differ, the account transfers gets the rest.
func (c chart) transfer(entry entry, own line) []line {
	switch {
	case entry.other == nil:
		return []line{
			own, {account: c.transfers, amount: amountOf(-entry.AmountMinor, entry.Currency)},
		}
	case entry.other.Currency == entry.Currency:
		lines := []line{own, {
			account: c.assets[entry.other.WalletID],
			amount:  amountOf(entry.other.AmountMinor, entry.Currency),
		}}
		if rest := entry.AmountMinor + entry.other.AmountMinor; rest != 0 {
			lines = append(lines,
				line{account: c.transfers, amount: amountOf(-rest, entry.Currency)})
		}
		return lines
	}
	out, in := entry.Transaction, *entry.other
	if out.AmountMinor > 0 {
		out, in = in, out
	}
	sent, received := amountOf(out.AmountMinor, out.Currency), amountOf(in.AmountMinor, in.Currency)
	return []line{
		{account: c.assets[out.WalletID], amount: sent, price: received},
		{account: c.assets[in.WalletID], amount: received},
	}
}

func (c chart) category(amount int64, id uuid.UUID) string {
	if amount < 0 {
		return c.expenses[id]
	}
	return c.income[id]
}

// openings returns the wallets whose opening balance is part of the export. A balance that counts
// only after the end of the export is none.
func openings(b books) []wallet {
	var opened []wallet
	for _, w := range b.wallets {
		later := b.end != nil && w.OpeningDate != nil && !w.OpeningDate.Before(*b.end)
		if w.InitialMinor != 0 && b.whole && w.Selected && !later {
			opened = append(opened, w)
		}
	}
	return opened
}

// openingDay returns the day of the entry of a wallet's opening balance: its first day if the
// balance counts for all days.
func (w wallet) openingDay() string {
	if w.OpeningDate != nil {
		return day(*w.OpeningDate)
	}
	return day(w.Opened)
}

func amountOf(minor int64, code string) string {
	return money.CurrencyOf(code).Format(minor) + " " + code
}

// isBlank reports whether r is white space or a control character.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// single returns a text as one line: each run of blanks becomes a space.
func single(s string) string { return strings.Join(strings.FieldsFunc(s, isBlank), " ") }

// unique returns a name that is not taken, with a number if necessary, and marks it as taken.
func unique(taken map[string]bool, name string) string {
	chosen := name
	for n := 2; taken[chosen]; n++ {
		chosen = fmt.Sprintf("%s-%d", name, n)
	}
	taken[chosen] = true
	return chosen
}

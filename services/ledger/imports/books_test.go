package imports

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// books is a random ledger of several accounts, and the entries that a program writes of it.
type books struct {
	random   *rand.Rand
	style    style
	balances map[string]int64
	entries  []entry
	// last makes each amount of a file of one side different: two rows of such a file that look
	// like the two sides of one transfer would be two transfers.
	last int64
	// legs is the number of the parts that are transfers, counted in both accounts.
	legs int
}

// style says whether the account at the other side of a transfer has it, too.
type style int

const (
	oneSide  style = iota
	total          // One record for all parts of a split.
	eachPart       // A record for each part.
)

// entry is a transaction of an account.
type entry struct {
	account string
	day     int
	payee   string
	parts   []part
}

// part is a part of an entry. It has a category, or another account if it is a transfer.
type part struct {
	category, other string
	cents           int64
}

func (e entry) cents() (sum int64) {
	for _, p := range e.parts {
		sum += p.cents
	}
	return sum
}

var accountNames = []string{"Checking", "Visa", "Savings", "Cash"}

// newBooks returns a random ledger with a number of entries.
func newBooks(seed uint64, s style, entries int) *books {
	b := &books{
		random: rand.New(rand.NewPCG(seed, 0)), style: s, balances: map[string]int64{},
	}
	for range entries {
		b.enter()
	}
	return b
}

func decimal(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// amount returns a signed amount in cents. In a file with both sides, amounts often repeat.
func (b *books) amount() int64 {
	n := int64(b.random.IntN(5)+1) * 100
	if b.style == oneSide {
		b.last += int64(b.random.IntN(50) + 1)
		n = b.last
	}
	if b.random.IntN(3) == 0 {
		return n
	}
	return -n
}

// enter adds a random entry: a transaction, a transfer or a split of both.
func (b *books) enter() {
	pick := func() string { return accountNames[b.random.IntN(len(accountNames))] }
	e := entry{account: pick(), day: b.random.IntN(4) + 20, payee: "Shop"}
	parts := 1
	if b.random.IntN(3) == 0 {
		parts = b.random.IntN(4) + 2
	}
	sums, others := map[string]int64{}, []string(nil)
	for range parts {
		p := part{cents: b.amount(), category: []string{"Food", "Home:Rent"}[b.random.IntN(2)]}
		if other := pick(); other != e.account && b.random.IntN(2) == 0 {
			p.other, p.category = other, ""
			b.balances[other] -= p.cents
			sums[other] -= p.cents
			others = append(others, other)
			b.legs += 2
			if b.style == eachPart {
				b.addOther(e, other, -p.cents)
			}
		}
		e.parts = append(e.parts, p)
	}
	b.balances[e.account] += e.cents()
	b.entries = append(b.entries, e)
	slices.Sort(others)
	for _, other := range slices.Compact(others) {
		if b.style == total {
			b.addOther(e, other, sums[other])
		}
	}
}

// addOther adds the other side of transfers of an entry.
func (b *books) addOther(e entry, account string, cents int64) {
	b.entries = append(b.entries, entry{
		account: account, day: e.day, parts: []part{{other: e.account, cents: cents}},
	})
}

// qif returns the books as a QIF file. Three accounts have an opening balance.
func (b *books) qif() string {
	var file strings.Builder
	for i, name := range accountNames {
		fmt.Fprintf(&file, "!Account\nN%s\nTBank\n^\n!Type:Bank\n", name)
		if opening := int64(i) * 10_000; i < 3 {
			b.balances[name] += opening
			fmt.Fprintf(&file, "D01/01/2026\nT%s\nPOpening Balance\nL[%s]\n^\n",
				decimal(opening), name)
		}
		for _, e := range b.entries {
			if e.account != name {
				continue
			}
			fmt.Fprintf(&file, "D01/%d/2026\nT%s\nP%s\n", e.day, decimal(e.cents()), e.payee)
			for _, p := range e.parts {
				meaning := p.category
				if p.other != "" {
					meaning = "[" + p.other + "]"
				}
				if len(e.parts) == 1 {
					fmt.Fprintf(&file, "L%s\n", meaning)
				} else {
					fmt.Fprintf(&file, "S%s\n$%s\n", meaning, decimal(p.cents))
				}
			}
			file.WriteString("^\n")
		}
	}
	return file.String()
}

// rows returns the books as CSV with a row for each part. written returns the cells after the
// account and the day.
func (b *books) rows(heading string, written func(e entry, i int) string) string {
	file := heading + "\n"
	for _, e := range b.entries {
		for i := range e.parts {
			file += fmt.Sprintf("%s,2026-01-%d,%s\n", e.account, e.day, written(e, i))
		}
	}
	return file
}

// actual returns the books in the form of Actual, where the other account is the payee.
func (b *books) actual() string {
	return b.rows("Account,Date,Payee,Notes,Category,Amount", func(e entry, i int) string {
		p := e.parts[i]
		payee := e.payee
		if p.other != "" {
			payee = p.other
		}
		return payee + ",," + p.category + "," + decimal(p.cents)
	})
}

// gnucash returns the books in the form of GnuCash, where the other account is the category.
func (b *books) gnucash() string {
	return b.rows(`Account Name,Date,Number,Description,Full Category Path,Amount Num.`,
		func(e entry, i int) string {
			p := e.parts[i]
			return ",Text," + p.category + p.other + "," + decimal(p.cents)
		})
}

// ynab returns the books as YNAB's register.
func (b *books) ynab() string {
	const heading = "Account,Date,Flag,Payee,Category Group/Category,Memo,Outflow,Inflow,Cleared"
	return b.rows(heading, func(e entry, i int) string {
		p := e.parts[i]
		payee, memo := e.payee, ""
		if p.other != "" {
			payee = "Transfer : " + p.other
		}
		if n := len(e.parts); n > 1 {
			memo = fmt.Sprintf("Split (%d/%d)", i+1, n)
		}
		return "," + payee + "," + p.category + "," + memo + "," + decimal(max(0, -p.cents)) + "," +
			decimal(max(0, p.cents)) + ",Cleared"
	})
}

// TestCommitImportBooks writes random ledgers with transfers, splits and transfers in splits as
// files in which the other account has its side of a transfer, or has none. After the import, the
// balances are those of the ledger. A second import of the file books nothing.
func TestCommitImportBooks(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, tc := range map[string]struct {
		style style
		file  func(*books) string
		// pairs is set if each part that is a transfer has a row in both accounts.
		pairs bool
	}{
		"qif_one_side":  {oneSide, (*books).qif, false},
		"qif_total":     {total, (*books).qif, false},
		"qif_each_part": {eachPart, (*books).qif, false},
		"ynab":          {eachPart, (*books).ynab, true},
		"ynab_one_side": {oneSide, (*books).ynab, true},
		"actual":        {eachPart, (*books).actual, true},
		"gnucash":       {eachPart, (*books).gnucash, true},
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s_%d", name, seed), func(t *testing.T) {
				t.Parallel()
				p := newPerson(t, s)
				b := newBooks(seed, tc.style, 30)
				file := tc.file(b)
				m := p.uploadBooks(t, file)
				// A random ledger can have more income than expenses, like a file with inverted
				// signs.
				_, err := p.CommitImport(p.Ctx,
					&ledgerv1.CommitImportRequest{Id: m.GetId(), Force: true})
				require.NoError(t, err)
				require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
				require.Equal(t, b.balances, p.walletBalances(t), file)
				if tc.pairs {
					require.Equal(t, b.legs, p.legs(t))
				}
				again := p.uploaded(t, file).GetImport()
				require.Zero(t, again.GetCounts().GetReady())
				require.Zero(t, again.GetCounts().GetMatched())
				m = p.undo(t, m, false)
				require.Equal(t, staging.Undone, m.GetStatus())
				require.Empty(t, p.walletBalances(t))
			})
		}
	}
}

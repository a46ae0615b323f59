package proposal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// entry is a transaction of a random ledger, in cents. A fee lowers the balance beside the amount.
type entry struct {
	day         time.Time
	amount, fee int64
	balance     int64
	neutral     bool // The type column does not say a direction.
}

// layout is a random form of a ledger as a file.
type layout struct {
	*rand.Rand

	comma, newestFirst, balance, fees, net bool
	mode                                   int
}

// The ways in which a layout writes signs.
const (
	signed = iota
	asCard // Purchases are positive, and most rows are purchases.
	withType
	inPair
	inUnnamedPair
	modes
)

// headings and values of directions: money out and money in.
var (
	pairs = [][2]string{
		{"Debit", "Credit"}, {"Money out", "Money in"}, {"Soll", "Haben"}, {"Uitgaven", "Inkomsten"},
	}
	unnamed = [][2]string{{"Alpha", "Beta"}}
	kinds   = [][2]string{{"D", "C"}, {"Debit", "Credit"}, {"S", "H"}, {"支出", "收入"}, {"Af", "Bij"}}
)

// TestProposeRandomLedgers writes random ledgers in random layouts and reads them again. An amount
// may be wrong only if a warning blocks the commit.
func TestProposeRandomLedgers(t *testing.T) {
	t.Parallel()
	asked := 0
	const files = 500
	for seed := range uint64(files) {
		l := newLayout(seed)
		entries := l.ledger()
		file := l.write(entries)
		records, facts := fixture.ReadAll(t, file, statement.Options{})
		blocked := slices.ContainsFunc(facts.Warnings, func(code string) bool {
			return statement.Blocking[code] != ""
		})
		if blocked {
			asked++
			continue
		}
		for _, r := range records[1:] {
			e := entries[r.N-2]
			if e.neutral && r.Problem != "" {
				continue
			}
			require.Empty(t, r.Problem, "%d\n%s", seed, file)
			require.Equal(t, written.SumOf(cents(e.amount-e.fee)), written.SumOf(r.Amount),
				"seed %d, row %d: %+v\n%s", seed, r.N, facts.Mapping, file)
		}
	}
	require.Less(t, asked, files*4/10)
}

func newLayout(seed uint64) layout {
	r := rand.New(rand.NewPCG(seed, 1))
	half := func() bool { return r.IntN(2) == 0 }
	l := layout{
		Rand: r, comma: half(), newestFirst: half(), balance: half(), fees: r.IntN(4) == 0,
		mode: r.IntN(modes),
	}
	l.net = l.fees && l.mode == signed && half()
	return l
}

// ledger returns the entries of an account in the order of the file.
func (l layout) ledger() []entry {
	day := time.Date(2024, 1, 13+l.IntN(10), 0, 0, 0, 0, time.UTC)
	entries := make([]entry, 3+l.IntN(12))
	balance := 100_000 + l.Int64N(1_000_000)
	for i := range entries {
		day = day.AddDate(0, 0, l.IntN(3))
		amount := 1 + l.Int64N(100_000)
		if l.mode == asCard && i%4 > 0 || l.mode != asCard && l.IntN(3) > 0 {
			amount = -amount
		}
		e := entry{day: day, amount: amount, neutral: l.mode == withType && l.IntN(12) == 0}
		if l.fees && l.IntN(3) == 0 {
			e.fee = 1 + l.Int64N(500)
		}
		balance += e.amount - e.fee
		e.balance = balance
		entries[i] = e
	}
	if l.newestFirst {
		slices.Reverse(entries)
	}
	return entries
}

// write returns the file.
func (l layout) write(entries []entry) string {
	heading := []string{"Date", "Text"}
	kind := kinds[l.IntN(len(kinds))]
	switch l.mode {
	case inPair:
		pair := pairs[l.IntN(len(pairs))]
		heading = append(heading, pair[0], pair[1])
	case inUnnamedPair:
		pair := unnamed[l.IntN(len(unnamed))]
		heading = append(heading, pair[0], pair[1])
	case withType:
		heading = append(heading, "Debit/Credit", "Amount")
	default:
		heading = append(heading, "Amount")
	}
	if l.fees {
		heading = append(heading, "Fee")
	}
	if l.net {
		heading = append(heading, "Net")
	}
	if l.balance {
		heading = append(heading, "Balance")
	}
	lines := []string{strings.Join(heading, ";")}
	for i, e := range entries {
		cells := []string{e.day.Format("2006-01-02"), fmt.Sprintf("Place %c", 'A'+i)}
		out, in := "", l.number(e.amount)
		if e.amount < 0 {
			out, in = l.number(-e.amount), ""
		}
		switch l.mode {
		case signed:
			cells = append(cells, l.number(e.amount))
		case asCard:
			cells = append(cells, l.number(-e.amount))
		case withType:
			direction := kind[1]
			if e.amount < 0 {
				direction = kind[0]
			}
			if e.neutral {
				direction = "/"
			}
			cells = append(cells, direction, out+in)
		default:
			cells = append(cells, out, in)
		}
		if l.fees {
			cells = append(cells, l.number(e.fee))
		}
		if l.net {
			cells = append(cells, l.number(e.amount-e.fee))
		}
		if l.balance {
			cells = append(cells, l.number(e.balance))
		}
		lines = append(lines, strings.Join(cells, ";"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// number writes cents with the decimal mark of the layout.
func (l layout) number(n int64) string {
	if l.comma {
		return strings.Replace(cents(n), ".", ",", 1)
	}
	return cents(n)
}

// cents returns an amount as canonical text.
func cents(n int64) string { return money.Decimal(n, 2) }

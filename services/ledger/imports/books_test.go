package imports

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// books is a random ledger of several accounts, and the QIF files that programs write of it.
type books struct {
	random *rand.Rand
	// style is oneSide if a transfer is written in the account of its entry only. In the other
	// styles, the other account has it, too: with one record for all parts of a split, or with one
	// for each part.
	style    string
	balances map[string]int64
	records  map[string][]string
	// last makes each amount of a file of one side different: two rows of such a file that look
	// like the two sides of one transfer would be two transfers.
	last int64
}

const (
	oneSide  = "one_side"
	total    = "total_of_parts"
	eachPart = "each_part"
)

var accountNames = []string{"Checking", "Visa", "Savings", "Cash"}

// newBooks returns a random ledger with a number of entries.
func newBooks(seed uint64, style string, entries int) *books {
	b := &books{
		random: rand.New(rand.NewPCG(seed, 0)), style: style, balances: map[string]int64{},
		records: map[string][]string{},
	}
	for i, name := range accountNames[:3] {
		b.balances[name] = int64(i) * 10_000
		b.add(name, 1, b.balances[name], "POpening Balance\nL["+name+"]")
	}
	for range entries {
		b.enter()
	}
	return b
}

// add adds the record of an entry to an account.
func (b *books) add(account string, day int, cents int64, lines string) {
	b.records[account] = append(b.records[account],
		fmt.Sprintf("D01/%02d/2026\nT%s\n%s\n^\n", day, decimal(cents), lines))
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
	account := accountNames[b.random.IntN(len(accountNames))]
	day := b.random.IntN(4) + 20
	parts := 1
	if b.random.IntN(3) == 0 {
		parts = b.random.IntN(4) + 2
	}
	var sum int64
	var lines string
	sums, others := map[string]int64{}, []string(nil)
	for range parts {
		cents := b.amount()
		sum += cents
		category := []string{"Food", "Home:Rent"}[b.random.IntN(2)]
		if b.random.IntN(2) == 0 {
			other := accountNames[b.random.IntN(len(accountNames))]
			if other != account {
				category = "[" + other + "]"
				b.balances[other] -= cents
				if b.style == eachPart {
					b.other(other, account, day, -cents)
				}
				sums[other] -= cents
				others = append(others, other)
			}
		}
		if parts == 1 {
			lines = "L" + category
		} else {
			lines += fmt.Sprintf("S%s\n$%s\n", category, decimal(cents))
		}
	}
	b.balances[account] += sum
	slices.Sort(others)
	for _, other := range slices.Compact(others) {
		if b.style == total {
			b.other(other, account, day, sums[other])
		}
	}
	b.add(account, day, sum, "PShop\n"+strings.TrimSuffix(lines, "\n"))
}

// other adds the other side of a transfer.
func (b *books) other(account, from string, day int, cents int64) {
	b.add(account, day, cents, "PTransfer\nL["+from+"]")
}

// file returns the books as a QIF file.
func (b *books) file() string {
	var file strings.Builder
	for _, name := range accountNames {
		fmt.Fprintf(&file, "!Account\nN%s\nTBank\n^\n!Type:Bank\n%s", name,
			strings.Join(b.records[name], ""))
	}
	return file.String()
}

// walletBalances returns the balances of all wallets by name, in cents.
func (p person) walletBalances(t *testing.T) map[string]int64 {
	t.Helper()
	type row struct {
		Name  string
		Cents int64
	}
	rows, err := pg.All[row](p.Ctx, p.DB, `
		SELECT w.name, (w.initial_minor + coalesce((
			SELECT sum(amount_minor) FROM transactions t
			WHERE t.owner_id = w.owner_id AND t.wallet_id = w.id), 0))::bigint AS cents
		FROM wallets w WHERE w.owner_id = $1 AND w.id <> $2`, p.ID, p.Wallet)
	require.NoError(t, err)
	balances := map[string]int64{}
	for _, r := range rows {
		balances[r.Name] = r.Cents
	}
	return balances
}

// uploadBooks uploads a QIF file whose accounts become wallets.
func (p person) uploadBooks(t *testing.T, file string) *ledgerv1.Import {
	t.Helper()
	m := p.uploaded(t, file).GetImport()
	return p.update(t, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Accounts: createAll(m), Defaults: &ledgerv1.ImportDefaults{
			Currency: "EUR", ExpenseCategoryId: p.Category.String(),
			IncomeCategoryId: p.Category.String(),
		},
	})
}

// TestCommitImportBooks writes random ledgers with transfers, splits and transfers in splits as QIF
// files in which the other account has its side of a transfer, or has none. After the import, the
// balances are those of the ledger. A second import of the file books nothing.
func TestCommitImportBooks(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, style := range []string{oneSide, total, eachPart} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s_%d", style, seed), func(t *testing.T) {
				t.Parallel()
				p := newPerson(t, s)
				b := newBooks(seed, style, 40)
				m := p.uploadBooks(t, b.file())
				p.committed(t, m)
				require.Equal(t, b.balances, p.walletBalances(t), "seed %d\n%s", seed, b.file())
				again := p.uploaded(t, b.file()).GetImport()
				require.Zero(t, again.GetCounts().GetReady())
				require.Zero(t, again.GetCounts().GetMatched())
				m = p.undo(t, m, false)
				require.Equal(t, staging.Undone, m.GetStatus())
				require.Empty(t, p.walletBalances(t))
			})
		}
	}
}

package imports

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

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

// uploadBooks uploads a file whose accounts become wallets.
func (p person) uploadBooks(t *testing.T, file string) *ledgerv1.Import {
	t.Helper()
	m := p.uploaded(t, file).GetImport()
	return p.update(t, &ledgerv1.UpdateImportRequest{
		Id: m.GetId(), Accounts: createAll(m), Defaults: &ledgerv1.ImportDefaultsChange{
			Currency: new("EUR"), ExpenseCategoryId: new(p.Category.String()),
			IncomeCategoryId: new(p.Category.String()),
		},
	})
}

// legs returns the number of the user's transactions that are legs of transfers.
func (p person) legs(t *testing.T) (n int) {
	t.Helper()
	for _, text := range p.moved(t) {
		n += strings.Count(text, "|transfer|")
	}
	return n
}

// twoAccounts is a QIF file with both sides of a transfer and of a part of a split.
const twoAccounts = `!Account
NChecking
^
!Type:Bank
D01/20/2026
T3000.00
PEmployer
LSalary
^
D01/21/2026
T-100.00
L[Visa]
^
D01/22/2026
T-74.12
PShop
SFood
$-24.12
S[Visa]
$-50.00
^
!Account
NVisa
^
!Type:CCard
D01/21/2026
T100.00
L[Checking]
^
D01/22/2026
T50.00
L[Checking]
^
`

// TestCreateImportTransfers changes rows and accounts of a file with transfers.
func TestCreateImportTransfers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	statuses := func(t *testing.T, p person, m *ledgerv1.Import) []string {
		t.Helper()
		var texts []string
		for _, r := range p.rows(t, m) {
			text := fmt.Sprint(r.GetAmount(), " ", r.GetCategoryFrom())
			texts = append(texts, strings.TrimSpace(text))
		}
		return texts
	}
	for name, tc := range map[string]struct {
		file     string
		change   *rowChange
		balances map[string]int64
		// from holds the amounts of the rows with the origins of their categories. Rows of
		// transfers have the origin file, because the commit creates their wallets.
		from     []string
		warnings []string
		evidence string
	}{
		"both_sides": {
			file:     twoAccounts,
			balances: map[string]int64{"Checking": 282588, "Visa": 15000},
			from:     []string{"3000.00 file", "-100.00 file", "-24.12 file", "-50.00 file", "100.00 file", "50.00 file"},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED"},
		},
		"a_side_that_the_user_skips": {
			file:     twoAccounts,
			change:   &rowChange{N: 6, Action: new("skip")},
			balances: map[string]int64{"Checking": 282588, "Visa": 10000},
			from:     []string{"3000.00 file", "-100.00 file", "-24.12 file", "-50.00 default", "100.00 file", "50.00 file"},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED"},
		},
		"a_side_that_is_missing": {
			file: strings.Replace(twoAccounts, "T100.00\nL[Checking]\n", "T7.00\nL[Checking]\n", 1) +
				"D01/23/2026\nT1.00\nL[Checking]\n^\n!Account\nNChecking\n^\n!Type:Bank\nD01/23/2026\nT-1.00\nL[Visa]\n^\n",
			balances: map[string]int64{"Checking": 282488, "Visa": 5800},
			from: []string{
				"3000.00 file", "-100.00 default", "-24.12 file", "-50.00 file", "7.00 default", "50.00 file", "1.00 file", "-1.00 file",
			},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_UNPAIRED"},
			evidence: ": 2. They are ordinary transactions",
		},
		"a_file_of_one_side": {
			file: strings.NewReplacer("T100.00\nL[Checking]\n", "T-7.00\nLFood\n", "T50.00\nL[Checking]\n", "T-8.00\nLFood\n").
				Replace(twoAccounts),
			balances: map[string]int64{"Checking": 282588, "Visa": 13500},
			from:     []string{"3000.00 file", "-100.00 file", "-24.12 file", "-50.00 file", "-7.00 file", "-8.00 file"},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_UNPAIRED"},
			evidence: ": 2. They also change the other account",
		},
		"sides_of_different_days": {
			file:     strings.Replace(twoAccounts, "D01/21/2026\nT100.00", "D01/24/2026\nT100.00", 1),
			balances: map[string]int64{"Checking": 282588, "Visa": 15000},
			from:     []string{"3000.00 file", "-100.00 file", "-24.12 file", "-50.00 file", "100.00 file", "50.00 file"},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED", "TRANSFERS_ASSUMED"},
			evidence: "at most 3 apart: 1. ",
		},
		"sides_of_different_days_that_are_no_transfer": {
			file:     strings.Replace(twoAccounts, "D01/21/2026\nT100.00", "D01/24/2026\nT100.00", 1),
			change:   &rowChange{N: 2, Action: new("skip")},
			balances: map[string]int64{"Checking": 292588, "Visa": 15000},
			from:     []string{"3000.00 file", "-100.00 file", "-24.12 file", "-50.00 file", "100.00 default", "50.00 file"},
			warnings: []string{"CURRENCY_ASSUMED", "SPLITS_DIVIDED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, s)
			m := p.uploadBooks(t, tc.file)
			if tc.change != nil {
				p.change(t, m, tc.change)
			}
			m = p.get(t, m)
			require.Equal(t, tc.from, statuses(t, p, m))
			require.Equal(t, tc.warnings, m.GetWarnings())
			assumptions := fmt.Sprint(m.GetAssumptions())
			require.Contains(t, assumptions, tc.evidence)
			p.committed(t, p.confirmPairs(t, m))
			require.Equal(t, tc.balances, p.walletBalances(t))
		})
	}
	t.Run("an account without a wallet", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		bank := p.MakeWallet(p.Ctx, t, "Checking", "EUR")
		file, _, _ := strings.Cut(twoAccounts, "!Account\nNVisa")
		// The default wallet is for rows of accounts. Visa has none, so it receives no money.
		m := p.mustUpload(t, file)
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{Key: "Checking", WalletId: bank.String()}},
		})
		p.committed(t, m)
		require.Equal(t, map[string]int64{"Checking": 282588}, p.walletBalances(t))
		require.Equal(t, "0.00", p.balance(t))
	})
}

// TestCommitImportExistingLegs imports a side of a transfer whose other side exists. It becomes a
// transfer with it, and not another leg.
func TestCommitImportExistingLegs(t *testing.T) {
	t.Parallel()
	s := setup(t)
	checking, visa, _ := strings.Cut(twoAccounts, "!Account\nNVisa")
	visa = "!Account\nNVisa" + visa
	t.Run("from the file of the other account", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		// The first file books two rows, because Checking has no wallet yet.
		m := p.uploaded(t, visa).GetImport()
		p.committed(t, p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{Key: "Visa", Create: true}},
			Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR"), IncomeCategoryId: new(p.Category.String())},
		}))
		require.Zero(t, p.legs(t))
		m = p.uploaded(t, checking).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{Key: "Checking", Create: true}},
			Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
		})
		p.committed(t, m)
		want := map[string]int64{"Checking": 282588, "Visa": 15000}
		require.Equal(t, want, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
		p.undo(t, m, false)
		require.Equal(t, map[string]int64{"Visa": 15000}, p.walletBalances(t))
		require.Zero(t, p.legs(t))
	})
	t.Run("from the file of the other account, as a transfer of another day", func(t *testing.T) {
		t.Parallel()
		s := setup(t) // Other subtests would change what is stored.
		p := newPerson(t, s)
		p.MakeWallet(p.Ctx, t, "Visa", "EUR")
		p.MakeWallet(p.Ctx, t, "Checking", "EUR")
		defaults := &ledgerv1.ImportDefaultsChange{
			Currency: new("EUR"), IncomeCategoryId: new(p.Category.String()),
		}
		m := p.uploaded(t, checking).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: defaults})
		p.committed(t, m)
		want := map[string]int64{"Checking": 282588, "Visa": 15000}
		require.Equal(t, want, p.walletBalances(t))
		before := s.stored(t)
		later := strings.NewReplacer("D01/21", "D01/24", "T100.00\n", "T100.00\nMThank you\n").
			Replace(visa)
		m = p.uploaded(t, later).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: defaults})
		require.EqualValues(t, 2, m.GetCounts().GetMatched())
		p.committed(t, m)
		require.Equal(t, want, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
		p.undo(t, m, false)
		require.Equal(t, before, s.stored(t))
	})
	t.Run("from the file of the other account since the preview", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		p.MakeWallet(p.Ctx, t, "Visa", "EUR")
		p.MakeWallet(p.Ctx, t, "Checking", "EUR")
		defaults := &ledgerv1.ImportDefaultsChange{
			Currency: new("EUR"), IncomeCategoryId: new(p.Category.String()),
		}
		later := strings.NewReplacer("D01/21", "D01/24", "T100.00\n", "T100.00\nMThank you\n").
			Replace(visa)
		var all []*ledgerv1.Import
		for _, file := range []string{checking, later} {
			m := p.uploaded(t, file).GetImport()
			all = append(all, p.update(t,
				&ledgerv1.UpdateImportRequest{Id: m.GetId(), Defaults: defaults}))
		}
		require.Zero(t, all[1].GetCounts().GetMatched())
		for _, m := range all {
			p.committed(t, m)
		}
		require.EqualValues(t, 2, p.get(t, all[1]).GetCounts().GetMatched())
		require.Equal(t, map[string]int64{"Checking": 282588, "Visa": 15000}, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
	})
	t.Run("entered by hand", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t, s)
		wallet := p.MakeWallet(p.Ctx, t, "Visa", "EUR")
		typed := posting.Transaction{
			WalletID: wallet, CategoryID: &p.Category, AmountMinor: 10000, Currency: "EUR",
			Date: time.Date(2026, 1, 21, 0, 0, 0, 0, time.UTC),
		}
		s.Record(p.Ctx, t, typed)
		m := p.uploaded(t, twoAccounts).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Accounts: []*ledgerv1.ImportAccount{{Key: "Checking", Create: true}},
			Defaults: &ledgerv1.ImportDefaultsChange{Currency: new("EUR")},
		})
		require.EqualValues(t, 1, m.GetCounts().GetMatched())
		// No row needs a default category.
		p.committed(t, m)
		want := map[string]int64{"Checking": 282588, "Visa": 15000}
		require.Equal(t, want, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
	})
}

package imports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportExistingTransfer imports both sides of transfers that an earlier file of one side
// has created. The texts of that side differ, so it has other external ids.
func TestCommitImportExistingTransfer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, visa, _ := strings.Cut(twoAccounts, "!Account\nNVisa")
	visa = "!Account\nNVisa" + visa
	both := strings.NewReplacer("T100.00\n", "T100.00\nPBalance payment\n", "T50.00\n",
		"T50.00\nPBalance payment\n").Replace(twoAccounts)
	stage := func(t *testing.T, p person, file string) *ledgerv1.Import {
		t.Helper()
		m := p.uploaded(t, file).GetImport()
		return p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
				Currency: new("EUR"), ExpenseCategoryId: new(p.Category.String()),
				IncomeCategoryId: new(p.Category.String()),
			},
		})
	}
	want := map[string]int64{"Checking": 282588, "Visa": 15000}
	withWallets := func(t *testing.T) person {
		t.Helper()
		p := newPerson(t, s)
		p.MakeWallet(p.Ctx, t, "Visa", "EUR")
		p.MakeWallet(p.Ctx, t, "Checking", "EUR")
		return p
	}
	statuses := func(t *testing.T, p person, m *ledgerv1.Import) (all []string) {
		t.Helper()
		for _, r := range p.rows(t, m) {
			all = append(all, r.GetStatus())
		}
		return all
	}
	t.Run("before the preview", func(t *testing.T) {
		t.Parallel()
		p := withWallets(t)
		p.committed(t, stage(t, p, visa))
		m := stage(t, p, both)
		require.Equal(t, []string{
			staging.Ready, staging.Matched, staging.Ready, staging.Matched, staging.Matched,
			staging.Matched,
		}, statuses(t, p, m))
		p.committed(t, m)
		require.Equal(t, want, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
		again := stage(t, p, both+"\n")
		require.Zero(t, again.GetCounts().GetReady())
		p.undo(t, m, false)
		require.Equal(t, map[string]int64{"Checking": -15000, "Visa": 15000}, p.walletBalances(t))
	})
	t.Run("since the preview", func(t *testing.T) {
		t.Parallel()
		p := withWallets(t)
		m := stage(t, p, both)
		require.Zero(t, m.GetCounts().GetMatched())
		p.committed(t, stage(t, p, visa))
		p.committed(t, m)
		require.EqualValues(t, 4, p.get(t, m).GetCounts().GetMatched())
		require.Equal(t, want, p.walletBalances(t))
		require.Equal(t, 4, p.legs(t))
	})
	t.Run("that a row of the user's choice does not share", func(t *testing.T) {
		t.Parallel()
		p := withWallets(t)
		p.committed(t, stage(t, p, visa))
		m := stage(t, p, both)
		p.change(t, m, &rowChange{N: 5, Action: new(staging.ActionBook)})
		p.committed(t, m)
		require.Equal(t, map[string]int64{"Checking": 282588, "Visa": 25000}, p.walletBalances(t))
	})
}

// TestCommitImportVoidSide imports a transfer whose first attempt has failed.
func TestCommitImportVoidSide(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	p.MakeWallet(p.Ctx, t, "Checking", "EUR")
	p.MakeWallet(p.Ctx, t, "Visa", "EUR")
	m := p.mustUpload(t, "Date,Account,Category,Payee,Amount,Currency,Status\n"+
		"2026-02-03,Checking,Visa,Card payment,-100.00,EUR,Declined\n"+
		"2026-02-03,Checking,Visa,Card payment,-100.00,EUR,Completed\n"+
		"2026-02-03,Checking,Food,Bakery,-3.50,EUR,Completed\n"+
		"2026-02-03,Visa,Checking,Card payment,100.00,EUR,Completed\n")
	require.Empty(t, m.GetWarnings())
	p.committed(t, m)
	require.Equal(t, map[string]int64{"Checking": -10350, "Visa": 10000}, p.walletBalances(t))
	require.Equal(t, 2, p.legs(t))
}

// confirmPairs confirms the warnings about transfers. Without them it does nothing.
func (p person) confirmPairs(t *testing.T, m *ledgerv1.Import) *ledgerv1.Import {
	t.Helper()
	guesses := slices.DeleteFunc(slices.Clone(m.GetWarnings()), func(code string) bool {
		return code != "TRANSFERS_ASSUMED" && code != "TRANSFERS_UNPAIRED"
	})
	if len(guesses) == 0 {
		return m
	}
	p.requireBlocked(t, m)
	return p.confirm(t, m, guesses...)
}

// TestCommitImportTransfersAssumed imports transfers whose sides have different days. The user must
// confirm them, and sees three of them.
func TestCommitImportTransfersAssumed(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	p.MakeWallet(p.Ctx, t, "Checking", "EUR")
	p.MakeWallet(p.Ctx, t, "Visa", "EUR")
	file := "Date,Account,Category,Payee,Amount,Currency\n"
	for i := range 4 {
		file += fmt.Sprintf("2026-02-%02d,Checking,Visa,Card payment,-%d.00,EUR\n", 3+5*i, 10+i) +
			fmt.Sprintf("2026-02-%02d,Visa,Checking,Card payment,%d.00,EUR\n", 4+5*i, 10+i)
	}
	file += "2026-02-25,Checking,Food,Market,-50.00,EUR\n"
	m := p.mustUpload(t, file)
	require.Equal(t, []string{"TRANSFERS_ASSUMED"}, m.GetWarnings())
	shown := m.GetAssumptions()[0]
	require.Equal(t, []int32{2, 3, 4, 5, 6, 7}, shown.GetRows())
	require.Equal(t, map[string]string{"count": "4"}, shown.GetParameters())
	require.True(t, shown.GetBlocks())
	m = p.confirmPairs(t, m)
	require.True(t, m.GetAssumptions()[0].GetAccepted())
	m = p.update(t, defaultsOf(m, p.MakeCategory(p.Ctx, t, "Fun")))
	require.True(t, m.GetAssumptions()[0].GetAccepted(), "the change does not concern it")
	p.change(t, m, &rowChange{N: 2, Action: new(staging.ActionSkip)})
	m = p.get(t, m)
	require.Equal(t, map[string]string{"count": "3"}, m.GetAssumptions()[0].GetParameters())
	p.committed(t, p.confirmPairs(t, m))
	require.Equal(t, map[string]int64{"Checking": -8600, "Visa": 4600}, p.walletBalances(t))
	require.Equal(t, 6, p.legs(t))
}

// TestCommitImportTransfersUnpaired imports transfers with one row. The user must confirm whether
// they change the other account, and again if a change of rows makes them others.
func TestCommitImportTransfersUnpaired(t *testing.T) {
	t.Parallel()
	p := newPerson(t, setup(t))
	p.MakeWallet(p.Ctx, t, "Checking", "EUR")
	p.MakeWallet(p.Ctx, t, "Visa", "EUR")
	file := strings.NewReplacer("T100.00\nL[Checking]\n", "T-7.00\nLFood\n",
		"T50.00\nL[Checking]\n", "T-8.00\nLFood\n").Replace(twoAccounts)
	m := p.mustUpload(t, file)
	shown := func() *ledgerv1.ImportAssumption {
		all := m.GetAssumptions()
		require.Equal(t, "TRANSFERS_UNPAIRED", all[len(all)-1].GetCode())
		return all[len(all)-1]
	}
	require.Equal(t, "SIDES_WHOLE", shown().GetReason())
	require.True(t, shown().GetBlocks())
	m = p.confirmPairs(t, m)
	require.True(t, shown().GetAccepted())
	m = p.update(t, defaultsOf(m, p.MakeCategory(p.Ctx, t, "Fun")))
	require.True(t, shown().GetAccepted(), "the change does not concern it")
	p.change(t, m, &rowChange{N: 2, Action: new(staging.ActionSkip)})
	m = p.get(t, m)
	require.Equal(t, "1", shown().GetParameters()["count"])
	p.committed(t, p.confirmPairs(t, m))
	require.Equal(t, map[string]int64{"Checking": 292588, "Visa": 3500}, p.walletBalances(t))
}

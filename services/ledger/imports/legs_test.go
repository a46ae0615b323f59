package imports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestCommitImportLegsOfOtherRows imports two transfers with the same amount, of which the file of
// the other account has created the first one. The second one is a transfer of its own.
func TestCommitImportLegsOfOtherRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.MakeWallet(p.Ctx, t, "Visa", "EUR")
	p.MakeWallet(p.Ctx, t, "Checking", "EUR")
	checking, visa, _ := strings.Cut(twoAccounts, "!Account\nNVisa")
	second := "D01/23/2026\nT100.00\nL[Checking]\n^\n"
	var m *ledgerv1.Import
	for _, file := range []string{checking, "!Account\nNVisa" + visa + second} {
		m = p.uploaded(t, file).GetImport()
		m = p.update(t, &ledgerv1.UpdateImportRequest{
			Id: m.GetId(), Defaults: &ledgerv1.ImportDefaultsChange{
				Currency: new("EUR"), IncomeCategoryId: new(p.Category.String()),
			},
		})
		p.committed(t, m)
	}
	require.EqualValues(t, 2, m.GetCounts().GetMatched())
	require.EqualValues(t, 2, p.get(t, m).GetCounts().GetMatched())
	require.Equal(t, map[string]int64{"Checking": 272588, "Visa": 25000}, p.walletBalances(t))
	require.Equal(t, 6, p.legs(t))
}

package imports

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestUpdateImportKilledAfterEachStep derives rows that are derived once more, because their
// categories are accounts. Each replica is killed after its first progress. The next one must
// continue, and the result must be the same as without kills.
func TestUpdateImportKilledAfterEachStep(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.MakeWallet(p.Ctx, t, "Giro", "EUR")
	p.MakeWallet(p.Ctx, t, "Savings", "EUR")
	_, err := p.ruling().CreateRule(p.Ctx, &ledgerv1.CreateRuleRequest{
		Name: "Skip", Conditions: []*ledgerv1.RuleCondition{{
			Field: "payee", Op: "contains", Values: []string{"alone"},
		}},
		Actions: []*ledgerv1.RuleAction{{Kind: "skip"}},
	})
	require.NoError(t, err)
	file := "Date,Account,Payee,Category,Amount,Currency\n"
	for i := range 150 {
		day := fmt.Sprintf("2026-%02d-%02d", 1+i/28, 1+i%28)
		file += fmt.Sprintf("%s,Giro,Move %d,Savings,-%d.00,EUR\n", day, i, 100+i)
		file += fmt.Sprintf("%s,Savings,Move %d,Giro,%d.00,EUR\n", day, i, 100+i)
		file += fmt.Sprintf("%s,Giro,Shop %d,Food,-%d.50,EUR\n", day, i, i)
		if i%50 == 0 {
			file += fmt.Sprintf("%s,Giro,alone,Savings,-%d.00,EUR\n", day, 1000+i)
		}
	}
	m := p.mustUpload(t, file)
	p.update(t, defaultsOf(m, p.Category))
	want := p.state(t, m)
	s.inlineRows = 0
	p.start(t, defaultsOf(m, p.Category))
	type position struct{ Derived, Amended int32 }
	at := func() (now position) {
		require.NoError(t, s.DB.QueryRow(t.Context(),
			`SELECT derived, amended FROM imports WHERE id = $1`, m.GetId()).
			Scan(&now.Derived, &now.Amended))
		return now
	}
	var amended []int32
	for kills, finished := 0, false; !finished; kills++ {
		require.Less(t, kills, 50)
		before := at()
		_, chunk := p.lease(t, s.other(), m)
		for steps := 0; !finished && at() == before; steps++ {
			require.Less(t, steps, 50)
			finished, err = chunk()
			require.NoError(t, err)
		}
		if now := at(); !finished && now.Amended > 0 {
			require.GreaterOrEqual(t, now.Derived, before.Derived)
			amended = append(amended, now.Amended)
		}
	}
	require.Greater(t, len(amended), 4, "several replicas have derived the rows of transfers")
	require.Equal(t, want, p.state(t, m))
}

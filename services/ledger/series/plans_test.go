package series

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestGetSeriesPlans requires that reports of whole months by category and wallet read monthly
// totals only, and that other reports read the transactions of their period once, besides the index
// that finds whether there are more than the limit.
func TestGetSeriesPlans(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, s.DB)
	on := fixture.On(pool)
	reports := &Reports{Ledger: on.Ledger, Reads: on.Reads}
	const months, rows = 1500, 2 * 37_000
	for name, tc := range map[string]struct {
		req         *wanted
		rows, pages int
	}{
		"the months of a year": {&wanted{}, months, 500},
		"a year by category":   {&wanted{GroupBy: new(byCategory)}, months, 500},
		"a year by wallet in a category": {&wanted{
			GroupBy: new(byWallet), CategoryId: []string{u.Category.String()},
			Interval: new("quarter"),
		}, months, 500},
		"a year by payee": {&wanted{GroupBy: new(byPayee)}, rows, rows},
		"a year by tag":   {&wanted{GroupBy: new(byTag)}, rows, rows},
		"a year of days in a category": {&wanted{
			Interval: new("day"), CategoryId: []string{u.Category.String()},
		}, rows, rows},
	} {
		// From the sixth time on, PostgreSQL may use one plan for all values.
		for range 7 {
			tc.req.From, tc.req.To = new("2025-04-01"), new("2026-03-31")
			tc.req.Currency = new("EUR")
			_, err := reports.GetSeries(u.Ctx, tc.req)
			require.NoError(t, err, name)
			plans.RequireCheap(t, tc.rows, tc.pages)
		}
	}
}

// TestComparisonPlan requires that the statement joins the groups only with its first row: a
// comparison has each payee of a period, and would compare each of them with all others.
func TestComparisonPlan(t *testing.T) {
	t.Parallel()
	s, reports, u := setup(t)
	asked, leave, err := reports.enter(u.Ctx, &wanted{GroupBy: new(byPayee)}, 1)
	require.NoError(t, err)
	defer leave()
	asked = asked.whole()
	from := asked.source()
	explain := "EXPLAIN " + from.statement(asked)
	plan, err := pg.Values[string](t.Context(), s.DB, explain, from.args...)
	require.NoError(t, err)
	text := strings.Join(plan, "\n")
	require.NotContains(t, text, "SubPlan")
	require.Equal(t, 1, strings.Count(text, "Join")+strings.Count(text, "Nested Loop  ("), text)
}

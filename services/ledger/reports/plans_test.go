package reports

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestGetSummaryPlans(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, s.DB)
	me := person{server: serve(t.Context(), fixture.On(pool)), User: u}
	t.Run("the summary of a month", func(t *testing.T) {
		_, err := me.GetSummary(me.Ctx, &summaryRequest{})
		require.NoError(t, err)
		plans.RequireCheap(t, 500, 500)
	})
	t.Run("summaries are planned once", me.summarizeOften)
	plans.Reset(t)
	t.Run("the days and the tags of a month, and of 400 days", func(t *testing.T) {
		for _, tc := range []struct {
			from, to string
			rows     int
		}{{"2026-03-01", "2026-03-31", 3000}, {"2025-02-25", "2026-03-31", 37_000}} {
			// From the sixth time on, PostgreSQL uses one plan for all values.
			for range 7 {
				req := ask(tc.from, tc.to)
				_, err := me.GetSummary(me.Ctx, req)
				require.NoError(t, err)
				without := plans.Examined(t)
				req.Include = []string{"daily"}
				_, err = me.GetSummary(me.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, without+tc.rows, without+tc.rows)
				req.Include = []string{"tags"}
				_, err = me.GetSummary(me.Ctx, req)
				require.NoError(t, err)
				plans.RequireCheap(t, without+tc.rows, without+tc.rows)
			}
		}
	})
	t.Run("the spending of fifty budgets", func(t *testing.T) {
		_, err := me.SumSpending(me.Ctx, me.fiftyBudgets())
		require.NoError(t, err)
		plans.RequireCheap(t, 50*1000, 50*500)
	})
	t.Run("a prepared summary", func(t *testing.T) {
		// From the sixth time on, PostgreSQL may plan a prepared statement without looking at its
		// arguments.
		for range 6 {
			_, err := me.GetSummary(me.Ctx, &summaryRequest{})
			require.NoError(t, err)
			plans.RequireCheap(t, 500, 500)
		}
	})
}

// summarizeOften requires that PostgreSQL plans the statements of a summary for all values, in the
// sixth execution at the latest.
func (p person) summarizeOften(t *testing.T) {
	config := p.DB.Config()
	config.MaxConns = 1
	db, err := pgxpool.NewWithConfig(p.Ctx, config)
	require.NoError(t, err)
	defer db.Close()
	for range 10 {
		for _, w := range []calendar.Period{
			{From: at("2026-03-01"), End: at("2026-04-01")},
			{From: at("2025-11-01"), End: at("2025-12-01")},
			{From: at("2025-11-10"), End: at("2025-11-20")},
		} {
			_, err := selectFigures(p.Ctx, db, summaryQuery{owner: p.ID, period: w})
			require.NoError(t, err)
		}
	}
	type row struct{ Statements, Planned int64 }
	r, err := pg.One[row](p.Ctx, db, `
		SELECT count(*) AS statements, max(custom_plans) AS planned
		FROM pg_prepared_statements
		WHERE generic_plans + custom_plans >= 10`)
	require.NoError(t, err)
	// Three statements are the same for all windows, and four depend on the parts of a window.
	require.Equal(t, row{Statements: 3 + 2*4, Planned: 5}, r)
}

// fiftyBudgets asks for windows of a year that begin and end within a month.
func (p person) fiftyBudgets() *spendingRequest {
	req := &spendingRequest{}
	for i := range 50 {
		from := time.Date(2024, 1, 15+i, 0, 0, 0, 0, time.UTC)
		req.Windows = append(req.Windows, &ledgerv1.SpendingWindow{
			OwnerId: p.ID.String(), WalletId: p.Wallet.String(),
			CategoryIds: []string{p.Category.String()},
			From:        from.Format(calendar.DateLayout),
			To:          from.AddDate(1, 0, 0).Format(calendar.DateLayout),
		})
	}
	return req
}

// TestSumSpendingPlan creates the indexes again, because PostgreSQL chooses the newest of those
// that it expects to cost the same.
func TestSumSpendingPlan(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pool, plans := fixture.Explained(t, s.DB)
	me := person{server: serve(t.Context(), fixture.On(pool)), User: u}
	db := s.DB
	type index struct{ Name, Definition string }
	indexes, err := pg.All[index](t.Context(), db, `
		SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
		FROM pg_index
		WHERE indrelid = 'transactions'::regclass AND indexrelid::regclass::text ~ '_date$'
		ORDER BY name`)
	require.NoError(t, err)
	require.Len(t, indexes, 3)
	for _, newest := range indexes {
		t.Run("with "+newest.Name+" as the newest index", func(t *testing.T) {
			pgtest.Exec(t, db, "DROP INDEX "+newest.Name+"; "+newest.Definition,
				pgx.QueryExecModeSimpleProtocol)
			// PostgreSQL uses a plan for all values from the sixth execution on.
			for range 6 {
				_, err := me.SumSpending(me.Ctx, me.fiftyBudgets())
				require.NoError(t, err)
				plans.RequireCheap(t, 50*1000, 50*500)
			}
		})
	}
}

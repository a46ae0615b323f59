package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/ledgertest"
)

// plan is a node of the plan of an executed statement, as EXPLAIN ANALYZE reports it.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []plan
}

func (p plan) each(visit func(plan)) {
	visit(p)
	for _, child := range p.Plans {
		child.each(visit)
	}
}

// examined is how many rows of tables were looked at.
func (p plan) examined() (rows int) {
	p.each(func(n plan) {
		if n.Relation != "" {
			rows += int(n.Loops * (n.Rows + n.Filtered + n.Recheck))
		}
	})
	return rows
}

// plans holds the plans of the statements that a pool ran, with the arguments and the statement mode of the service.
type plans struct {
	mu   sync.Mutex
	seen []plan
	err  error
}

func (p *plans) notice(_ *pgconn.PgConn, n *pgconn.Notice) {
	_, text, found := strings.Cut(n.Message, "plan:\n")
	if !found {
		return
	}
	var explained struct{ Plan plan }
	err := json.Unmarshal([]byte(text), &explained)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.err = append(p.seen, explained.Plan), cmp.Or(p.err, err)
}

func (p *plans) take(t testing.TB) []plan {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NoError(t, p.err)
	taken := p.seen
	p.seen = nil
	return taken
}

// explained returns a server like s whose connections record the plans of their statements.
func explained(t testing.TB, s *server) (*server, *plans) {
	t.Helper()
	p := &plans{}
	config := s.db.Config()
	config.ConnConfig.OnNotice = p.notice
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
			LOAD 'auto_explain';
			SET auto_explain.log_min_duration = 0;
			SET auto_explain.log_analyze = on;
			SET auto_explain.log_buffers = on;
			SET auto_explain.log_timing = off;
			SET auto_explain.log_format = json;
			SET client_min_messages = log`, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	watched := *s
	watched.db = pool
	return &watched, p
}

// rich is a user with a hundred thousand transactions of three years, in a table where a thousand others have some, too:
// LEDGER_ROWS in all.
func rich(t testing.TB, s *server) person {
	t.Helper()
	rows := 200_000
	if text := os.Getenv("LEDGER_ROWS"); text != "" {
		var err error
		rows, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	p := person{server: s, id: s.newID()}
	p.ctx = actAs(t.Context(), p.id)
	owners := []ledgertest.Owner{{ID: p.id, Transactions: 100_000, Years: 3}}
	for range 1000 {
		owners = append(owners, ledgertest.Owner{ID: uuid.New(), Transactions: (rows - 100_000) / 1000, Years: 1})
	}
	conn, err := s.db.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.NoError(t, ledgertest.Fill(t.Context(), conn.Conn(), today.AddDate(0, 0, 16), owners...))
	type own struct{ Wallet, Category uuid.UUID }
	o, err := pg.One[own](t.Context(), s.db, `
		SELECT (SELECT id FROM wallets WHERE owner_id = $1 AND name = 'Wallet 1') AS wallet,
			(SELECT id FROM categories WHERE owner_id = $1 AND name = 'Category 1') AS category`, p.id)
	require.NoError(t, err)
	p.wallet, p.category = o.Wallet, o.Category
	return p
}

// requireCheap requires that no plan reads transactions sequentially, and that all plans together examine at most rows rows and pages
// pages of 8 kB.
func requireCheap(t testing.TB, seen []plan, rows, pages int) {
	t.Helper()
	require.NotEmpty(t, seen)
	examined, touched := 0, 0
	for _, p := range seen {
		p.each(func(n plan) {
			require.False(t, n.Node == "Seq Scan" && n.Relation == "transactions", "%+v", n)
		})
		examined, touched = examined+p.examined(), touched+p.Hit+p.Read
	}
	require.LessOrEqual(t, examined, rows, "rows examined by %+v", seen)
	require.LessOrEqual(t, touched, pages, "pages touched by %+v", seen)
}

func TestReadPlansOfLongHistory(t *testing.T) {
	t.Parallel()
	p := rich(t, setup(t))
	var plans *plans
	p.server, plans = explained(t, p.server)
	second, err := p.ListWallets(p.ctx, &ledgerv1.ListWalletsRequest{})
	require.NoError(t, err)
	both := []string{second.GetWallets()[0].GetId(), second.GetWallets()[1].GetId()}
	wallet, category := []string{p.wallet.String()}, []string{p.category.String()}
	other := slices.DeleteFunc(slices.Clone(both), func(id string) bool { return id == wallet[0] })
	// Those nearby and, when they are too few, all that match: a twentieth of the owner's.
	const examined = nearby + 5000 + 100
	type list = ledgerv1.ListTransactionsRequest
	for name, req := range map[string]*list{
		"everything":             {},
		"one wallet":             {WalletId: wallet},
		"both wallets":           {WalletId: both},
		"one category":           {CategoryId: category},
		"wallet and category":    {WalletId: wallet, CategoryId: category},
		"expenses":               {Type: new(expense)},
		"income":                 {Type: new(income)},
		"a usual currency":       {Currency: new("EUR")},
		"a seldom one":           {Currency: new("JPY")},
		"one that nobody has":    {Currency: new("CHF")},
		"a month":                {From: new("2026-01-01"), To: new("2026-01-31")},
		"a quarter and a wallet": {From: new("2024-01-01"), To: new("2024-03-31"), WalletId: wallet},
		"amounts":                {MinAmount: new("-150"), MaxAmount: new("-100")},
		"the largest":            {MinAmount: new("199.9")},
		"amounts of a category":  {MinAmount: new("-150"), CategoryId: category},
		"a usual word":           {Q: new("groceries")},
		"a seldom one of text":   {Q: new("café 1234")},
		"a word that is not":     {Q: new("Zürich")},
		"a word and a wallet":    {Q: new("café"), WalletId: wallet},
		"a word of others":       {Q: new("rent"), WalletId: other},
		"a category of others":   {CategoryId: category, WalletId: other},
	} {
		for _, sort := range []string{newestFirst, oldestFirst, largestAmount, leastAmount} {
			t.Run(name+" by "+sort, func(t *testing.T) {
				req.Sort = &sort
				resp, err := p.ListTransactions(p.ctx, req)
				require.NoError(t, err)
				requireCheap(t, plans.take(t), examined, 5000)
				if !resp.GetPagination().GetHasMore() {
					return
				}
				req.Cursor = resp.GetPagination().GetNextCursor()
				_, err = p.ListTransactions(p.ctx, req)
				require.NoError(t, err)
				requireCheap(t, plans.take(t), examined, 5000)
				req.Cursor = ""
			})
		}
	}
	for _, short := range []string{"zz", "DM", "本", "a b", "-"} {
		t.Run("a search for "+short, func(t *testing.T) {
			_, err := p.ListTransactions(p.ctx, &list{Q: &short})
			require.NoError(t, err)
			requireCheap(t, plans.take(t), nearby+scanned, 15_000)
		})
	}
	t.Run("a short search finds all rows page by page", p.findShort)
	plans.take(t)
	t.Run("the summary of a month", func(t *testing.T) {
		_, err := p.GetSummary(p.ctx, &ledgerv1.GetSummaryRequest{})
		require.NoError(t, err)
		requireCheap(t, plans.take(t), 500, 500)
	})
	t.Run("summaries are planned once", p.summarizeOften)
	plans.take(t)
	t.Run("the spending of fifty budgets", func(t *testing.T) {
		_, err := p.SumSpending(p.ctx, p.fiftyBudgets())
		require.NoError(t, err)
		requireCheap(t, plans.take(t), 50*1000, 50*500)
	})
	t.Run("what is prepared", func(t *testing.T) {
		// From the sixth time on, Postgres may plan a prepared statement without looking at its arguments.
		for range 6 {
			for _, req := range []*list{{}, {WalletId: wallet, Sort: new(largestAmount)}} {
				_, err := p.ListTransactions(p.ctx, req)
				require.NoError(t, err)
				requireCheap(t, plans.take(t), 5000, 5000)
			}
			_, err := p.GetSummary(p.ctx, &ledgerv1.GetSummaryRequest{})
			require.NoError(t, err)
			requireCheap(t, plans.take(t), 500, 500)
		}
	})
	t.Run("a page is planned for all owners at once", func(t *testing.T) {
		conn, err := p.db.Acquire(p.ctx)
		require.NoError(t, err)
		defer conn.Release()
		after := &position{Date: today, ID: p.id}
		for _, l := range []transactionList{
			{sort: newestFirst},
			{sort: newestFirst, after: after},
			{sort: leastAmount, after: after},
			{sort: oldestFirst, currency: "EUR"},
			{sort: largestAmount, kind: expense, part: "groceries"},
			{sort: newestFirst, wallets: []uuid.UUID{p.wallet}, categories: []uuid.UUID{p.category}},
		} {
			l.owner, l.limit = p.id, 51
			for range 10 {
				_, err := walkTransactions(p.ctx, conn, l)
				require.NoError(t, err)
			}
		}
		type row struct{ Anew int64 }
		r, err := pg.One[row](p.ctx, conn, `SELECT coalesce(max(custom_plans), 0) AS anew FROM pg_prepared_statements WHERE statement LIKE '%LIMIT 51'`)
		require.NoError(t, err)
		// Postgres tries it five times before it compares.
		require.EqualValues(t, 5, r.Anew)
	})
}

// summarizeOften requires that PostgreSQL plans the statements of a summary for all values, in the sixth execution at the latest.
func (p person) summarizeOften(t *testing.T) {
	config := p.db.Config()
	config.MaxConns = 1
	db, err := pgxpool.NewWithConfig(p.ctx, config)
	require.NoError(t, err)
	defer db.Close()
	for range 10 {
		for _, w := range []window{{at("2026-03-01"), at("2026-04-01")}, {at("2025-11-01"), at("2025-12-01")}, {at("2025-11-10"), at("2025-11-20")}} {
			_, err := selectFigures(p.ctx, db, summaryQuestion{owner: p.id, window: w})
			require.NoError(t, err)
		}
	}
	type row struct{ Statements, Planned int64 }
	r, err := pg.One[row](p.ctx, db, `
		SELECT count(*) AS statements, max(custom_plans) AS planned FROM pg_prepared_statements WHERE generic_plans + custom_plans >= 30`)
	require.NoError(t, err)
	require.Equal(t, row{Statements: 6, Planned: 5}, r)
}

// fiftyBudgets asks for windows of a year that begin and end within a month.
func (p person) fiftyBudgets() *ledgerv1.SumSpendingRequest {
	req := &ledgerv1.SumSpendingRequest{}
	for i := range 50 {
		from := time.Date(2024, 1, 15+i, 0, 0, 0, 0, time.UTC)
		req.Windows = append(req.Windows, &ledgerv1.SpendingWindow{
			OwnerId: p.id.String(), WalletId: p.wallet.String(), CategoryIds: []string{p.category.String()},
			From: from.Format(dateLayout), To: from.AddDate(1, 0, 0).Format(dateLayout),
		})
	}
	return req
}

// TestSumSpendingPlan creates the indexes again, because PostgreSQL chooses the newest of those that it expects to cost the same.
func TestSumSpendingPlan(t *testing.T) {
	t.Parallel()
	p := rich(t, setup(t))
	db := p.db
	var plans *plans
	p.server, plans = explained(t, p.server)
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
			_, err := db.Exec(t.Context(), "DROP INDEX "+newest.Name+"; "+newest.Definition, pgx.QueryExecModeSimpleProtocol)
			require.NoError(t, err)
			// PostgreSQL uses a plan for all values from the sixth execution on.
			for range 6 {
				_, err := p.SumSpending(p.ctx, p.fiftyBudgets())
				require.NoError(t, err)
				requireCheap(t, plans.take(t), 50*1000, 50*500)
			}
		})
	}
}

// findShort searches for a word of two letters that only rows far from each other have.
func (p person) findShort(t *testing.T) {
	_, err := p.db.Exec(t.Context(), `
		UPDATE transactions SET description = 'DM'
		WHERE owner_id = $1 AND description ~ ' (5|25000|25001|60000|99990)$'`, p.id)
	require.NoError(t, err)
	req, found, pages := &ledgerv1.ListTransactionsRequest{Q: new("dm"), Limit: new(int32(2))}, 0, 0
	for {
		resp, err := p.ListTransactions(p.ctx, req)
		require.NoError(t, err)
		found, pages = found+len(resp.GetTransactions()), pages+1
		if !resp.GetPagination().GetHasMore() {
			break
		}
		req.Cursor = resp.GetPagination().GetNextCursor()
	}
	require.Equal(t, 5, found)
	require.LessOrEqual(t, pages, 100_000/scanned+5)
}

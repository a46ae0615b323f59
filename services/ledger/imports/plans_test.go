package imports

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/duplicates"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportPlans commits an import into a wallet with 10 000 transactions, of which
// PostgreSQL has no statistics yet. Each chunk must find external ids by their index.
func TestCommitImportPlans(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.commit(t, p.confirm(t, p.mustUpload(t, largeStatement(1)), "DATE_ORDER_ASSUMED"))
	pgtest.Exec(t, s.DB, `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object(
			'id', gen_random_uuid(), 'external_id', 'earlier ' || n))).*
		FROM transactions t, generate_series(1, 10000) AS n
		WHERE t.owner_id = $1`, p.ID)
	m := p.mustUpload(t, largeStatement(500))
	p.queueCommit(t, m)
	pool, plans := fixture.Explained(t, s.DB)
	s.Service.Ledger.DB = pool
	require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
	plans.RequireCheap(t, 10_000, 50_000)
}

// TestFindPlans looks for the duplicates of 300 rows of one day with three amounts, in a wallet
// that has 1000 transactions of this day and these amounts, beside 2000 rows of another import.
// PostgreSQL has no statistics of them. Each transaction and each row may be read a few times only.
func TestFindPlans(t *testing.T) {
	t.Parallel()
	const rows, transactions, others = 300, 1000, 2000
	s := setup(t)
	p := newPerson(t, s)
	file := "Date;Payee;Amount\n"
	for i := range rows {
		file += fmt.Sprintf("10.02.2026;Shop %d;-%d,00\n", i, 1+i%3)
	}
	// With statistics, PostgreSQL would read so small a table as a whole.
	pgtest.Exec(t, s.DB, `ALTER TABLE import_rows SET (autovacuum_enabled = off)`)
	other, m := p.mustUpload(t, statementFile), p.mustUpload(t, file)
	p.enter(t, "-1", "Other", 10)
	pgtest.Exec(t, s.DB, `UPDATE import_rows SET payee = 'Shop ' || (n - 2) WHERE import_id = $1`,
		m.GetId())
	pgtest.Exec(t, s.DB, `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
			'payee', 'Shop ' || n, 'amount_minor', -100 * (1 + n % 3)))).*
		FROM transactions t, generate_series(1, $2) AS n
		WHERE t.owner_id = $1`, p.ID, transactions)
	pgtest.Exec(t, s.DB, `
		INSERT INTO import_rows
		SELECT (jsonb_populate_record(r, jsonb_build_object('n', 10 + g))).*
		FROM import_rows r, generate_series(1, $2) AS g
		WHERE r.import_id = $1 AND r.n = 2`, other.GetId(), others)
	pool, plans := fixture.Explained(t, s.DB)
	id := uuid.MustParse(m.GetId())
	require.NoError(t, duplicates.Find(t.Context(), pool, p.ID, id, m.GetFormat(), nil))
	plans.RequireCheap(t, 3*transactions+10*rows, 20_000)
	pgtest.Exec(t, s.DB, `UPDATE import_rows SET status = 'ready' WHERE import_id = $1 AND n = 2`,
		m.GetId())
	require.NoError(t, duplicates.Find(t.Context(), pool, p.ID, id, m.GetFormat(), []int32{2}))
	plans.RequireCheap(t, 3*transactions, 10_000)
	matched := pgtest.Value[int](t, s.DB,
		`SELECT count(*) FROM import_rows WHERE import_id = $1 AND status = 'matched'`, m.GetId())
	require.Equal(t, rows, matched)
}

// accountStatements counts the statements that select the wallets of accounts.
type accountStatements struct{ atomic.Int32 }

// TraceQueryStart implements pgx.QueryTracer.
func (c *accountStatements) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData,
) context.Context {
	if strings.Contains(query.SQL, "FROM import_accounts") {
		c.Add(1)
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (c *accountStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestCreateImportAccountStatements uploads a file with many accounts. Their wallets take a
// statement for each page of rows, not one for each account.
func TestCreateImportAccountStatements(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.assign(t, accountFile, "Travel card")
	config, count := s.DB.Config(), &accountStatements{}
	config.ConnConfig.Tracer = count
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s.Service.Ledger.DB = pool
	file := accountFile
	for i := range 100 {
		file += fmt.Sprintf("2026-04-01,Bakery,-3.50,EUR,Account %d\n", i)
	}
	resp, err := p.upload(&ledgerv1.CreateImportRequest{}, file)
	require.NoError(t, err)
	accounts := resp.GetImport().GetAccounts()
	require.Len(t, accounts, 101)
	require.Equal(t, p.Wallet.String(), accounts[100].GetWalletId())
	require.Empty(t, accounts[0].GetWalletId())
	require.LessOrEqual(t, count.Load(), int32(3))
}

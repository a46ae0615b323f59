package ledger

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/outbox"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// TestStatementsOnPartitions runs each RPC and job of the ledger on tables with 16 partitions by
// owner, and compares the plans with the rule of ADR 124: a statement of a request or a job reads
// one partition. On a distributed database the planner must also know the owner of each table, and
// the responses are the same.
func TestStatementsOnPartitions(t *testing.T) {
	t.Parallel()
	responses := make(chan []string, 2)
	t.Cleanup(func() {
		if len(responses) == cap(responses) {
			first := <-responses
			assert.Equal(t, first, <-responses)
		}
	})
	for name, distributed := range map[string]bool{"plain": false, "distributed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, plans := explained(t, pgtest.New(t, fixture.Partitioned(t, os.DirFS("."))))
			isolated := isolatedOn(t, db)
			isolated.env.Ledger.Distributed = distributed
			isolated.Transactions = transactions.New(isolated.env.Ledger, isolated.env.Cursors,
				isolated.env.Reads)
			isolated.Run(t.Context())
			isolated.prepare(t)
			clear(isolated.answered)
			responses <- isolated.use()
			isolated.requireAllRPCs(t)
			isolated.useBudgets(t)
			isolated.runInBackground(t)
			require.Empty(t, plans.failures)
			sources := sourceStatements(t)
			plans.requireOnePartition(t, sources, distributed)
			if distributed {
				isolated.requireOwners(t, plans.sent, sources)
				plans.requireAll(t, sources)
			} else {
				isolated.insertForTwo(t)
			}
		})
	}
}

// TestViolationsOnPartitions requires that the errors of partitions name the constraint or index of
// the table for pg.IsViolation.
func TestViolationsOnPartitions(t *testing.T) {
	t.Parallel()
	type constraint struct{ Name, Parent string }
	db := pgtest.New(t, fixture.Partitioned(t, os.DirFS(".")))
	copies, err := pg.All[constraint](t.Context(), db, `
		SELECT c.conname AS name, p.conname AS parent
		FROM pg_constraint c JOIN pg_constraint p ON p.oid = c.conparentid
		UNION ALL
		SELECT c.relname, p.relname
		FROM pg_index
		JOIN pg_inherits ON inhrelid = indexrelid
		JOIN pg_class c ON c.oid = inhrelid
		JOIN pg_class p ON p.oid = inhparent
		WHERE indisunique`)
	require.NoError(t, err)
	require.NotEmpty(t, copies)
	for _, c := range copies {
		err := &pgconn.PgError{Code: "23505", ConstraintName: c.Name}
		assert.True(t, pg.IsViolation(err, c.Parent), "%s is a copy of %s", c.Name, c.Parent)
	}
}

func TestRunRejectsDistributions(t *testing.T) {
	t.Parallel()
	require.EqualError(t, Run(t.Context(), Config{Distributed: "shards"}, nil),
		`LEDGER_DISTRIBUTED is "shards": must be empty or "citus"`)
}

// useBudgets calls the RPCs for the budgets of several owners, who are in several partitions.
func (s *isolated) useBudgets(t *testing.T) {
	t.Helper()
	sync, sum := &ledgerv1.SyncReferencesRequest{}, &ledgerv1.SumSpendingRequest{}
	for range 10 {
		owner, id := s.env.NewID().String(), s.env.NewID().String()
		sync.Budgets = append(sync.Budgets, &ledgerv1.BudgetReferences{
			OwnerId: owner, BudgetId: id, Version: 1, CategoryIds: []string{id},
			SettledReservations: []string{id},
		})
		sum.Windows = append(sum.Windows, &ledgerv1.SpendingWindow{
			OwnerId: owner, WalletId: id, CategoryIds: []string{id},
			From: "2026-02-20", To: "2026-04-14",
		})
	}
	_, err := s.SyncReferences(t.Context(), sync)
	require.NoError(t, err)
	_, err = s.SumSpending(t.Context(), sum)
	require.NoError(t, err)
}

// insertForTwo inserts the transactions of two users with one statement, as the batcher does on one
// server. It is the only statement of requests that writes to several partitions.
func (s *isolated) insertForTwo(t *testing.T) {
	t.Helper()
	var ts []posting.Transaction
	for range 2 {
		u := s.env.NewUser(t.Context(), t)
		ts = append(ts, posting.Transaction{
			ID: s.env.NewID(), OwnerID: u.ID, WalletID: u.Wallet, CategoryID: &u.Category,
			AmountMinor: -100, Currency: "EUR", Date: fixture.Today, CreatedAt: fixture.Today,
		})
	}
	written, err := posting.Insert(t.Context(), s.db, 0, ts, outbox.Rows{}, nil)
	require.NoError(t, err)
	require.Len(t, written, 2)
	differences := s.env.Differences(t)
	for i := range ts {
		require.Empty(t, differences[ts[i].OwnerID])
	}
}

// requireOnePartition requires that no statement reads several partitions or, if the database is
// distributed, a table whose owner the planner does not know. Statements of triggers run on the
// server of their row, so they need no owner.
func (p *plans) requireOnePartition(
	t *testing.T, sources []sourceStatement, distributed bool,
) {
	t.Helper()
	unused := maps.Clone(acrossOwners)
	for sql, partitions := range p.partitions {
		ownerless := p.ownerless[sql]
		sent := p.sent.contains([]string{sql})
		if len(partitions) <= 1 && (len(ownerless) == 0 || !distributed || !sent) {
			continue
		}
		name := nameOf(sources, sql)
		delete(unused, name)
		assert.NotEmpty(t, acrossOwners[name],
			"reads %d partitions, and without a known owner the tables %q:\n%s",
			len(partitions), slices.Sorted(maps.Keys(ownerless)), sql)
	}
	if distributed {
		assert.Empty(t, unused, "these statements read one partition, or do not run")
	}
}

// requireAll requires that each statement of the source ran.
func (p *plans) requireAll(t *testing.T, sources []sourceStatement) {
	t.Helper()
	require.Greater(t, len(sources), 200)
	var missing []string
	for _, source := range sources {
		if !p.sent.contains(source.parts) && unrecorded[source.name] == "" &&
			undistributed[source.name] == "" {
			missing = append(missing, source.name)
		}
	}
	assert.Empty(t, missing, "the test does not run these statements")
}

package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportNearbyPlans commits 200 transfers of one day and amount. Their wallet has legs of
// this day and amount with another wallet, and the other wallet has ordinary transactions, of which
// only some have the amount. PostgreSQL has no statistics of them. Each chunk may read each of them
// once, and not each row.
func TestCommitImportNearbyPlans(t *testing.T) {
	t.Parallel()
	const rows, stored = 200, 1000
	s := newSaver(t)
	safe := s.MakeWallet(s.Ctx, t, "Safe", "EUR")
	var days []int
	for range rows {
		days = append(days, 5)
	}
	m := s.saves(t, days...)
	pgtest.Exec(t, s.DB, `ALTER TABLE transactions SET (autovacuum_enabled = off)`)
	s.record(t, s.receives(5))
	pgtest.Exec(t, s.DB, `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
			'amount_minor', CASE WHEN n % 10 = 0 THEN 10000 ELSE n END))).*
		FROM transactions t, generate_series(1, $2) AS n
		WHERE t.owner_id = $1`, s.ID, stored)
	pgtest.Exec(t, s.DB, `
		WITH transfer AS MATERIALIZED (
			SELECT gen_random_uuid() AS id FROM generate_series(1, $2)
		), template AS MATERIALIZED (
			SELECT t FROM transactions t WHERE owner_id = $1 LIMIT 1
		)
		INSERT INTO transactions
		SELECT (jsonb_populate_record(p.t, jsonb_build_object('id', gen_random_uuid(),
			'transfer_id', transfer.id, 'category_id', NULL, 'wallet_id', leg.wallet,
			'amount_minor', leg.amount))).*
		FROM template p, transfer, (VALUES ($3::uuid, -10000), ($4, 10000)) AS leg (wallet, amount)`,
		s.ID, stored, s.Wallet, safe)
	s.queueCommit(t, m)
	pool, plans := fixture.Explained(t, s.DB)
	s.Service.Ledger.DB = pool
	m = s.finish(t, m)
	require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
	// The first chunk has 100 rows, and a slow machine may halve the others down to 20.
	plans.RequireCheap(t, 10*4*stored, 10*10*stored+100*rows)
}

package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

// TestExpireMailed deletes the expired invitations of more budgets than one transaction locks.
func TestExpireMailed(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	env.mails(t, owner, env.budget(t, owner).GetId(), mum)
	pgtest.Exec(t, env.db, `
		INSERT INTO budgets
		SELECT (jsonb_populate_record(b,
			jsonb_build_object('id', gen_random_uuid(), 'name', n::text))).*
		FROM budgets b, generate_series(1, 1000) n`)
	pgtest.Exec(t, env.db, `
		INSERT INTO members
		SELECT (jsonb_populate_record(m, jsonb_build_object('budget_id', b.id))).*
		FROM members m
		JOIN budgets b ON b.id <> m.budget_id`)
	env.events(t)
	require.Equal(t, 1001, pgtest.Value[int](t, env.db, `SELECT count(*) FROM members`))
	env.now = func() time.Time { return budgettest.Today.Add(mailedTTL) }
	require.NoError(t, env.server.members.ExpireMailed(t.Context()))
	require.Zero(t, pgtest.Value[int](t, env.db, `SELECT count(*) FROM members`))
	require.Len(t, env.events(t), 1001)
}

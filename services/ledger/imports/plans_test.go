package imports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// TestCommitImportPlans commits an import into a wallet with 10 000 transactions, of which
// PostgreSQL has no statistics yet. Each chunk must find external ids by their index.
func TestCommitImportPlans(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.commit(t, p.mustUpload(t, largeStatement(1)))
	_, err := s.DB.Exec(t.Context(), `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'external_id', 'earlier ' || n))).*
		FROM transactions t, generate_series(1, 10000) AS n
		WHERE t.owner_id = $1`, p.ID)
	require.NoError(t, err)
	m := p.mustUpload(t, largeStatement(500))
	p.queueCommit(t, m)
	pool, plans := fixture.Explained(t, s.DB)
	s.Service.Ledger.DB = pool
	require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
	plans.RequireCheap(t, 10_000, 50_000)
}

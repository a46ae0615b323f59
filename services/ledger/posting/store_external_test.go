package posting_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestSelectExternal looks external ids up in a wallet with 10 000 transactions, of which
// PostgreSQL has no statistics yet. It must find them by their index.
func TestSelectExternal(t *testing.T) {
	t.Parallel()
	service := setup(t)
	user, other := service.NewUser(t.Context(), t), service.NewUser(t.Context(), t)
	pgtest.Exec(t, service.DB, `
		INSERT INTO transactions
		SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
			'external_id', 'id ' || n))).*
		FROM transactions t, generate_series(1, 10000) AS n
		WHERE t.id = $1`, user.Create(t, user.Spends("1")).GetId())
	pool, plans := fixture.Explained(t, service.DB)

	given := []*string{nil, new("id 7"), new("id"), new("id 99999"), new("id 10000")}
	wallets := []uuid.UUID{user.Wallet, user.Wallet, user.Wallet, user.Wallet, user.Wallet}
	found, err := posting.SelectExternal(t.Context(), pool, user.ID, wallets, given)
	require.NoError(t, err)
	plans.RequireCheap(t, 20, 100)
	require.Len(t, found, 2)
	require.Equal(t, []int{2, 5}, []int{found[0].Position, found[1].Position})
	require.NotEqual(t, found[0].ID, found[1].ID)

	sorts := pgtest.Value[string](t, pool, `SHOW enable_sort`)
	require.Equal(t, "on", sorts)
	found, err = posting.SelectExternal(t.Context(), pool, other.ID, wallets, given)
	require.NoError(t, err)
	require.Empty(t, found)
}

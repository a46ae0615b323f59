package pg_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestAConnectionThatEndsIsUnavailability(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, fstest.MapFS{"migrations/0001_none.sql": {Data: []byte("-- +goose Up\n")}})
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = pool.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, conn.Conn().PgConn().PID())
	require.NoError(t, err)
	for range 2 {
		_, err = conn.Exec(t.Context(), `SELECT 1`)
		require.Error(t, err)
		require.True(t, pg.IsUnavailable(err), "%v", err)
	}
	_, err = pool.Exec(t.Context(), `SELECT 1/0`)
	require.False(t, pg.IsUnavailable(err), "%v", err)
}

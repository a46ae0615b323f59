package distribution_test

import (
	_ "embed"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger"
	"github.com/coffer-budget/coffer/services/ledger/distribution"
)

// standIn has functions with the names of Citus's, which reject what Citus rejects. They are no
// proof that Citus accepts the statements.
//
//go:embed testdata/citus.sql
var standIn string

func run(t *testing.T, db *pgxpool.Pool, distributed string) error {
	t.Helper()
	c := db.Config().ConnConfig
	url := fmt.Sprintf("postgres://%s:%s@%s:%d/%s?sslmode=disable", c.User, c.Password, c.Host,
		c.Port, c.Database)
	return distribution.Run(t.Context(), url, c.RuntimeParams["search_path"], distributed)
}

// calls returns the tables that the stand-in distributed, in order.
func calls(t *testing.T, db *pgxpool.Pool) []string {
	t.Helper()
	names, err := pg.Values[string](t.Context(), db,
		`SELECT logicalrelid::text FROM pg_dist_partition ORDER BY call`)
	require.NoError(t, err)
	return names
}

func exec(t *testing.T, db *pgxpool.Pool, sql string) {
	t.Helper()
	pgtest.Exec(t, db, sql, pgx.QueryExecModeSimpleProtocol)
}

func TestRunOnCitus(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, ledger.Migrations)
	require.ErrorContains(t, run(t, db, distribution.Citus), "the database has no extension citus")
	exec(t, db, standIn)
	require.NoError(t, run(t, db, ""))
	require.Empty(t, calls(t, db), "nothing without the option")
	require.EqualError(t, run(t, db, "shards"),
		`LEDGER_DISTRIBUTED is "shards": must be empty or "citus"`)

	require.NoError(t, run(t, db, distribution.Citus))
	tables := calls(t, db)
	owned, err := pg.Values[string](t.Context(), db, `
		SELECT oid::regclass::text FROM pg_class
		WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
			AND relname NOT IN ('goose_db_version', 'pg_dist_partition')`)
	require.NoError(t, err)
	require.ElementsMatch(t, owned, tables)
	require.Less(t, slices.Index(tables, "wallets"), slices.Index(tables, "transactions"))
	require.Less(t, slices.Index(tables, "transactions"), slices.Index(tables, "splits"))
	keys, err := pg.Values[string](t.Context(), db, `
		SELECT pg_get_constraintdef(oid) FROM pg_constraint
		WHERE conname IN ('idempotency_keys_pkey', 'outbox_pkey') ORDER BY conname`)
	require.NoError(t, err)
	require.Equal(t, []string{
		"PRIMARY KEY (owner_id, key_hash)", "PRIMARY KEY (user_id, seq)",
	}, keys)
	groups, err := pg.Values[string](t.Context(), db,
		`SELECT DISTINCT colocated FROM pg_dist_partition ORDER BY 1`)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"none", tables[0]}, groups)

	t.Run("again for the tables of a later release", func(t *testing.T) {
		require.NoError(t, run(t, db, distribution.Citus))
		require.Equal(t, tables, calls(t, db))
		exec(t, db, `CREATE TABLE added (owner_id uuid PRIMARY KEY)`)
		require.NoError(t, run(t, db, distribution.Citus))
		require.Equal(t, append(tables, "added"), calls(t, db))
	})
	t.Run("a table that Citus rejects", func(t *testing.T) {
		exec(t, db, `
			CREATE TABLE early (owner_id uuid PRIMARY KEY);
			CREATE TABLE wrong (owner_id uuid, id uuid PRIMARY KEY)`)
		require.ErrorContains(t, run(t, db, distribution.Citus), "distributing table wrong: ")
		require.NotContains(t, calls(t, db), "early", "all tables or none")
	})
}

package pg_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

type named struct{ Name *string }

type thing struct {
	named
	Number int `db:"n"`
	Bytes  []byte
}

func TestAllScansByColumnName(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	const values = `
		FROM (VALUES (1, 'one', '\x01'::bytea), (2, NULL, NULL), (3, 'three', '\x03'))
			AS v (n, name, bytes)
		ORDER BY n`
	all, err := pg.All[thing](t.Context(), db, `SELECT bytes, n, name`+values)
	require.NoError(t, err)
	require.Equal(t, []thing{
		{named: named{new("one")}, Number: 1, Bytes: []byte{1}},
		{Number: 2},
		{named: named{new("three")}, Number: 3, Bytes: []byte{3}},
	}, all, "no row keeps a value of the row before")

	all, err = pg.All[thing](t.Context(), db, `
		SELECT bytes, n, name
		FROM (SELECT 1 AS n, '' AS name, ''::bytea AS bytes) AS none WHERE false`)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = pg.One[thing](t.Context(), db, `SELECT bytes, n, name`+values)
	require.ErrorIs(t, err, pgx.ErrTooManyRows)
	_, err = pg.One[thing](t.Context(), db,
		`SELECT 1 AS n, '' AS name, ''::bytea AS bytes WHERE false`)
	require.ErrorIs(t, err, pgx.ErrNoRows)

	_, err = pg.All[thing](t.Context(), db, `SELECT n, name`+values)
	require.ErrorContains(t, err, "Bytes")
	_, err = pg.All[thing](t.Context(), db, `SELECT n, name, bytes, n + 1 AS more`+values)
	require.ErrorContains(t, err, "more")
	_, err = pg.All[thing](t.Context(), db, `SELECT n, n AS name, bytes, 1 / (n - 2)`+values)
	require.Error(t, err)
	require.Zero(t, db.Stat().AcquiredConns())
}

func TestValues(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	const none = `SELECT 1 WHERE false`
	one, err := pg.Value[string](t.Context(), db, `SELECT 'one'`)
	require.NoError(t, err)
	require.Equal(t, "one", one)
	_, err = pg.Value[int](t.Context(), db, none)
	require.ErrorIs(t, err, pgx.ErrNoRows)
	_, err = pg.Value[int](t.Context(), db, `SELECT generate_series(1, 2)`)
	require.ErrorIs(t, err, pgx.ErrTooManyRows)

	all, err := pg.Values[int](t.Context(), db, `SELECT generate_series(1, 3)`)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, all)
	all, err = pg.Values[int](t.Context(), db, none)
	require.NoError(t, err)
	require.NotNil(t, all)
	require.Empty(t, all)
	require.Zero(t, db.Stat().AcquiredConns())
}

func TestIfNoRows(t *testing.T) {
	t.Parallel()
	broken, unknown := errors.New("broken"), errors.New("unknown")
	require.NoError(t, pg.IfNoRows(nil, unknown))
	require.Equal(t, broken, pg.IfNoRows(broken, unknown))
	require.Equal(t, unknown, pg.IfNoRows(fmt.Errorf("selecting: %w", pgx.ErrNoRows), unknown))
}

func TestErrorsNameTheQuery(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	const broken = `SELECT 1/0`
	_, one := pg.One[struct{}](t.Context(), db, broken)
	_, all := pg.All[struct{}](t.Context(), db, broken)
	_, value := pg.Value[int](t.Context(), db, broken)
	_, values := pg.Values[int](t.Context(), db, broken)
	_, affected := pg.Affected(t.Context(), db, broken)
	_, none := pg.Value[int](t.Context(), db, `SELECT 1 WHERE false`)
	_, missing := pg.One[struct{}](t.Context(), db, `SELECT WHERE false`)
	_, several := pg.One[struct{}](t.Context(), db, `SELECT FROM generate_series(1, 2)`)
	for _, err := range []error{
		one, all, value, values, affected, none, missing, several,
		pg.Exec(t.Context(), db, broken),
	} {
		require.ErrorContains(t, err, "pg_test.TestErrorsNameTheQuery: ")
	}
}

func TestAffected(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, migrations)
	require.NoError(t, pg.Exec(t.Context(), db, `INSERT INTO things (id, n) VALUES (3, 1)`))
	for _, want := range []bool{true, false} {
		done, err := pg.Affected(t.Context(), db, `DELETE FROM things WHERE id = 3`)
		require.NoError(t, err)
		require.Equal(t, want, done)
	}
}

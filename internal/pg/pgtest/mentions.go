package pgtest

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Mentions returns the tables of all schemas with a row that contains one of some texts, in any
// column: as a text, within JSON, or as bytes of a text or of a UUID.
func Mentions(t testing.TB, db *pgxpool.Pool, texts ...string) (mentioning []string) {
	t.Helper()
	q := Untraced(t, db)
	var patterns []string
	for _, text := range texts {
		patterns = append(patterns, "%"+text+"%", "%"+hex.EncodeToString([]byte(text))+"%",
			"%"+strings.ReplaceAll(text, "-", "")+"%")
	}
	tables, err := pg.Values[string](t.Context(), q, `
		SELECT format('%I.%I', nspname, relname)
		FROM pg_class
		JOIN pg_namespace n ON n.oid = relnamespace
		WHERE relkind IN ('r', 'p') AND NOT relispartition
			AND nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY 1`)
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		found := Value[bool](t, q, fmt.Sprintf(
			`SELECT EXISTS (SELECT FROM %s x WHERE x::text ILIKE ANY($1))`, table), patterns)
		if found {
			mentioning = append(mentioning, table)
		}
	}
	return mentioning
}

// Untraced returns a connection to the database of a pool without the tracer of the pool, so that a
// test that requires something of all statements does not see its own.
func Untraced(t testing.TB, db *pgxpool.Pool) *pgx.Conn {
	t.Helper()
	config := db.Config().ConnConfig
	config.Tracer = nil
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

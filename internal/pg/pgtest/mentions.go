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
func Mentions(t testing.TB, db *pgxpool.Pool, texts ...string) []string {
	t.Helper()
	mentioning, err := FindMentions(t.Context(), Untraced(t, db), texts...)
	require.NoError(t, err)
	return mentioning
}

// FindMentions is Mentions without a test.
func FindMentions(
	ctx context.Context, q pg.Querier, texts ...string,
) (mentioning []string, err error) {
	var patterns []string
	for _, text := range texts {
		patterns = append(patterns, "%"+text+"%", "%"+hex.EncodeToString([]byte(text))+"%",
			"%"+strings.ReplaceAll(text, "-", "")+"%")
	}
	tables, err := selectTables(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		found, err := pg.Value[bool](ctx, q, fmt.Sprintf(
			`SELECT EXISTS (SELECT FROM %s x WHERE x::text ILIKE ANY($1))`, table), patterns)
		if err != nil {
			return nil, err
		}
		if found {
			mentioning = append(mentioning, table)
		}
	}
	return mentioning, nil
}

// RowsNaming returns the rows of all schemas that contain a text and none of some others, by table
// and ordered.
func RowsNaming(
	t testing.TB, db *pgxpool.Pool, text string, others ...string,
) map[string][]string {
	t.Helper()
	q := Untraced(t, db)
	tables, err := selectTables(t.Context(), q)
	require.NoError(t, err)
	for _, other := range others {
		others = append(others, hex.EncodeToString([]byte(other)))
	}
	rows := map[string][]string{}
	for _, table := range tables {
		found, err := pg.Values[string](t.Context(), q, fmt.Sprintf(`
			SELECT x::text
			FROM %s x
			WHERE strpos(x::text, $1) > 0
				AND NOT EXISTS (SELECT FROM unnest($2::text[]) o WHERE strpos(x::text, o) > 0)
			ORDER BY 1`, table), text, others)
		require.NoError(t, err)
		if len(found) > 0 {
			rows[table] = found
		}
	}
	return rows
}

func selectTables(ctx context.Context, q pg.Querier) ([]string, error) {
	return pg.Values[string](ctx, q, `
		SELECT format('%I.%I', nspname, relname)
		FROM pg_class
		JOIN pg_namespace n ON n.oid = relnamespace
		WHERE relkind IN ('r', 'p') AND NOT relispartition
			AND nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY 1`)
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

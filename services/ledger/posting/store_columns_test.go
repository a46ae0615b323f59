package posting

import (
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	requireColumns(t, rowColumns, insertion{})
	requireColumns(t, partColumns, insertion{})
	requireColumns(t, postingColumns, nil)
	db := pgtest.New(t, os.DirFS(".."))
	requireTypes(t, db, "transactions", transactionColumns)
	// The first three are month, tags (an array in the table) and event_id (id in outbox).
	requireTypes(t, db, "outbox", otherColumns[3:6])
	requireTypes(t, db, "idempotency_keys", otherColumns[6:])
	requireTypes(t, db, "splits", partColumns[1:])
	requireTypes(t, db, "monthly_totals", postingColumns[:5])
}

// requireColumns requires that names are unique, and that the arrays have the Go type of the SQL
// type, so that pgx converts no element.
func requireColumns[Rows any](t *testing.T, all columns[Rows], rows Rows) {
	t.Helper()
	goTypes := map[string][]string{
		"bigint":      {"[]int64"},
		"boolean":     {"[]bool"},
		"smallint":    {"[]int16"},
		"bytea":       {"[][]uint8"},
		"text":        {"[]string", "[]*string"},
		"uuid":        {"[]uuid.UUID", "[]*uuid.UUID"},
		"date":        {"[]time.Time"},
		"timestamptz": {"[]time.Time"},
	}
	names := map[string]bool{}
	for _, c := range all {
		require.False(t, names[c.name], "%s is declared twice", c.name)
		names[c.name] = true
		require.Contains(t, goTypes[c.sqlType], fmt.Sprintf("%T", c.array(rows)), c.name)
	}
}

// requireTypes requires that a table has the columns with their types.
func requireTypes[Rows any](t *testing.T, db *pgxpool.Pool, table string, all columns[Rows]) {
	t.Helper()
	for _, c := range all {
		var same bool
		err := db.QueryRow(t.Context(), `
			SELECT atttypid = $3::text::regtype
			FROM pg_attribute
			WHERE attrelid = $1::text::regclass AND attname = $2`,
			table, c.name, c.sqlType).Scan(&same)
		require.NoError(t, err, c.name)
		require.True(t, same, "%s.%s is not of type %s", table, c.name, c.sqlType)
	}
}

package pgtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

// Exec runs a statement that must succeed. Like Value, it also works when the test is cleaned up.
func Exec(t testing.TB, q pg.Querier, sql string, args ...any) {
	t.Helper()
	require.NoError(t, pg.Exec(context.WithoutCancel(t.Context()), q, sql, args...))
}

// Value returns the single value of a query that must succeed.
func Value[T any](t testing.TB, q pg.Querier, sql string, args ...any) T {
	t.Helper()
	value, err := pg.Value[T](context.WithoutCancel(t.Context()), q, sql, args...)
	require.NoError(t, err)
	return value
}

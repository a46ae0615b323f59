package auth

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestOperatorRestoresDeletions runs the statement of docs/operations.md on a deletion that the
// services of the former database have reported.
func TestOperatorRestoresDeletions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	statement := regexp.MustCompile(`-c "(UPDATE auth\.deletions .*)"`).FindSubmatch(page)
	require.NotNil(t, statement)
	l := startDeletion(t)
	l.erasedByServices(t)
	pgtest.Exec(t, l.db, strings.ReplaceAll(string(statement[1]), "auth.", ""))
	require.Equal(t, []string{"budget"}, l.asked(t))
	require.Equal(t, "erasing", l.status(t).GetStatus())
	require.Empty(t, l.erased)
}

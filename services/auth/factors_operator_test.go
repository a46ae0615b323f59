package auth

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestOperatorDisablesSecondFactor runs the statement of docs/operations.md for a user who lost the
// phone and all recovery codes.
func TestOperatorDisablesSecondFactor(t *testing.T) {
	t.Parallel()
	p := setupProtected(t)
	ctx, _ := p.member(t, "bob@example.com")
	bob := p.protect(ctx, t, "bob@example.com")
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)## Second factors.*?```sql\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, found)
	open := p.challenge(t)
	pgtest.Exec(t, p.db, strings.ReplaceAll(string(found[1]), "auth.", ""))
	p.refusesCode(t, func() error { return p.second(open, p.code(t)) })
	p.refusesCode(t, func() error { return p.recover(open, p.recovery[0]) })
	p.protect(p.as(t, p.login(t, p.email).GetAccessToken()), t, p.email)
	require.NoError(t, bob.second(bob.challenge(t), bob.code(t)), "another user keeps the app")
}

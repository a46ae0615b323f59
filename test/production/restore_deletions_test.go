package production

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// TestRestoreDeletesAccountsAgain follows docs/operations.md to restore a backup that contains an
// account that was deleted since.
func TestRestoreDeletesAccountsAgain(t *testing.T) {
	t.Parallel()
	before := durableConfig(t)
	former, err := devstack.Start(t.Context(), before)
	require.NoError(t, err)
	stays, leaves := onlyGateway(t, former).newUser(), onlyGateway(t, former).newUser()
	require.NoError(t, stays.earn())
	require.NoError(t, leaves.earn())
	me, err := leaves.call(http.MethodGet, "/auth/me", nil)
	require.NoError(t, err)
	account := me["user"].(map[string]any)
	id, email := account["id"].(string), account["email"].(string)
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, devstack.Backup(t.Context(), before, backup))

	leaves.must(t, "/auth/deletion", map[string]any{"email": email})
	execute(t, former, `UPDATE auth.deletions SET erases_at = now()`)
	requireErased(t, former, id, email)
	deletions := copyDeletions(t, former)
	require.NoError(t, former.Stop())

	after := durableConfig(t)
	require.NoError(t, devstack.Restore(t.Context(), after, backup))
	restored, err := devstack.Start(t.Context(), after)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, restored.Stop()) })
	require.NoError(t, restored.Halt("auth"))
	require.NotEmpty(t, mentions(t, restored, id, email), "the backup contains the account")
	replaceDeletions(t, restored, deletions)
	require.NoError(t, restored.Resume(t.Context(), "auth"))

	replay := exec.CommandContext(t.Context(), os.Args[0], "replay-deletions")
	replay.Env = []string{
		beService + "=auth", "DATABASE_URL=" + restored.Databases["auth"],
		"SERVICE_KEY=" + restored.ServiceKey,
	}
	output, err := replay.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "accounts that will be deleted again: 1\n")
	requireErased(t, restored, id, email)
	kept := *stays
	kept.cluster = onlyGateway(t, restored)
	require.Equal(t, 1, kept.balance(t))
	requireSumsAddUp(t, restored)
}

// requireErased waits until all deletions are complete, and requires that no row names the user.
func requireErased(t *testing.T, s *devstack.Stack, id, email string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return scalar[bool](t, s, `SELECT bool_and(erased_at IS NOT NULL) FROM auth.deletions`)
	}, time.Minute, 100*time.Millisecond)
	require.Empty(t, mentions(t, s, id, email))
}

func mentions(t *testing.T, s *devstack.Stack, texts ...string) []string {
	t.Helper()
	db, err := pgxpool.New(t.Context(), s.Databases[""])
	require.NoError(t, err)
	defer db.Close()
	return pgtest.Mentions(t, db, texts...)
}

// copyDeletions returns the rows of the table deletions as COPY writes them.
func copyDeletions(t *testing.T, s *devstack.Stack) []byte {
	t.Helper()
	conn := superuser(t, s)
	var rows bytes.Buffer
	_, err := conn.PgConn().CopyTo(t.Context(), &rows, `COPY auth.deletions TO STDOUT`)
	require.NoError(t, err)
	return rows.Bytes()
}

// replaceDeletions replaces the restored rows by those of the former database.
func replaceDeletions(t *testing.T, s *devstack.Stack, rows []byte) {
	t.Helper()
	execute(t, s, `TRUNCATE auth.deletions`)
	conn := superuser(t, s)
	_, err := conn.PgConn().CopyFrom(t.Context(), bytes.NewReader(rows),
		`COPY auth.deletions FROM STDIN`)
	require.NoError(t, err)
	execute(t, s, `
		UPDATE auth.deletions
		SET asked = '', budget_at = NULL, ledger_at = NULL
		WHERE user_id IS NOT NULL`)
}

func execute(t *testing.T, s *devstack.Stack, sql string) {
	t.Helper()
	_, err := superuser(t, s).Exec(t.Context(), sql)
	require.NoError(t, err)
}

// superuser returns a connection that is closed at the end of the test.
func superuser(t *testing.T, s *devstack.Stack) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Databases[""])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

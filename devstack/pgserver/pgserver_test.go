package pgserver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// folder returns a temporary folder that every account can enter, unlike that of t.TempDir.
func folder(t *testing.T) string {
	t.Helper()
	//nolint:usetesting // t.TempDir is closed to the account that runs PostgreSQL for root.
	dir, err := os.MkdirTemp("", "pgserver-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, folderMode()))
	return dir
}

func run(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

func ask(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	answer := pgtest.Value[string](t, conn, sql)
	return answer
}

func TestStartKeepsDataAndAddress(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(folder(t), "made", "on", "the", "way")
	first := run(t, dir)
	conn, err := pgx.Connect(t.Context(), first.URL)
	require.NoError(t, err)
	pgtest.Exec(t, conn, `CREATE TABLE kept AS SELECT 'still here' AS word`)
	require.NoError(t, first.Stop())

	second := run(t, dir)
	require.Equal(t, "still here", ask(t, second.URL, `SELECT word FROM kept`))
	require.Equal(t, first.URL, second.URL)
}

func TestStartTemporaryMapsCaseBeyondASCII(t *testing.T) {
	t.Parallel()
	s, err := StartTemporary(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "café øre", ask(t, s.URL, `SELECT lower('CAFÉ ØRE')`))
	require.NoError(t, s.Stop())
	require.NoDirExists(t, s.temporary)
}

func TestStartDurableSyncsCommits(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{Dir: folder(t), Durable: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Stop()) }()
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		require.Equal(t, "on", ask(t, s.URL, `SHOW `+setting), setting)
	}
}

func TestStartRefusesSecondServer(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first := run(t, dir)
	_, err := Start(t.Context(), Options{Dir: dir})
	require.ErrorContains(t, err, "another PostgreSQL (process ")
	require.ErrorContains(t, err, first.Dir)
	require.Equal(t, "1", ask(t, first.URL, `SELECT '1'`))
}

func TestStartIgnoresPidFileOfKilledServer(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := run(t, dir)
	s.Kill()
	// As after the restart of a container, another program of the server's user has the old process
	// id.
	found, err := locate(Options{Dir: dir})
	require.NoError(t, err)
	other := exec.Command("sleep", "60")
	other.Dir, other.SysProcAttr = dir, attributes(found.runsAs)
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	trace := filepath.Join(dir, "data", "postmaster.pid")
	require.NoError(t, os.WriteFile(trace, fmt.Appendf(nil, "%d\n", other.Process.Pid), 0o600))
	require.NoError(t, found.runsAs.give(trace))

	require.Equal(t, "1", ask(t, run(t, dir).URL, `SELECT '1'`))
}

func TestStartRepeatsInterruptedCreation(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o700))
	require.NoError(t,
		os.WriteFile(filepath.Join(dir, "data.new", "PG_VERSION"), []byte("15\n"), 0o600))
	require.Equal(t, "1", ask(t, run(t, dir).URL, `SELECT '1'`))
}

func TestStartAfterCancellation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, Options{Dir: folder(t)})
	require.ErrorIs(t, err, context.Canceled)
}

func TestServerEndsWithKilledParent(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGSERVER_TEST_PARENT") != "" {
		s, err := Start(t.Context(), Options{Dir: os.Getenv("PGSERVER_TEST_PARENT")})
		require.NoError(t, err)
		fmt.Println("SERVER", s.process.cmd.Process.Pid)
		select {}
	}
	dir := folder(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux signals the death of a parent")
	}
	parent := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), "PGSERVER_TEST_PARENT="+dir)
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	var pid int
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "SERVER "); ok {
			pid, err = strconv.Atoi(n)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, pid)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool {
		return syscall.Kill(pid, 0) != nil
	}, time.Minute, 10*time.Millisecond)
	log, err := os.ReadFile(filepath.Join(dir, "server.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "database system is shut down")
}

package production

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/devstack/pgserver"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// TestRestoreFromArchive restores a busy PostgreSQL to the moment before a schema was dropped, from
// a base backup and archived WAL. It uses PostgreSQL's tools in place of CloudNativePG and Barman.
func TestRestoreFromArchive(t *testing.T) {
	t.Parallel()
	before := durableConfig(t)
	running, err := devstack.Start(t.Context(), before)
	require.NoError(t, err)
	archive := archiveOf(t, running)
	require.NoError(t, running.Stop())
	running, err = devstack.Start(t.Context(), before)
	require.NoError(t, err)
	archive.stack = running
	load := onlyGateway(t, running).load()
	wait := func() {
		more := load.earned.Load() + 5
		require.Eventually(t, func() bool { return load.earned.Load() >= more },
			time.Minute, 10*time.Millisecond)
	}
	wait()
	archive.backUp()
	wait()
	atLeast := load.earned.Load()
	moment := scalar[time.Time](t, running, `SELECT clock_timestamp()`)
	// At any time, two further requests may be in flight.
	atMost := load.earned.Load() + 2
	wait()
	load.stop()
	archive.run(`DROP SCHEMA ledger CASCADE`)
	archive.finish()
	require.NoError(t, running.Stop())

	after := durableConfig(t)
	archive.restore(before, after, moment)
	restored, err := devstack.Start(t.Context(), after)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, restored.Stop()) })
	user := *load.user
	user.cluster = onlyGateway(t, restored)
	require.NoError(t, user.readBudget())
	created := scalar[int64](t, restored,
		`SELECT count(*) FROM ledger.transactions WHERE amount_minor > 0`)
	require.GreaterOrEqual(t, created, atLeast,
		"the writes that were acknowledged before the moment are restored")
	require.LessOrEqual(t, created, atMost)
	require.NoError(t, user.earn())
	requireSumsAddUp(t, restored)
	requireEachEventOnce(t, restored, outbox.Config{NATSURL: restored.NATS, NATSReplicas: 1})
}

// archive is a folder with a base backup in base/, and WAL in wal/.
type archive struct {
	t           *testing.T
	stack       *devstack.Stack
	folder, bin string
	// runs is the account under which PostgreSQL runs.
	runs *syscall.Stat_t
}

// archiveOf configures the stack's PostgreSQL to archive its WAL after its next start.
func archiveOf(t *testing.T, running *devstack.Stack) *archive {
	t.Helper()
	//nolint:usetesting // t.TempDir is closed to the account that runs Postgres for root
	folder, err := os.MkdirTemp("", "coffer-archive-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	data := filepath.Join(running.PostgresDir, "data")
	owner, err := os.Stat(data)
	require.NoError(t, err)
	version, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	require.NoError(t, err)
	bin, err := pgserver.Programs(t.Context(), "", strings.TrimSpace(string(version)))
	require.NoError(t, err)
	archive := &archive{
		t: t, stack: running, folder: folder, bin: bin, runs: owner.Sys().(*syscall.Stat_t),
	}
	require.NoError(t, os.Chmod(folder, 0o711))
	require.NoError(t, os.Mkdir(archive.wal(), 0o700))
	archive.give(archive.wal())
	archive.run(`ALTER SYSTEM SET archive_mode = on`)
	archive.run(`ALTER SYSTEM SET archive_command = 'cp %p ` + archive.wal() + `/%f.new && mv ` +
		archive.wal() +
		`/%f.new ` + archive.wal() + `/%f'`)
	return archive
}

func (a *archive) wal() string { return filepath.Join(a.folder, "wal") }

func (a *archive) run(sql string) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.stack.Databases[""])
	require.NoError(a.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(a.t.Context())) }()
	_, err = conn.Exec(a.t.Context(), sql)
	require.NoError(a.t, err, sql)
}

// give makes PostgreSQL's account the owner of a folder and everything in it.
func (a *archive) give(folder string) {
	a.t.Helper()
	require.NoError(a.t,
		filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(name, int(a.runs.Uid), int(a.runs.Gid))
		}))
}

// backUp copies the data files during writes. The copy is consistent only together with the WAL.
func (a *archive) backUp() {
	a.t.Helper()
	out, err := exec.CommandContext(a.t.Context(), filepath.Join(a.bin, "pg_basebackup"),
		"--dbname="+a.stack.Databases[""],
		"--pgdata="+filepath.Join(a.folder, "base"), "--wal-method=none", "--checkpoint=fast",
		"--no-sync").CombinedOutput()
	require.NoError(a.t, err, "%s", out)
}

// finish waits until all WAL is in the archive.
func (a *archive) finish() {
	a.t.Helper()
	last := scalar[string](a.t, a.stack, `SELECT pg_walfile_name(pg_switch_wal())`)
	require.Eventually(a.t, func() bool {
		_, err := os.Stat(filepath.Join(a.wal(), last))
		return err == nil
	}, time.Minute, 20*time.Millisecond)
}

// restore creates the data directory of a new stack from the archive, as it was at the moment. The
// secrets are copied from the lost stack.
func (a *archive) restore(lost, to devstack.Config, moment time.Time) {
	t := a.t
	t.Helper()
	home := filepath.Join(to.DataDir, "postgres")
	data := filepath.Join(home, "data")
	require.NoError(t, pgserver.MakeDir(home))
	require.NoError(t, os.Rename(filepath.Join(a.folder, "base"), data))
	for from, to := range map[string]string{
		filepath.Join(lost.DataDir, "secrets.json"):    filepath.Join(to.DataDir, "secrets.json"),
		filepath.Join(a.stack.PostgresDir, "password"): filepath.Join(home, "password"),
	} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
	settings, err := os.OpenFile(filepath.Join(data, "postgresql.auto.conf"),
		os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(settings,
		"archive_mode = off\nrestore_command = 'cp %s/%%f %%p'\nrecovery_target_time = "+
			"'%s'\nrecovery_target_action = promote\n",
		a.wal(), moment.UTC().Format("2006-01-02 15:04:05.999999-07:00"))
	require.NoError(t, err)
	require.NoError(t, settings.Close())
	require.NoError(t, os.WriteFile(filepath.Join(data, "recovery.signal"), nil, 0o600))
	a.give(data)

	recovering, err := pgserver.Start(t.Context(), pgserver.Options{Dir: home, Durable: true})
	require.NoError(t, err)
	at := &devstack.Stack{Databases: map[string]string{"": recovering.URL}}
	recovered := func() bool { return !scalar[bool](t, at, `SELECT pg_is_in_recovery()`) }
	require.Eventually(t, recovered, time.Minute, 20*time.Millisecond)
	require.NoError(t, recovering.Stop())
}

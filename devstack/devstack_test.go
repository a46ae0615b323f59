package devstack

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func testServer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL")
	}
	url := os.Getenv("TEST_DATABASE_URL")
	require.NotEmpty(t, url,
		"TEST_DATABASE_URL is not set: run `make test`, which starts a temporary PostgreSQL")
	return url
}

func ephemeral(t *testing.T) *Stack {
	t.Helper()
	s, err := StartEphemeral(t.Context(), testServer(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// kept returns a configuration whose data remain after Stop.
func kept(t *testing.T) Config {
	t.Helper()
	//nolint:usetesting // t.TempDir is closed to the account that runs PostgreSQL for root.
	dir, err := os.MkdirTemp("", "coffer-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o711))
	const free = "127.0.0.1:0"
	return Config{
		DataDir: filepath.Join(dir, "data"), HTTPAddr: free, AuthAddr: free, LedgerAddr: free,
		BudgetAddr: free, OCRAddr: free, NATSAddr: free,
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestStopDropsDatabaseOfEphemeralStack(t *testing.T) {
	t.Parallel()
	url := testServer(t)
	running, err := StartEphemeral(t.Context(), url, nil)
	require.NoError(t, err)
	require.NoError(t, ready(t.Context(), running.URL[len("http://"):]))
	for name, addr := range running.GRPC {
		require.NoError(t, running.healthy(name)(t.Context(), addr))
	}
	config, err := pgx.ParseConfig(running.Databases[""])
	require.NoError(t, err)
	require.NoError(t, running.Stop())

	left := pgtest.Value[int](t, connect(t, url),
		`SELECT count(*) FROM pg_database WHERE datname = $1`, config.Database)
	require.Zero(t, left)
	require.Error(t, ready(t.Context(), running.URL[len("http://"):]))
}

func TestDatabaseRolesAccessOnlyTheirSchema(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	for _, own := range schemas {
		conn := connect(t, s.Databases[own.name])
		pgtest.Exec(t, conn, `SELECT count(*) FROM goose_db_version`)
		refused := []string{
			`CREATE TABLE mine (id int)`, `CREATE TABLE public.mine (id int)`,
			`CREATE SCHEMA mine`, `CREATE TEMP TABLE mine (id int)`,
			`DELETE FROM goose_db_version`,
		}
		for _, other := range schemas {
			if other.name != own.name {
				refused = append(refused, `SELECT count(*) FROM `+other.name+`.goose_db_version`)
			}
		}
		for _, sql := range refused {
			_, err := conn.Exec(t.Context(), sql)
			var refusal *pgconn.PgError
			require.ErrorAs(t, err, &refusal, "%s: %s", own.name, sql)
			require.Equal(t, "42501", refusal.Code, "%s: %s: %s", own.name, sql, refusal.Message)
		}
	}
}

func TestResumeStartsPartAtItsAddress(t *testing.T) {
	t.Parallel()
	running := ephemeral(t)
	for _, name := range []string{"ledger", "nats", "gateway"} {
		require.NoError(t, running.Halt(name), name)
		require.NoError(t, running.Resume(t.Context(), name), name)
		require.Eventually(t, func() bool {
			return ready(t.Context(), running.URL[len("http://"):]) == nil
		}, time.Minute, 10*time.Millisecond, name)
	}
	require.Error(t, running.Halt("postgres"), "it is not the stack's own")
	select {
	case err := <-running.Failed:
		require.NoError(t, err)
	default:
	}
}

func TestResumeAfterHaltOfPostgres(t *testing.T) {
	t.Parallel()
	testServer(t)
	running, err := StartEphemeral(t.Context(), "", nil)
	require.NoError(t, err)
	require.NoError(t, running.Halt("postgres"))
	require.Eventually(t, func() bool {
		return ready(t.Context(), running.URL[len("http://"):]) != nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, running.Resume(t.Context(), "postgres"))
	require.Eventually(t, func() bool {
		return ready(t.Context(), running.URL[len("http://"):]) == nil
	}, time.Minute, 10*time.Millisecond)
	dir := running.PostgresDir
	require.NoError(t, running.Stop())
	require.NoDirExists(t, dir)
}

func TestStartKeepsData(t *testing.T) {
	t.Parallel()
	testServer(t)
	config := kept(t)
	first, err := Start(t.Context(), config)
	require.NoError(t, err)
	register := strings.NewReader(
		`{"name":"Alma","email":"alma@example.com","password":"a long enough secret"}`,
	)
	resp, err := http.Post(first.URL+"/api/v1/auth/register", "application/json", register)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	pgtest.Exec(t, connect(t, first.Databases[""]),
		`CREATE TABLE ledger.kept AS SELECT 1; ALTER TABLE ledger.kept OWNER TO `+owner)

	_, err = Start(t.Context(), config)
	require.ErrorContains(t, err, "another Coffer (process ")
	require.ErrorContains(t, err, "set DATA_DIR")
	require.NoError(t, first.Stop())

	second, err := Start(t.Context(), config)
	require.NoError(t, err)
	defer func() { require.NoError(t, second.Stop()) }()
	n := pgtest.Value[int](t, connect(t, second.Databases[""]), `SELECT count(*) FROM ledger.kept`)
	require.Equal(t, 1, n)
	require.Equal(t, first.ServiceKey, second.ServiceKey)
	for _, name := range []string{"secrets.json", "lock"} {
		info, err := os.Stat(filepath.Join(config.DataDir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestStartReportsOccupiedPort(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { taken.Close() })
	addr := taken.Addr().String()
	tests := map[string]func(c *Config){
		"HTTP_ADDR":    func(c *Config) { c.HTTPAddr = addr },
		"AUTH_ADDR":    func(c *Config) { c.AuthAddr = addr },
		"LEDGER_ADDR":  func(c *Config) { c.LedgerAddr = addr },
		"BUDGET_ADDR":  func(c *Config) { c.BudgetAddr = addr },
		"OCR_ADDR":     func(c *Config) { c.OCRAddr = addr },
		"NATS_ADDR":    func(c *Config) { c.NATSAddr = addr },
		"METRICS_ADDR": func(c *Config) { c.MetricsAddr = addr },
		"MAIL_ADDR":    func(c *Config) { c.MailAddr = addr },
		"MAIL_PAGE_ADDR": func(c *Config) {
			c.MailAddr, c.MailPageAddr = "127.0.0.1:0", addr
		},
	}
	for setting, take := range tests {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			config := kept(t)
			take(&config)
			_, err := Start(t.Context(), config)
			require.ErrorContains(t, err, addr)
			require.ErrorContains(t, err,
				"is in use by another program: stop that program, or set "+setting)
			require.NoDirExists(t, filepath.Join(config.DataDir, "postgres"))
		})
	}
}

func TestListenRejectsInvalidAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"8080":             "HTTP_ADDR=8080 is not an address like 127.0.0.1:8080",
		"203.0.113.1:8080": "HTTP_ADDR=203.0.113.1:8080 is not an address of this machine",
	}
	for addr, want := range tests {
		t.Run(addr, func(t *testing.T) {
			t.Parallel()
			_, err := listen(t.Context(), addr, "gateway", "HTTP_ADDR")
			require.ErrorContains(t, err, want)
		})
	}
}

func TestReachableReplacesUnspecifiedAddress(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "192.0.2.7:80": "192.0.2.7:80",
	} {
		at, err := net.ResolveTCPAddr("tcp", addr)
		require.NoError(t, err)
		require.Equal(t, want, reachable(at))
	}
}

func TestServiceReportsUnrequestedEnd(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s := &service{
		title: "ledger", addr: "127.0.0.1:0", broken: failed,
		serve: func(context.Context, net.Listener) error { return http.ErrServerClosed },
		probe: (&Stack{}).healthy("ledger"),
	}
	require.ErrorContains(t, s.start(t.Context()), "ledger did not start: http: Server closed")
	require.ErrorIs(t, <-failed, http.ErrServerClosed)
}

package production

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/test/programs"
)

// firstSchema is the commit that stands for the previous release until the first one has a tag.
const firstSchema = "8493eb371ab75877860d60071fe60aaa2b2ac613"

// TestUpgradeAndRollback migrates the schema while the previous release serves requests, replaces
// its instances one by one, and rolls back. In each state, both releases must work with the schema
// and with each other. A device that followed the account before the roll back misses none of the
// transactions that the previous release created meanwhile.
//
// Transfers, splits and tags are used as soon as no instance of the previous release runs, with
// transactions of that release. After the roll back, it returns the same balances and totals, and
// its deletion of an expense with a refund leaves correct totals (ADR 103).
func TestUpgradeAndRollback(t *testing.T) {
	t.Parallel()
	released := buildPrevious(t)
	cluster := newCluster(t)
	cluster.unmigrate()
	for _, service := range services[:4] {
		cluster.migrate(service, filepath.Join(released, service), nil)
	}
	fronts := map[string]string{}
	for _, service := range services[:4] {
		fronts[service] = cluster.front(service)
	}
	previous := func(service string) *instance {
		return cluster.run(service, filepath.Join(released, service), map[string]string{
			"AUTH_ADDR": fronts["auth"], "LEDGER_ADDR": fronts["ledger"],
			"BUDGET_ADDR": fronts["budget"], "OCR_ADDR": fronts["ocr"],
		})
	}
	running := cluster.startAll(2, previous)

	account := newAccount(t, cluster)
	load := cluster.load()
	for _, service := range services[:4] {
		cluster.migrate(service, os.Args[0], []string{beService + "=" + service})
	}
	cluster.replaceAll(running, cluster.spawn)
	device := newDevice(load.user)
	device.follow(t)
	account.useFeatures(t)
	cluster.replaceAll(running, previous)
	account.check(t)
	account.deleteRefund(t)
	cluster.replaceAll(running, cluster.spawn)
	account.check(t)
	account.changeFeatures(t)
	load.stop()
	device.follow(t)
	require.Len(t, device.transactions, int(load.earned.Load()+load.spent.Load()))
	cluster.verify()
}

// previousRelease returns the last version tag before this commit, or firstSchema.
func previousRelease(t *testing.T) string {
	t.Helper()
	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0",
		"--match=v*", "HEAD^").Output()
	if err != nil {
		return firstSchema
	}
	return strings.TrimSpace(string(tag))
}

// buildPrevious builds the programs of the previous release, and returns their folder.
func buildPrevious(t *testing.T) string {
	t.Helper()
	release := previousRelease(t)
	commit := release + "^{commit}"
	if exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit).Run() != nil {
		t.Skipf("NOT SHOWN: this clone does not have the commit %s", release)
	}
	dir := t.TempDir()
	sources := exec.CommandContext(t.Context(), "sh", "-c",
		`git -C "$(git rev-parse --show-toplevel)" archive "$1" | tar -x -C "$2"`, "sh",
		release, dir)
	out, err := sources.CombinedOutput()
	require.NoError(t, err, "%s", out)
	built := t.TempDir()
	require.NoError(t, programs.BuildFrom(t.Context(), dir, built))
	return built
}

// unmigrate drops the schemas of this release, which the stores were started with.
func (c *cluster) unmigrate() {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.stores.Databases[""])
	require.NoError(c.t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(c.t.Context())) }()
	_, err = conn.Exec(c.t.Context(), `DROP SCHEMA auth, ledger, budget, ocr CASCADE`)
	require.NoError(c.t, err)
}

func (c *cluster) migrate(service, program string, environment []string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), program, "migrate")
	cmd.Env = append(environment, "MIGRATION_DATABASE_URL="+c.stores.Databases[""])
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s: %s", service, out)
}

// front listens at a fixed address and forwards each connection to an instance of the service, like
// a Kubernetes Service with a cluster IP. The programs of the previous release need it, because
// they cannot use the DNS server of the tests.
func (c *cluster) front(service string) string {
	c.t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = lis.Close() })
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			go c.pass(conn, service)
		}
	}()
	return lis.Addr().String()
}

func (c *cluster) pass(conn net.Conn, service string) {
	defer func() { _ = conn.Close() }()
	for _, addr := range c.names.lookup(name(service)) {
		to, err := net.Dial("tcp", netip.AddrPortFrom(addr, uint16(c.port)).String())
		if err != nil {
			continue
		}
		defer func() { _ = to.Close() }()
		var copying sync.WaitGroup
		copying.Go(func() { _, _ = io.Copy(to, conn); _ = to.(*net.TCPConn).CloseWrite() })
		_, _ = io.Copy(conn, to)
		_ = conn.(*net.TCPConn).CloseWrite()
		copying.Wait()
		return
	}
}

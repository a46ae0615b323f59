package outbox

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/internal/outbox/natstest"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func authority(t *testing.T) *mtls.Authority {
	t.Helper()
	a, err := mtls.NewAuthority(time.Now)
	require.NoError(t, err)
	return a
}

func issue(t *testing.T, a *mtls.Authority, dir, name string) mtls.Config {
	t.Helper()
	c, err := a.Issue(dir, name, time.Hour)
	require.NoError(t, err)
	return c
}

// secured starts a server from a configuration file, as in the cluster. Only such a server reloads
// its certificate.
func secured(t *testing.T, config mtls.Config) *server.Server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
		listen: 127.0.0.1:-1
		jetstream { store_dir: %q }
		tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }`,
		t.TempDir(), config.Cert, config.Key, config.CA), 0o600))
	options, err := server.ProcessConfigFile(file)
	require.NoError(t, err)
	return natstest.Run(t, options)
}

func connect(t *testing.T, url string, c mtls.Config) *Bus {
	t.Helper()
	bus, err := Connect(Config{NATSURL: url, NATSReplicas: 1, TLS: c}, "ledger",
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	return bus
}

// certificateOf returns the serial number of the certificate of the connected server.
func certificateOf(bus *Bus) string {
	state, err := bus.conn.TLSConnectionState()
	if err != nil {
		return ""
	}
	return state.PeerCertificates[0].SerialNumber.String()
}

func TestConnectRequiresMutualTLS(t *testing.T) {
	t.Parallel()
	ours, theirs := authority(t), authority(t)
	ledger := issue(t, ours, t.TempDir(), "ledger")
	genuine := secured(t, issue(t, ours, t.TempDir(), "nats")).ClientURL()
	require.NoError(t, connect(t, genuine, ledger).EnsureStream(t.Context()))

	foreign := issue(t, theirs, t.TempDir(), "ledger")
	foreign.CA = ledger.CA
	for what, tried := range map[string]struct {
		url  string
		with mtls.Config
	}{
		"a client of another authority": {genuine, foreign},
		"a client without certificate":  {genuine, mtls.Config{}},
		"a server of another authority": {
			secured(t, issue(t, theirs, t.TempDir(), "nats")).ClientURL(), ledger,
		},
		"a server of another name": {
			secured(t, issue(t, ours, t.TempDir(), "ocr")).ClientURL(), ledger,
		},
		"a server without TLS": {natstest.New(t), ledger},
	} {
		bus := connect(t, tried.url, tried.with)
		require.Eventually(t, func() bool { return bus.conn.LastError() != nil }, time.Minute,
			5*time.Millisecond, what)
		require.Equal(t, nats.RECONNECTING, bus.conn.Status(), what)
	}
}

// TestConnectUsesRotatedCertificateAfterReconnect also replaces the authority, the hardest kind of
// rotation.
func TestConnectUsesRotatedCertificateAfterReconnect(t *testing.T) {
	t.Parallel()
	before, after := authority(t), authority(t)
	serving, calling := t.TempDir(), t.TempDir()
	started := secured(t, issue(t, before, serving, "nats"))
	pool := pgtest.New(t, schema)
	bus := connect(t, started.ClientURL(), issue(t, before, calling, "ledger"))
	go bus.Relay(t.Context(), pool)
	user := uuid.Must(uuid.NewV7())
	add(t, pool, user, 1)
	follow(t, bus, user, 0, 1)
	first := certificateOf(bus)
	require.NotEmpty(t, first)

	issue(t, after, serving, "nats")
	require.NoError(t, started.Reload())
	add(t, pool, user, 2)
	follow(t, bus, user, 0, 2)
	require.Equal(t, first, certificateOf(bus), "an open connection keeps its certificate")

	issue(t, after, calling, "ledger")
	reconnects := bus.conn.Stats().Reconnects
	require.NoError(t, bus.conn.ForceReconnect())
	require.Eventually(t,
		func() bool { return bus.conn.Stats().Reconnects > reconnects && bus.conn.IsConnected() },
		time.Minute, 5*time.Millisecond)
	require.NotEqual(t, first, certificateOf(bus))
	add(t, pool, user, 3)
	follow(t, bus, user, 0, 3)
}

// TestConnectRetriesAfterAuthorizationError covers a rotation of the password: by default the
// client gives up after two rejections.
func TestConnectRetriesAfterAuthorizationError(t *testing.T) {
	t.Parallel()
	old := natstest.Run(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "coffer", Password: "old",
	})
	addr := old.Addr().String()
	bus := connect(t, "nats://coffer:new@"+addr, mtls.Config{})
	require.Eventually(t, func() bool { return bus.conn.LastError() != nil }, time.Minute,
		5*time.Millisecond)
	// Longer than two attempts take.
	require.Never(t, bus.conn.IsClosed, time.Second, 50*time.Millisecond)
	require.ErrorIs(t, bus.conn.LastError(), nats.ErrAuthorization)
	old.Shutdown()
	old.WaitForShutdown()
	natstest.Run(t, &server.Options{
		Host: "127.0.0.1", Port: portOf(t, addr), Username: "coffer", Password: "new",
	})
	require.Eventually(t, bus.conn.IsConnected, time.Minute, 5*time.Millisecond)
}

func TestConnectUsesSeparatePassword(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "coffer", Password: "any/%thing",
	})
	bus, err := Connect(Config{
		NATSURL: "nats://" + s.Addr().String(), NATSPassword: "any/%thing", NATSReplicas: 1,
	}, "ledger", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	require.NoError(t, bus.EnsureStream(t.Context()))
}

func portOf(t *testing.T, addr string) int {
	t.Helper()
	parsed, err := netip.ParseAddrPort(addr)
	require.NoError(t, err)
	return int(parsed.Port())
}

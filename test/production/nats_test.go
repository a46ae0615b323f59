package production

import (
	"crypto/rand"
	"crypto/tls"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/internal/outbox"
)

// natsServers are three NATS servers with certificates and the configuration of the production
// overlay.
type natsServers struct {
	cluster   *cluster
	authority *mtls.Authority
	// folder has the certificates, and the configuration and data of each server.
	folder   string
	password string
	servers  []*instance
}

// runNATS runs the program of NATS.
func runNATS() {
	options, err := server.ConfigureOptions(flag.NewFlagSet("nats", flag.ExitOnError), os.Args[1:],
		nil, nil, nil)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	s, err := server.NewServer(options)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
}

// withNATS starts three NATS servers. Instances that are started later use them and mutual TLS.
func (c *cluster) withNATS() *natsServers {
	c.t.Helper()
	authority, err := mtls.NewAuthority(time.Now)
	require.NoError(c.t, err)
	servers := &natsServers{
		cluster: c, authority: authority, folder: c.t.TempDir(), password: rand.Text(),
	}
	c.certificates = map[string]mtls.Config{}
	servers.renew()
	for i := range 3 {
		s := &instance{service: fmt.Sprintf("nats-%d", i), addr: c.newAddr(), port: 4222}
		c.names.add(s.service+".nats.", s.addr)
		c.names.add(name("nats"), s.addr)
		servers.servers = append(servers.servers, s)
		servers.start(s)
	}
	for _, s := range servers.servers {
		servers.await(s)
	}
	c.environment["NATS_URL"], c.environment["NATS_REPLICAS"] = servers.url(), "3"
	return servers
}

func (n *natsServers) url() string {
	return "nats://coffer:" + n.password + "@" + name("nats") + ":4222"
}

// renew issues new certificates for all services and NATS, as cert-manager does.
func (n *natsServers) renew() {
	t := n.cluster.t
	t.Helper()
	for _, service := range services {
		certificate, err := n.authority.Issue(filepath.Join(n.folder, service), service, time.Hour)
		require.NoError(t, err)
		n.cluster.certificates[service] = certificate
	}
	_, err := n.authority.Issue(filepath.Join(n.folder, "nats"), "nats", time.Hour, "nats-0.nats",
		"nats-1.nats", "nats-2.nats")
	require.NoError(t, err)
}

// start starts a server with the configuration of the manifests. Only addresses and folders are
// replaced.
func (n *natsServers) start(instance *instance) {
	t := n.cluster.t
	t.Helper()
	home := filepath.Join(n.folder, instance.service)
	require.NoError(t, os.MkdirAll(home, 0o700))
	adapt := strings.NewReplacer("/etc/coffer/tls", filepath.Join(n.folder, "nats"), "/run/nats",
		home, "/data", filepath.Join(home, "data"),
		"http: 8222", "http: "+instance.addr.String()+":8222", "port: 4222",
		"listen: "+instance.at(),
		"port: 6222", "listen: "+instance.addr.String()+":6222")
	for _, file := range []string{"overlays/production/nats.conf", "components/mtls/tls.conf"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/k8s", file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(home, filepath.Base(file)),
			[]byte(adapt.Replace(string(text))), 0o600))
	}
	instance.start(t, exec.Command(os.Args[0], "--config", filepath.Join(home, "tls.conf")),
		map[string]string{
			beService: "nats", askDNS: n.cluster.names.addr(), "POD_NAME": instance.service,
			"NATS_PASSWORD": n.password,
		})
}

// await waits until a server is connected to the others and serves JetStream requests. It returns
// the serial number of the server's certificate.
func (n *natsServers) await(s *instance) (serial string) {
	t := n.cluster.t
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		serial, err = n.certificate(s)
		return err == nil
	}, time.Minute, 50*time.Millisecond, "%s did not become ready", s.service)
	return serial
}

// certificate connects to a server and returns the serial number of its certificate.
func (n *natsServers) certificate(s *instance) (serial string, err error) {
	own := n.cluster.certificates["auth"]
	conn, err := nats.Connect("nats://coffer:"+n.password+"@"+netip.AddrPortFrom(s.addr, 4222).
		String(),
		nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, ServerName: s.service + ".nats"}),
		nats.ClientTLSConfig(own.Certificate, own.Authority))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	js, err := conn.JetStream()
	if err != nil {
		return "", err
	}
	if _, err := js.AccountInfo(); err != nil {
		return "", err
	}
	state, err := conn.TLSConnectionState()
	if err != nil {
		return "", err
	}
	return state.PeerCertificates[0].SerialNumber.String(), nil
}

// reload makes each server read its new certificate, as the sidecar in the manifests does, and
// waits until it presents another than the old one.
func (n *natsServers) reload(old string) {
	t := n.cluster.t
	t.Helper()
	for _, s := range n.servers {
		require.NoError(t, s.process.Process.Signal(syscall.SIGHUP))
		require.Eventually(t, func() bool {
			serial, err := n.certificate(s)
			return err == nil && serial != old
		}, time.Minute, 20*time.Millisecond, "%s still presents the old certificate", s.service)
	}
}

// restart restarts the servers one by one, like kubectl rollout restart.
func (n *natsServers) restart() {
	t := n.cluster.t
	t.Helper()
	for _, s := range n.servers {
		require.NoError(t, s.process.Process.Signal(syscall.SIGTERM))
		err := <-s.ended
		s.ended <- err
		require.NoError(t, err, "%s: %s", s.service, s.output)
		n.start(s)
		n.await(s)
	}
}

// TestRotateCertificatesAndNATSPassword follows docs/operations.md under load.
func TestRotateCertificatesAndNATSPassword(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	servers := cluster.withNATS()
	running := cluster.startAll(2, cluster.spawn)
	load := cluster.load()

	old := servers.await(servers.servers[0])
	servers.renew()
	servers.reload(old)

	servers.password = rand.Text()
	servers.restart()
	require.Positive(t, scalar[int64](t, cluster.stores, `SELECT count(*) FROM ledger.outbox`),
		"events stay in the outbox until the services have the new password")
	cluster.environment["NATS_URL"] = servers.url()
	cluster.replaceAll(map[string][]*instance{
		"auth": running["auth"], "ledger": running["ledger"], "budget": running["budget"],
	}, cluster.spawn)
	load.stop()

	at := outbox.Config{NATSURL: "nats://coffer:" + servers.password + "@" +
		servers.servers[0].at(), NATSReplicas: 3, TLS: cluster.certificates["ledger"]}
	requireEachEventOnce(t, cluster.stores, at)
}

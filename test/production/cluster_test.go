package production

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/internal/mtls"
)

// services are the services in the order of a rollout.
var services = []string{"auth", "ocr", "ledger", "budget", "gateway"}

// cluster is an installation whose instances are started and terminated individually.
type cluster struct {
	t      *testing.T
	stores *devstack.Stack
	names  *names
	// port is the port of every instance. Each instance has a separate address.
	port int
	// network is the prefix 127.x.y of the addresses, and host the last byte of the address that
	// was assigned last.
	network [3]byte
	host    byte
	// environment has the settings of all instances, in addition to the addresses of stores and
	// services.
	environment map[string]string
	// certificates are the certificates by service. It is empty if the services do not use TLS.
	certificates map[string]mtls.Config
}

// newCluster returns a cluster with PostgreSQL and NATS, but without instances.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterOn(t, os.Getenv("TEST_DATABASE_URL"))
}

// newClusterOn uses an existing PostgreSQL server, or starts a temporary one if server is empty.
func newClusterOn(t *testing.T, server string) *cluster {
	t.Helper()
	stores, err := devstack.StartEphemeral(t.Context(), server, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stores.Stop()) })
	for _, service := range services {
		require.NoError(t, stores.Halt(service))
	}
	lis, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	require.NoError(t, lis.Close())
	return &cluster{
		t: t, stores: stores, names: serveNames(t), port: lis.Addr().(*net.TCPAddr).Port,
		network: [3]byte{127, byte(1 + rand.IntN(254)), byte(rand.IntN(255))},
		environment: map[string]string{
			"RATE_LIMIT": "0", "MAX_CONNECTION_AGE": maxConnectionAge.String(),
		},
	}
}

// instance is a running process of a service.
type instance struct {
	service string
	addr    netip.Addr
	port    int
	process *exec.Cmd
	output  *bytes.Buffer
	ended   chan error
	// health has the credentials for the health check.
	health credentials.TransportCredentials
}

func name(service string) string { return service + ".coffer.test." }

func (c *cluster) addressOf(service string) string {
	return name(service) + ":" + strconv.Itoa(c.port)
}

// spawn starts an instance of this release.
func (c *cluster) spawn(service string) *instance {
	c.t.Helper()
	return c.run(service, os.Args[0], map[string]string{
		beService: service, askDNS: c.names.addr(),
		"AUTH_ADDR": c.addressOf("auth"), "LEDGER_ADDR": c.addressOf("ledger"),
		"BUDGET_ADDR": c.addressOf("budget"), "OCR_ADDR": c.addressOf("ocr"),
	})
}

func (c *cluster) run(service, program string, environment map[string]string) *instance {
	c.t.Helper()
	running := &instance{service: service, addr: c.newAddr(), port: c.port}
	own := map[string]string{
		"LISTEN_ADDR":  running.at(),
		"METRICS_ADDR": net.JoinHostPort(running.addr.String(), "9464"),
		"TLS_CERT":     c.certificates[service].Cert, "TLS_KEY": c.certificates[service].Key,
		"TLS_CA":      c.certificates[service].CA,
		"SERVICE_KEY": c.stores.ServiceKey, "NATS_URL": c.stores.NATS,
		// The default of a second is for a separate server. This one shares the processors with
		// other tests.
		"DATABASE_URL": c.stores.Databases[service] + "&connect_timeout=10",
	}
	maps.Copy(own, c.environment)
	maps.Copy(own, environment)
	running.start(c.t, exec.CommandContext(context.WithoutCancel(c.t.Context()), program), own)
	running.health = mtls.Client(c.certificates["gateway"], service)
	return running
}

func (c *cluster) newAddr() netip.Addr {
	c.host++
	return netip.AddrFrom4([4]byte{c.network[0], c.network[1], c.network[2], c.host})
}

// start starts the process. It is killed at the end of the test at the latest.
func (i *instance) start(t *testing.T, process *exec.Cmd, environment map[string]string) {
	t.Helper()
	i.process, i.output, i.ended = process, &bytes.Buffer{}, make(chan error, 1)
	process.Stdout, process.Stderr = i.output, i.output
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	process.Env = []string{"PATH=" + os.Getenv("PATH")}
	for k, v := range environment {
		process.Env = append(process.Env, k+"="+v)
	}
	require.NoError(t, process.Start())
	ended := i.ended
	go func() { ended <- process.Wait() }()
	t.Cleanup(func() { i.kill(t) })
}

// await waits until instances of one service are ready, and adds them to DNS together.
func (c *cluster) await(instances ...*instance) {
	c.t.Helper()
	var addrs []netip.Addr
	for _, i := range instances {
		i.await(c.t)
		addrs = append(addrs, i.addr)
	}
	c.names.add(name(instances[0].service), addrs...)
}

func (i *instance) await(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return i.ready(t.Context()) == nil }, time.Minute,
		20*time.Millisecond, "%s did not get ready", i.service)
}

func (i *instance) at() string { return netip.AddrPortFrom(i.addr, uint16(i.port)).String() }

func (i *instance) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if i.service == "gateway" {
		url := "http://" + i.at() + "/livez"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	conn, err := grpc.NewClient("passthrough:///"+i.at(), grpc.WithTransportCredentials(i.health))
	if err != nil {
		return err
	}
	defer conn.Close()
	resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err == nil && resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		err = fmt.Errorf("it says %s", resp.GetStatus())
	}
	return err
}

const (
	// preStop is the time for which an instance serves after its address was removed from DNS: a
	// tenth of the time in deploy/k8s, like dnsCache.
	preStop = 6 * time.Second
	// maxConnectionAge is a tenth of the default of MAX_CONNECTION_AGE.
	maxConnectionAge = 1500 * time.Millisecond
)

// minReady is the time between adding a new instance to DNS and removing an old one: a tenth of
// minReadySeconds.
const minReady = 500 * time.Millisecond

// stop terminates an instance like Kubernetes.
func (c *cluster) stop(i *instance) {
	c.t.Helper()
	require.NoError(c.t, c.terminate(i))
}

// terminate takes an instance's address out of DNS, and ends it after preStop. It may run on any
// goroutine.
func (c *cluster) terminate(running *instance) error {
	c.names.remove(name(running.service), running.addr)
	select {
	case err := <-running.ended:
		running.ended <- err
		return fmt.Errorf("%s ended unexpectedly: %w", running.service, err)
	case <-time.After(preStop):
	}
	if err := running.process.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("%s: %w", running.service, err)
	}
	select {
	case err := <-running.ended:
		running.ended <- err
		if err != nil {
			return fmt.Errorf("%s: %w: %s", running.service, err, running.output)
		}
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("%s did not end", running.service)
	}
}

func (i *instance) kill(t *testing.T) {
	t.Helper()
	_ = i.process.Process.Kill()
	i.ended <- <-i.ended
	if t.Failed() {
		t.Logf("output of %s at %s:\n%s", i.service, i.addr, i.output)
	}
}

// startAll starts a number of instances of every service, and called services before their callers.
func (c *cluster) startAll(each int, spawn func(service string) *instance) map[string][]*instance {
	c.t.Helper()
	running := map[string][]*instance{}
	for _, service := range services {
		for range each {
			running[service] = append(running[service], spawn(service))
		}
		c.await(running[service]...)
	}
	return running
}

// scale starts another instance of every service.
func (c *cluster) scale(running map[string][]*instance) {
	c.t.Helper()
	for _, service := range services {
		i := c.spawn(service)
		c.await(i)
		running[service] = append(running[service], i)
	}
}

// replaceAll starts a new instance for each one, and then terminates the old one. As in a rollout,
// it continues while old instances terminate. It returns when all of them have ended.
func (c *cluster) replaceAll(running map[string][]*instance, spawn func(service string) *instance) {
	c.t.Helper()
	var ending errgroup.Group
	for _, service := range services {
		c.replace(running, service, spawn, &ending)
	}
	require.NoError(c.t, ending.Wait())
}

// replace replaces the instances of one service. The new ones start together, because otherwise the
// cache could expire during their start. They become available one by one. ending waits for the old
// ones.
func (c *cluster) replace(
	running map[string][]*instance, service string, spawn func(service string) *instance,
	ending *errgroup.Group,
) {
	c.t.Helper()
	var replacements []*instance
	for range running[service] {
		replacements = append(replacements, spawn(service))
	}
	for n, old := range running[service] {
		c.await(replacements[n])
		<-time.After(minReady)
		ending.Go(func() error { return c.terminate(old) })
	}
	running[service] = replacements
}

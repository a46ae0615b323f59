package production

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// dnsCache is the time for which DNS caches an answer: a tenth of the 30 s of CoreDNS in kubeadm
// and AKS. preStop is a tenth of the time in deploy/k8s. gRPC's resolution interval is still one
// second, so the test is stricter than the cluster.
const dnsCache = 3 * time.Second

// dnsLatency is the time to answer a query, as from a busy DNS server.
const dnsLatency = 100 * time.Millisecond

// names is a DNS server with a cache. It returns the addresses of all instances of a service, like
// Kubernetes for headless Services.
type names struct {
	conn net.PacketConn

	mu     sync.Mutex
	known  map[string][]netip.Addr
	cached map[string]cacheEntry
}

// cacheEntry is a cached answer.
type cacheEntry struct {
	addrs   []netip.Addr
	expires time.Time
}

// serveNames starts the DNS server.
func serveNames(t *testing.T) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	n := &names{conn: conn, known: map[string][]netip.Addr{}, cached: map[string]cacheEntry{}}
	go n.serve()
	return n
}

func (n *names) addr() string { return n.conn.LocalAddr().String() }

// add adds addresses to a name. If the cache has no answer, add first caches the previous one, as
// if another client had just asked. So the new address remains unknown for as long as possible.
func (n *names) add(name string, addrs ...netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known[name]) > 0 {
		n.fromCache(name)
	}
	n.known[name] = append(n.known[name], addrs...)
}

func (n *names) remove(name string, addr netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = slices.DeleteFunc(n.known[name], func(a netip.Addr) bool { return a == addr })
}

// lookup returns the current addresses without the cache, like a proxy that watches the endpoints.
func (n *names) lookup(name string) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.known[name])
}

// fromCache returns the addresses in the DNS answer. It caches no empty answers: the instances of a
// test start in any order, and gRPC queries a missing name at increasing intervals. The caller
// holds n.mu.
func (n *names) fromCache(name string) []netip.Addr {
	c, ok := n.cached[name]
	if !ok || len(c.addrs) == 0 || time.Now().After(c.expires) {
		c = cacheEntry{slices.Clone(n.known[name]), time.Now().Add(dnsCache)}
		n.cached[name] = c
	}
	return c.addrs
}

func (n *names) serve() {
	buffer := make([]byte, 512)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var question dnsmessage.Message
		if question.Unpack(buffer[:size]) != nil || len(question.Questions) != 1 {
			continue
		}
		if reply, err := n.reply(question); err == nil {
			time.AfterFunc(dnsLatency, func() { _, _ = n.conn.WriteTo(reply, from) })
		}
	}
}

func (n *names) reply(question dnsmessage.Message) ([]byte, error) {
	asked := question.Questions[0]
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: question.ID, Response: true, Authoritative: true, RecursionAvailable: true,
		},
		Questions: question.Questions,
	}
	n.mu.Lock()
	addrs := n.fromCache(asked.Name.String())
	n.mu.Unlock()
	if len(addrs) == 0 {
		reply.RCode = dnsmessage.RCodeNameError
	}
	if asked.Type == dnsmessage.TypeA {
		for _, a := range addrs {
			reply.Answers = append(reply.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: dnsmessage.ClassINET},
				Body:   &dnsmessage.AResource{A: a.As4()},
			})
		}
	}
	return reply.Pack()
}

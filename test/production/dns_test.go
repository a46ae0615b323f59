package production

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server that knows the cluster's services, as that of Kubernetes knows headless Services.
type names struct {
	conn net.PacketConn

	mu    sync.Mutex
	known map[string][]netip.Addr
}

func serveNames(t *testing.T) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	n := &names{conn: conn, known: map[string][]netip.Addr{}}
	go n.serve()
	return n
}

func (n *names) addr() string { return n.conn.LocalAddr().String() }

func (n *names) add(name string, addr netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = append(n.known[name], addr)
}

func (n *names) remove(name string, addr netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = slices.DeleteFunc(n.known[name], func(a netip.Addr) bool { return a == addr })
}

func (n *names) lookup(name string) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.known[name])
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
		if answer, err := n.answer(question); err == nil {
			_, _ = n.conn.WriteTo(answer, from)
		}
	}
}

func (n *names) answer(question dnsmessage.Message) ([]byte, error) {
	q := question.Questions[0]
	answer := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: question.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: question.Questions,
	}
	addrs := n.lookup(q.Name.String())
	if len(addrs) == 0 {
		answer.RCode = dnsmessage.RCodeNameError
	}
	if q.Type == dnsmessage.TypeA {
		for _, a := range addrs {
			answer.Answers = append(answer.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: a.As4()},
			})
		}
	}
	return answer.Pack()
}

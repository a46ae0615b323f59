package webhook

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/coffer-budget/coffer/services/budget/internal/budgettest"
)

func loopback(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") }

// resolver returns a resolver that uses a DNS server of the test. Each query for an IPv4 address
// returns the next address, and the last one is repeated.
func resolver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		asked := 0
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(buf[:n]) != nil || len(message.Questions) != 1 {
				continue
			}
			message.Response, message.Additionals = true, nil
			if q := message.Questions[0]; q.Type == dnsmessage.TypeA {
				a := netip.MustParseAddr(addresses[min(asked, len(addresses)-1)]).As4()
				asked++
				header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
				message.Answers = []dnsmessage.Resource{
					{Header: header, Body: &dnsmessage.AResource{A: a}},
				}
			}
			packed, err := message.Pack()
			if err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}
	return &net.Resolver{PreferGo: true, Dial: dial}
}

func TestDeliverPublicOnly(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	endpoint := env.receiver(t, public, "127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0")
	id := env.webhook(t, owner, endpoint.url).GetWebhook().GetId()
	for range 4 {
		env.queue(t, happened(owner, 1))
	}
	for i := range 4 {
		env.now = func() time.Time { return budgettest.Today.Add(time.Duration(i) * lastPause) }
		env.deliverAll(t)
	}
	for _, d := range env.log(t, owner, id) {
		require.Equal(t, "address_not_public", d.GetError())
		require.Nil(t, d.ResponseStatus)
	}
	require.Empty(t, endpoint.deliveries())
}

func TestDeliverChangedAddress(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	r := env.receiver(t, loopback, "127.0.0.1", "127.0.0.2")
	id := env.webhook(t, owner, r.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	env.client.CloseIdleConnections()
	env.queue(t, happened(owner, 2))
	env.deliverAll(t)
	require.Len(t, r.deliveries(), 1)
	require.Equal(t, "address_not_public", env.log(t, owner, id)[0].GetError())
}

func TestDeliverRedirect(t *testing.T) {
	t.Parallel()
	env := setup(t)
	owner := env.user(t, "Owner")
	r := env.receiver(t, loopback, "127.0.0.1")
	r.reply = func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, r.url+"/elsewhere", http.StatusTemporaryRedirect)
	}
	id := env.webhook(t, owner, r.url).GetWebhook().GetId()
	env.queue(t, happened(owner, 1))
	env.deliverAll(t)
	require.Len(t, r.deliveries(), 1)
	require.Equal(t, "redirect", env.log(t, owner, id)[0].GetError())
}

func TestDeliverUntrustedCertificate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := b.user(t, "Owner")
	r := b.receiver(t, loopback, "127.0.0.1")
	b.client = newDeliveryClient(loopback, resolver(t, "127.0.0.1"), x509.NewCertPool())
	id := b.webhook(t, owner, r.url).GetWebhook().GetId()
	b.queue(t, happened(owner, 1))
	b.deliverAll(t)
	require.Empty(t, r.deliveries())
	require.Equal(t, "tls", b.log(t, owner, id)[0].GetError())
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	t.Run("rejects a URL that is no longer allowed", func(t *testing.T) {
		t.Parallel()
		env := setup(t)
		owner := env.user(t, "Owner")
		requests := make(chan *http.Request, 2)
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			requests <- r
		}))
		t.Cleanup(server.Close)
		env.destinations = privateToo
		env.client = newDeliveryClient(privateToo.contains, nil, nil)
		id := env.webhook(t, owner, server.URL).GetWebhook().GetId()
		env.queue(t, happened(owner, 1))
		env.deliverAll(t)
		require.Equal(t, "delivered", env.log(t, owner, id)[0].GetStatus())
		require.Len(t, requests, 1)

		env.destinations = internetOnly
		env.queue(t, happened(owner, 2))
		env.deliverAll(t)
		require.Equal(t, "address_not_public", env.log(t, owner, id)[0].GetError())
		require.Len(t, requests, 1)
	})
}

package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/coffer-budget/coffer/internal/mtls"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	config := Config{ServiceKey: serviceKey}
	tcp := &net.TCPAddr{IP: net.ParseIP("10.0.0.9"), Port: 4242}
	overTCP := peer.NewContext(t.Context(), &peer.Peer{Addr: tcp})
	with := func(pairs ...string) context.Context {
		return metadata.NewIncomingContext(overTCP, metadata.Pairs(pairs...))
	}
	gateway := []string{"coffer-service-key", GatewayKey(serviceKey)}
	t.Run("is the one that the gateway saw last", func(t *testing.T) {
		t.Parallel()
		for forwarded, want := range map[string]string{
			"203.0.113.7": "203.0.113.7", "6.6.6.6, 203.0.113.7": "203.0.113.7",
			"::ffff:203.0.113.7": "203.0.113.7", "fe80::1%eth0": "fe80::1",
			"nonsense": "10.0.0.9", "": "10.0.0.9",
		} {
			ctx := with(append(gateway, "x-forwarded-for", forwarded)...)
			require.Equal(t, want, config.ClientAddress(ctx).String(), forwarded)
		}
		require.Equal(t, "203.0.113.7", config.ClientAddress(with(append(gateway,
			"x-forwarded-for", "6.6.6.6", "x-forwarded-for", "203.0.113.7")...)).String())
		require.Equal(t, "10.0.0.9", config.ClientAddress(with(gateway...)).String())
	})
	t.Run("is the peer's when anybody else forwards", func(t *testing.T) {
		t.Parallel()
		for name, pairs := range map[string][]string{
			"no key":                  nil,
			"an empty key":            {"coffer-service-key", ""},
			"a guessed key":           {"coffer-service-key", "gateway"},
			"another installation's":  {"coffer-service-key", GatewayKey("another")},
			"the right key and a bad": append(gateway, "coffer-service-key", "x"),
		} {
			ctx := with(append(pairs, "x-forwarded-for", "203.0.113.7")...)
			require.Equal(t, "10.0.0.9", config.ClientAddress(ctx).String(), name)
		}
		require.False(t, config.ClientAddress(t.Context()).IsValid())
	})
	t.Run("needs the gateway's certificate where there are certificates", func(t *testing.T) {
		t.Parallel()
		secured := Config{
			ServiceKey: serviceKey,
			TLS:        mtls.Config{Cert: "cert.pem", Key: "key.pem", CA: "ca.pem"},
		}
		for name, want := range map[string]string{"gateway": "203.0.113.7", "budget": "10.0.0.9"} {
			state := tls.ConnectionState{
				VerifiedChains: [][]*x509.Certificate{{{DNSNames: []string{name}}}},
			}
			ctx := peer.NewContext(t.Context(),
				&peer.Peer{Addr: tcp, AuthInfo: credentials.TLSInfo{State: state}})
			// The key does not count where there are certificates.
			ctx = metadata.NewIncomingContext(ctx,
				metadata.Pairs("x-forwarded-for", "203.0.113.7", "coffer-service-key", serviceKey))
			require.Equal(t, want, secured.ClientAddress(ctx).String(), name)
		}
	})
}

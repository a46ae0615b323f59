package rpc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/coffer-budget/coffer/internal/mtls"
)

// metadataForwardedFor has the address of the client. The gateway sets it.
const metadataForwardedFor = "x-forwarded-for"

// GatewayKey returns the key that the gateway gives to Dial for users' requests. It proves that the
// request was forwarded by the installation's gateway, and unlike the service key it authorizes no
// RPC.
func GatewayKey(serviceKey string) string {
	mac := hmac.New(sha256.New, []byte(serviceKey))
	mac.Write([]byte("gateway"))
	return hex.EncodeToString(mac.Sum(nil))
}

// ClientAddress returns the address of the client for which a call was made. It is the forwarded
// address if the gateway made the call, otherwise the peer's address, because any peer can send
// this metadata. It is invalid if the address is unknown.
func (c Config) ClientAddress(ctx context.Context) netip.Addr {
	values := metadata.ValueFromIncomingContext(ctx, metadataForwardedFor)
	if len(values) > 0 && c.isGateway(ctx) {
		// The gateway appends the address that it saw. Entries before it were sent by the client.
		list := values[len(values)-1]
		last := strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:])
		if address, err := netip.ParseAddr(last); err == nil {
			return address.Unmap().WithZone("")
		}
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Addr{}
	}
	if tcp, ok := p.Addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// isGateway reports whether the call comes from the gateway, by its certificate if there are
// certificates. A caller with the service key is trusted too, because it could derive the gateway's
// key.
func (c Config) isGateway(ctx context.Context) bool {
	if c.TLS.On() {
		return mtls.IsCaller(ctx, []string{"gateway"})
	}
	keys := metadata.ValueFromIncomingContext(ctx, metadataService)
	if len(keys) != 1 {
		return false
	}
	return equalKeys(keys[0], GatewayKey(c.ServiceKey)) || equalKeys(keys[0], c.ServiceKey)
}

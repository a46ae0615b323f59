package admission

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/coffer-budget/coffer/internal/caller"
)

// clientAddress returns the address of the peer, or with trusted proxies the peer of the outermost
// one. The client can send entries further left in X-Forwarded-For. An entry that is not an address
// counts as the peer.
func clientAddress(r *http.Request, trustedHops int) string {
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		peer = r.RemoteAddr
	}
	if trustedHops <= 0 {
		return peer
	}
	seen := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	claimed, err := netip.ParseAddr(strings.TrimSpace(seen[max(0, len(seen)-trustedHops)]))
	if err != nil {
		return peer
	}
	return claimed.String()
}

// network returns the key by which requests of an address are counted: the address, or for IPv6 its
// network, because a client has a whole network of addresses. Text that is not an address counts as
// it is.
func network(address string) string {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return caller.Network(addr)
}

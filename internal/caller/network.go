package caller

import "net/netip"

// Network returns the part of an address that belongs to one client: an IPv4 address, or the first
// 64 bits of an IPv6 address. Rate limits of requests without a user count by it.
func Network(addr netip.Addr) string {
	addr = addr.Unmap()
	if addr.Is4() || !addr.IsValid() {
		return addr.String()
	}
	p, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr.String()
	}
	return p.String()
}

package caller

import "net/netip"

// Network returns the part of an address that belongs to one client: an IPv4 address, or the first
// 64 bits of an IPv6 address. Rate limits of requests without a user count by it.
func Network(a netip.Addr) string {
	a = a.Unmap()
	if a.Is4() || !a.IsValid() {
		return a.String()
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.String()
}

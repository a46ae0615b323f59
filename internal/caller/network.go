package caller

import "net/netip"

// Network is what one client has for itself, where requests without a user are counted: an IPv4 address, or 64 bits of IPv6.
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

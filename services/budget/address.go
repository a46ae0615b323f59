package budget

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
)

const maxURL = 2048

// ipv6Internet is what of IPv6 is routed between strangers. Everything else is local, multicast, or an IPv4 address in
// disguise.
var ipv6Internet = netip.MustParsePrefix("2000::/3")

// notInternet are the ranges of IANA's special-purpose registries that netip.Addr has no method for, and the tunnels that
// carry IPv4 addresses within IPv6 ones.
var notInternet = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	// Azure's answers to its machines.
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

// public reports whether an address is one of the internet, and none of ours.
func public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() && !ipv6Internet.Contains(addr) {
		return false
	}
	for _, p := range notInternet {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// parseURL refuses early what can be told from the text. What a name means is known only when it is connected to.
func parseURL(p *apierr.Problems, s string) string {
	if problem := urlProblem(s); problem != "" {
		p.Add(errInvalidWebhookURL.With("url", problem))
	}
	return s
}

func urlProblem(s string) string {
	u, err := url.Parse(s)
	switch {
	case len(s) > maxURL:
		return "must be at most 2048 characters"
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "must be an https URL"
	case u.User != nil || u.Fragment != "" || strings.Contains(s, "#"):
		return "must be without user and fragment"
	case u.Port() != "":
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return "must have a port that can be connected to"
		}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	addr, err := netip.ParseAddr(host)
	if err == nil && !public(addr) || err != nil && !publicName(host) {
		return "must be an address of the internet"
	}
	return ""
}

// publicName tells whether a name may be known on the internet: those have a dot, and what ends in a number is an address in
// disguise, as 0x7f.1.
func publicName(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	top := host[dot+1:]
	_, err := strconv.ParseUint(top, 0, 64)
	return dot > 0 && err != nil && top != "localhost"
}

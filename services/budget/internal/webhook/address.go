package webhook

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2048

// ipv6Internet contains the globally routed addresses of IPv6. All others are local, multicast, or
// embed an IPv4 address.
var ipv6Internet = netip.MustParsePrefix("2000::/3")

// specialPurpose lists the ranges of IANA's special-purpose registries for which netip.Addr has no
// method, and the ranges of tunnels that embed IPv4 addresses in IPv6 addresses.
var specialPurpose = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	// Azure serves its virtual machines here.
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

// destinations selects the URLs and addresses that webhooks may deliver to.
type destinations bool

const (
	internetOnly destinations = false
	// privateToo also allows http URLs, names without a dot, and private and loopback addresses,
	// for development. Link-local addresses stay excluded, because cloud providers serve
	// credentials there.
	privateToo destinations = true
)

func (d destinations) contains(addr netip.Addr) bool {
	if public(addr) {
		return true
	}
	// An IPv4 address that is embedded in an IPv6 address is checked as an IPv4 address.
	addr = addr.Unmap()
	return d == privateToo && addr.Zone() == "" && (addr.IsPrivate() || addr.IsLoopback())
}

func public(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() && !ipv6Internet.Contains(addr) {
		return false
	}
	for _, p := range specialPurpose {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

// parseURL adds a problem if webhooks must not deliver to the URL. The addresses of a host name are
// checked on each connection, because they may change.
func (d destinations) parseURL(p *apierr.Problems, s string) string {
	if problem := d.urlProblem(s); problem != "" {
		p.Add(errInvalidWebhookURL.With("url", problem))
	}
	return s
}

// urlProblem returns the reason why a webhook must not deliver to the URL, or an empty string if it
// may. The API checks it when a webhook is created or changed, and attempt before each request,
// because the setting of the installation may have changed since.
func (d destinations) urlProblem(s string) string {
	target, err := url.Parse(s)
	switch {
	case len(s) > maxURL:
		return "must be at most 2048 characters"
	case err != nil || target.Hostname() == "" || target.Opaque != "" ||
		!slices.Contains(d.schemes(), target.Scheme):
		return "must be an " + strings.Join(d.schemes(), " or ") + " URL"
	// A user name would be stored in plain text, and a fragment is never sent.
	case target.User != nil || target.Fragment != "" || strings.Contains(s, "#"):
		return "must not have a user or a fragment"
	case target.Port() != "":
		if port, err := strconv.ParseUint(target.Port(), 10, 16); err != nil || port == 0 {
			return "must have a port between 1 and 65535"
		}
	}
	// A trailing dot and upper case do not change the meaning of a host name.
	host := strings.TrimSuffix(strings.ToLower(target.Hostname()), ".")
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && d.contains(addr), err != nil && (d == privateToo || publicName(host)):
		return ""
	case d == privateToo:
		return "must have a public, private or loopback address"
	}
	return "must have a public address"
}

func (d destinations) schemes() []string {
	if d == privateToo {
		return []string{"http", "https"}
	}
	return []string{"https"}
}

// publicName reports whether a host name can exist on the internet. Such a name has a dot, and its
// last label is no number: a name like 0x7f.1 is another notation of an address, which
// netip.ParseAddr does not recognize.
func publicName(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	top := host[dot+1:]
	_, err := strconv.ParseUint(top, 0, 64)
	return dot > 0 && err != nil && top != "localhost"
}

package webhook

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.0.1",
		"100.128.0.1", "2606:4700::1111", "2a00:1450::1",
	} {
		require.True(t, public(netip.MustParseAddr(s)), s)
	}
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254",
		"168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
		"192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
		"239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
		"2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00::1", "fe80::1",
		"fe80::1%eth0", "fec0::1", "ff02::1",
	} {
		require.False(t, public(netip.MustParseAddr(s)), s)
	}
}

func TestDestinationsContains(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "::1", "fd00::1", "::ffff:127.0.0.1",
	} {
		require.False(t, internetOnly.contains(netip.MustParseAddr(s)), s)
		require.True(t, privateToo.contains(netip.MustParseAddr(s)), s)
	}
	for _, s := range []string{
		"169.254.169.254", "168.63.129.16", "0.0.0.0", "::", "fe80::1", "fd00::1%eth0", "224.0.0.1",
		"255.255.255.255", "2002:7f00:1::",
	} {
		require.False(t, privateToo.contains(netip.MustParseAddr(s)), s)
	}
	require.True(t, internetOnly.contains(netip.MustParseAddr("1.1.1.1")))
	require.True(t, privateToo.contains(netip.MustParseAddr("1.1.1.1")))
}

func TestPublicMapped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		four := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")))
		mapped := netip.AddrFrom16(four.As16())
		require.Equal(t, public(four), public(mapped))
		require.False(t, public(mapped.WithZone("eth0")))
	})
}

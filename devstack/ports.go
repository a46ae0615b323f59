package devstack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// listen opens a port, or says in a sentence why not and which setting chooses another.
func listen(ctx context.Context, addr, what, setting string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%s=%s is not an address like 127.0.0.1:8080", setting, addr)
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return lis, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %s (%s), where %s would answer, is taken by another program: stop that one, or set %s to another address", port, addr, what, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %s (%s), where %s would answer, may only be opened by root: set %s to an address with a port above 1023", port, addr, what, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s=%s is not an address of this machine: set it to one, like 127.0.0.1:%s", setting, addr, port)
	}
	return nil, fmt.Errorf("%s cannot answer on %s=%s: %w", what, setting, addr, err)
}

// Linux and macOS give connections ports from above.
const lowestLasting, lastingPorts = 10_000, 20_000

// lasting names a port where addr has 0: one that stays free between a listener that leaves it and a program that takes it
// over, for the kernel gives it to no connection.
func lasting(ctx context.Context, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr
	}
	for range 100 {
		named := net.JoinHostPort(host, strconv.Itoa(lowestLasting+rand.IntN(lastingPorts))) //nolint:gosec // Any will do.
		if lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", named); err == nil {
			_ = lis.Close()
			return named
		}
	}
	return addr
}

// reachable is where to call what listens on addr: on all addresses means on this machine's own too.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port()).String()
}

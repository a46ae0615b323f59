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

// listen opens a port. Its error is a message for the user: the reason, and the setting that selects another port.
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
		return nil, fmt.Errorf("port %s (%s) of %s is in use by another program: stop that program, or set %s to another address", port, addr, what, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %s (%s) of %s requires root: set %s to an address with a port above 1023", port, addr, what, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s=%s is not an address of this machine: set it to an address like 127.0.0.1:%s", setting, addr, port)
	}
	return nil, fmt.Errorf("%s failed to listen on %s=%s: %w", what, setting, addr, err)
}

// lowestFixed and fixedPorts are a range below the ports that Linux and macOS assign to outgoing connections.
const lowestFixed, fixedPorts = 10_000, 20_000

// fixed replaces port 0 of an address by a free port that the kernel assigns to no connection. The port therefore stays free
// between the listener that closes it and the program that opens it.
func fixed(ctx context.Context, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr
	}
	// With so few ports in use, one of a hundred random ones is free.
	for range 100 {
		candidate := net.JoinHostPort(host, strconv.Itoa(lowestFixed+rand.IntN(fixedPorts))) //nolint:gosec // The port need not be unpredictable.
		if lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", candidate); err == nil {
			_ = lis.Close()
			return candidate
		}
	}
	return addr
}

// reachable returns the address for calls to a listener. A listener on all addresses is called on 127.0.0.1. The address
// is given to other parts, and 0.0.0.0 is not an address that a client can rely on.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port()).String()
}

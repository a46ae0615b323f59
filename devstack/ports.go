package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/coffer-budget/coffer/devstack/ports"
)

// listen opens a port. Its error is a message for the user: the reason, and the setting that
// selects another port.
func listen(ctx context.Context, addr, what, setting string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%s=%s is not an address like 127.0.0.1:8080", setting, addr)
	}
	lis, err := ports.Listen(ctx, addr)
	switch {
	case err == nil:
		return lis, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %s (%s) of %s is in use by another program: "+
			"stop that program, or set %s to another address", port, addr, what, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %s (%s) of %s requires root: "+
			"set %s to an address with a port above 1023", port, addr, what, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s=%s is not an address of this machine: "+
			"set it to an address like 127.0.0.1:%s", setting, addr, port)
	}
	return nil, fmt.Errorf("%s failed to listen on %s=%s: %w", what, setting, addr, err)
}

// reachable returns the address for calls to a listener. A listener on all addresses is called on
// 127.0.0.1. The address is given to other parts, and 0.0.0.0 is not an address that a client can
// rely on.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port()).String()
}

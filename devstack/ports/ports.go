// Package ports opens TCP ports that a program closes and opens again, or that another program
// opens.
//
// Such a port must not be in the range that the kernel assigns to outgoing connections, which could
// take it in between. And a closed port stays open for a moment if this process is starting a child
// at the time: the child has all open files until it executes its program.
package ports

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

const (
	// lowest and count are a range below the ports that Linux and macOS assign to outgoing
	// connections.
	lowest, count = 10_000, 20_000
	// attempts is the number of random ports that Listen tries. So few ports are in use that one of
	// a hundred is free.
	attempts = 100
	// closingTime limits how long AwaitClosed waits. Beside a busy disk, a child needs more than a
	// second to read the program that it executes.
	closingTime = 10 * time.Second
)

// Listen opens a port. Port 0 selects a free port that the kernel assigns to no connection.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	}
	var lis net.Listener
	for range attempts {
		port := strconv.Itoa(lowest + rand.IntN(count)) //nolint:gosec // It may be predictable.
		lis, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
		if err == nil {
			break
		}
	}
	return lis, err
}

// AwaitClosed returns when nothing listens at an address, when ctx ends, or after ten seconds. Call
// it after a listener is closed and before its port is opened again. It connects instead of
// listening, because a child that starts meanwhile would have that listener, too.
func AwaitClosed(ctx context.Context, addr string) {
	ctx, cancel := context.WithTimeout(ctx, closingTime)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return
		}
		_ = conn.Close()
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
}

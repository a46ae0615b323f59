// Package connlimit limits the open connections of a listener, in total and per client address, so
// that no client can use up the process's file descriptors.
//
// A connection beyond a limit replaces the connection that has been idle for the longest time: of
// the same address if the address has too many, otherwise of all. A server reports idle connections
// through Listener.ConnState, as net/http does. If no connection is idle, the new one is closed
// immediately, so that its client gets an error and not a timeout.
//
// Package rpc, the gateway and the metrics listener of package app use it. The metrics
// connections.open, connections.refused and connections.evicted show the effect of the limits.
package connlimit

import (
	"container/list"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/caller"
)

// Limits are the numbers of connections that may be open at the same time; 0 means no limit.
type Limits struct {
	Total int
	// PerAddress applies to an IPv4 address or 64 bits of IPv6.
	PerAddress int
}

// Listener is a net.Listener with limits.
type Listener struct {
	net.Listener
	limits Limits

	mu     sync.Mutex
	conns  map[*conn]bool
	counts map[string]int
	// idle holds the connections without a request, those idle for the longest time first.
	idle *list.List

	refused, evicted metric.Int64Counter
	attributes       metric.MeasurementOption
	metrics          metric.Registration
}

type conn struct {
	net.Conn
	listener *Listener
	address  string
	idle     *list.Element
	// once guards Close, and err is its result: a server may close a connection several times.
	once sync.Once
	err  error
}

// Listen applies limits to inner. The total is at most half of the process's file descriptors,
// because the process needs others.
func Listen(ctx context.Context, inner net.Listener, limits Limits) (*Listener, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return nil, fmt.Errorf("reading the limit of file descriptors: %w", err)
	}
	if limits.Total > 0 {
		limits.Total = int(min(uint64(limits.Total), max(files.Cur/2, 1)))
	}
	l := &Listener{
		Listener: inner, limits: limits, conns: map[*conn]bool{}, counts: map[string]int{},
		idle: list.New(),
		attributes: metric.WithAttributeSet(
			attribute.NewSet(attribute.String("listener", inner.Addr().String()))),
	}
	return l, l.instrument(ctx)
}

func (l *Listener) instrument(ctx context.Context) (err error) {
	meter := otel.Meter("github.com/coffer-budget/coffer/internal/connlimit")
	open, err := meter.Int64ObservableGauge("connections.open",
		metric.WithDescription("Open connections of clients."))
	if err != nil {
		return fmt.Errorf("instrumenting connections: %w", err)
	}
	l.refused, err = meter.Int64Counter("connections.refused",
		metric.WithDescription("Connections that were closed immediately because of a limit."))
	if err != nil {
		return fmt.Errorf("instrumenting connections: %w", err)
	}
	l.evicted, err = meter.Int64Counter("connections.evicted",
		metric.WithDescription("Idle connections that were closed to make room for others."))
	if err != nil {
		return fmt.Errorf("instrumenting connections: %w", err)
	}
	// A counter that first appears with its first event has no rate at that time, so an alert would
	// miss the event.
	l.refused.Add(ctx, 0, l.attributes)
	l.evicted.Add(ctx, 0, l.attributes)
	l.metrics, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		o.ObserveInt64(open, int64(len(l.conns)), l.attributes)
		return nil
	}, open)
	if err != nil {
		return fmt.Errorf("instrumenting connections: %w", err)
	}
	return nil
}

// Accept returns only connections within the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &conn{Conn: inner, listener: l, address: network(inner.RemoteAddr())}
		victim, ok := l.admit(conn)
		if victim != nil {
			l.evicted.Add(context.Background(), 1, l.attributes)
			_ = victim.Conn.Close()
		}
		if ok {
			return conn, nil
		}
		l.refused.Add(context.Background(), 1, l.attributes)
		_ = inner.Close()
	}
}

// Close also ends the metrics.
func (l *Listener) Close() error {
	_ = l.metrics.Unregister()
	return l.Listener.Close()
}

// admit counts conn if the limits allow it, possibly in place of an idle connection, which the
// caller closes.
func (l *Listener) admit(conn *conn) (victim *conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.limits.PerAddress > 0 && l.counts[conn.address] >= l.limits.PerAddress:
		victim = l.longestIdle(conn.address)
	case l.limits.Total > 0 && len(l.conns) >= l.limits.Total:
		victim = l.longestIdle("")
	default:
		ok = true
	}
	if victim != nil {
		l.remove(victim)
		ok = true
	}
	if ok {
		l.conns[conn] = true
		l.counts[conn.address]++
	}
	return victim, ok
}

// longestIdle looks at the connections of one address, unless that is empty.
func (l *Listener) longestIdle(address string) *conn {
	for e := l.idle.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conn); address == "" || c.address == address {
			return c
		}
	}
	return nil
}

// remove removes a closed or replaced connection from the counts. The caller must hold mu.
func (l *Listener) remove(c *conn) {
	if !l.conns[c] {
		return
	}
	delete(l.conns, c)
	if l.counts[c.address]--; l.counts[c.address] == 0 {
		delete(l.counts, c.address)
	}
	l.setIdle(c, false)
}

// setIdle adds a connection to the idle ones or removes it. The caller must hold mu.
func (l *Listener) setIdle(c *conn, idle bool) {
	switch {
	case idle && c.idle == nil:
		c.idle = l.idle.PushBack(c)
	case !idle && c.idle != nil:
		l.idle.Remove(c.idle)
		c.idle = nil
	}
}

// ConnState is a callback for http.Server.ConnState. A connection before its first request is idle,
// too.
func (l *Listener) ConnState(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns[c] {
		l.setIdle(c, state == http.StateIdle || state == http.StateNew)
	}
}

func (c *conn) Close() error {
	c.once.Do(func() {
		c.listener.mu.Lock()
		c.listener.remove(c)
		c.listener.mu.Unlock()
		c.err = c.Conn.Close()
	})
	return c.err
}

func network(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	ip, _ := netip.AddrFromSlice(tcp.IP)
	return caller.Network(ip)
}

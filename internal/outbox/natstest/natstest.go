// Package natstest starts real NATS servers with JetStream on disk for tests. The servers run in
// the test's process.
//
// New is sufficient for most tests. Start uses a given address, so that a test can stop a server
// and start it again, and Run uses given options, for example TLS. A server stops when its test
// ends, and its data are in a temporary folder. So tests share no events and run in parallel.
package natstest

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// New starts a server that stops with the test, and returns its URL.
func New(t testing.TB) string {
	t.Helper()
	url, _ := Start(t, "127.0.0.1:-1")
	return url
}

// Start starts an empty server at an address, host:port. stop stops it before the test ends.
func Start(t testing.TB, addr string) (url string, stop func()) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	s := Run(t, &server.Options{Host: host, Port: n})
	return s.ClientURL(), func() { s.Shutdown(); s.WaitForShutdown() }
}

// Run starts a server with the given options. It stops when the test ends, unless the test stops it
// before.
func Run(t testing.TB, options *server.Options) *server.Server {
	t.Helper()
	options.NoLog, options.NoSigs = true, true
	if !options.JetStream {
		options.JetStream, options.StoreDir = true, t.TempDir()
	}
	s, err := server.NewServer(options)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second), "NATS did not start")
	return s
}

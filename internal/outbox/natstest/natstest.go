// Package natstest gives a test a real NATS server with JetStream on disk.
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

// Start is New at an address of the test's choice, host:port, with nothing stored yet. stop ends it before the test does.
func Start(t testing.TB, addr string) (url string, stop func()) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	s := Run(t, &server.Options{Host: host, Port: n})
	return s.ClientURL(), func() { s.Shutdown(); s.WaitForShutdown() }
}

// Run starts a server with options of the test's choice. It stops with the test at the latest.
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

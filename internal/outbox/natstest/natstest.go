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
	s, err := server.NewServer(&server.Options{Host: host, Port: n, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	require.NoError(t, err)
	s.Start()
	stop = func() { s.Shutdown(); s.WaitForShutdown() }
	t.Cleanup(stop)
	require.True(t, s.ReadyForConnections(10*time.Second), "NATS did not start")
	return s.ClientURL(), stop
}

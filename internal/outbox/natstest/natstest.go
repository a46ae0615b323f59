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
	return start(t, "127.0.0.1", server.RANDOM_PORT)
}

// Start is New at an address of the test's choice, host:port.
func Start(t testing.TB, addr string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return start(t, host, n)
}

func start(t testing.TB, host string, port int) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: host, Port: port, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second), "NATS did not start")
	return s.ClientURL()
}

package rpc

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServeLimitsConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *setup) { s.server.config.MaxConnectionsPerAddress = 2 })
	open := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	// settings returns after the server has sent its first frame, or has closed the connection.
	settings := func(conn net.Conn) error {
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
			"\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, 9))
		return err
	}
	first, second := open(), open()
	require.NoError(t, settings(first))
	require.NoError(t, settings(second))
	require.Error(t, settings(open()))
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return settings(open()) == nil },
		time.Minute, 10*time.Millisecond)
}

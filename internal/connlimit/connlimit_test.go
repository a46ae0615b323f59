package connlimit

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	waitTime = 30 * time.Second
	waitStep = time.Millisecond
)

// serve returns the address of an HTTP server with limits. A request to /wait is answered when
// release is closed.
func serve(t *testing.T, limits Limits) (addr string, lis *Listener, release chan struct{}) {
	t.Helper()
	release = make(chan struct{})
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-release
		}
		_, _ = io.WriteString(w, "ok")
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	lis, err := Listen(t.Context(), server.Listener, limits)
	require.NoError(t, err)
	server.Listener = lis
	server.Config.ConnState = lis.ConnState
	server.Start()
	t.Cleanup(server.Close)
	return lis.Addr().String(), lis, release
}

// client is one connection.
type client struct {
	net.Conn
	t *testing.T
}

func dial(t *testing.T, addr string) client {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return client{c, t}
}

// get sends a request and reports whether its response started.
func (c client) get(path string) bool {
	c.t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	var answer [4096]byte
	n, err := c.Read(answer[:])
	return err == nil && n > 0
}

// closed waits until the server has closed the connection.
func (c client) closed() {
	c.t.Helper()
	_, err := io.Copy(io.Discard, c)
	_ = err // A reset also closes the connection.
}

func TestListener(t *testing.T) {
	t.Parallel()
	cases := map[string]Limits{"in total": {Total: 3}, "per address": {PerAddress: 3}}
	for name, limits := range cases {
		t.Run(name+" replaces the connection that is idle longest", func(t *testing.T) {
			t.Parallel()
			addr, lis, release := serve(t, limits)
			defer close(release)
			busy := dial(t, addr)
			require.True(t, busy.get("/wait"))
			oldest, newer := dial(t, addr), dial(t, addr)
			require.True(t, oldest.get("/"))
			require.True(t, newer.get("/"))
			lis.waitIdle(t, 2)
			require.True(t, dial(t, addr).get("/"))
			oldest.closed()
			lis.waitIdle(t, 2)
			require.True(t, newer.get("/"), "the newer connection stays")
		})
		t.Run(name+" refuses a connection when none is idle", func(t *testing.T) {
			t.Parallel()
			addr, lis, release := serve(t, limits)
			for range 3 {
				require.True(t, dial(t, addr).get("/wait"))
			}
			require.False(t, dial(t, addr).get("/"))
			close(release)
			lis.waitIdle(t, 3)
			require.True(t, dial(t, addr).get("/"))
		})
	}
	t.Run("does not count closed connections", func(t *testing.T) {
		t.Parallel()
		addr, lis, release := serve(t, Limits{Total: 2, PerAddress: 2})
		close(release)
		for range 10 {
			c := dial(t, addr)
			require.True(t, c.get("/"))
			require.NoError(t, c.Close())
		}
		require.Eventually(t, func() bool {
			lis.mu.Lock()
			defer lis.mu.Unlock()
			return len(lis.conns) == 0 && len(lis.counts) == 0 && lis.idle.Len() == 0
		}, waitTime, waitStep)
	})
	t.Run("limits nothing with 0", func(t *testing.T) {
		t.Parallel()
		addr, _, release := serve(t, Limits{})
		defer close(release)
		for range 20 {
			require.True(t, dial(t, addr).get("/wait"))
		}
	})
}

func TestListenLeavesDescriptorsForOtherFiles(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	lis, err := Listen(t.Context(), inner, Limits{Total: 1 << 40})
	require.NoError(t, err)
	defer func() { _ = lis.Close() }()
	require.Less(t, lis.limits.Total, 1<<40)
	require.Positive(t, lis.limits.Total)
}

// waitIdle waits until the server has reported n idle connections.
func (l *Listener) waitIdle(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.idle.Len() == n
	}, waitTime, waitStep)
}

package gateway

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/connlimit"
)

func TestConfigConnectionLimitsBehindProxy(t *testing.T) {
	t.Parallel()
	config := Config{MaxConnections: 10, MaxConnectionsPerAddress: 5}
	require.Equal(t, connlimit.Limits{Total: 10, PerAddress: 5}, config.connectionLimits())
	config.TrustProxyHops = 1
	require.Equal(t, connlimit.Limits{Total: 10}, config.connectionLimits())
}

// TestServeHealthWhileConnectionsAreExhausted runs the gateway without services, because /livez
// does not depend on them.
func TestServeHealthWhileConnectionsAreExhausted(t *testing.T) {
	t.Parallel()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	health := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		stopped <- Run(ctx, Config{
			AuthAddr: "127.0.0.1:1", LedgerAddr: "127.0.0.1:1", BudgetAddr: "127.0.0.1:1",
			ServiceKey: "k", HealthAddr: health, MaxConnections: 2,
		}, lis)
	}()
	defer func() { stop(); require.NoError(t, <-stopped) }()
	status := func(url string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return 0
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode
	}
	api := "http://" + lis.Addr().String()
	require.Eventually(t, func() bool { return status("http://"+health+livePath) == http.StatusOK },
		time.Minute, 10*time.Millisecond)
	require.Equal(t, http.StatusNotFound, status("http://"+health+"/version"))
	for range 2 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", lis.Addr().String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		// The request's body is never sent. The server asks for it once it has begun the request.
		// Before that, the limit would close the connection in favor of the next one.
		_, err = io.WriteString(conn, "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\n"+
			"Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
		require.NoError(t, err)
		line, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	}
	require.Eventually(t, func() bool { return status(api+livePath) == 0 },
		time.Minute, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, status("http://"+health+livePath))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = lis.Close() }()
	return lis.Addr().String()
}

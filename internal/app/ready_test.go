package app

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// TestReady changes the process's environment, so it does not run in parallel.
func TestReady(t *testing.T) {
	t.Run("of a service", func(t *testing.T) {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server := grpc.NewServer()
		status := health.NewServer()
		grpc_health_v1.RegisterHealthServer(server, status)
		go func() { _ = server.Serve(lis) }()
		t.Cleanup(server.Stop)
		_, port, err := net.SplitHostPort(lis.Addr().String())
		require.NoError(t, err)
		t.Setenv("HEALTH_ADDR", ":"+port)

		require.NoError(t, ready(t.Context(), true))
		status.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
		require.EqualError(t, ready(t.Context(), true), "is not ready")
		server.Stop()
		require.Error(t, ready(t.Context(), true))
	})
	t.Run("of the gateway", func(t *testing.T) {
		status := http.StatusOK
		mux := http.NewServeMux()
		mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("auth: unavailable"))
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		t.Setenv("HEALTH_ADDR", server.Listener.Addr().String())

		require.NoError(t, ready(t.Context(), false))
		status = http.StatusServiceUnavailable
		require.ErrorContains(t, ready(t.Context(), false), "auth: unavailable")
	})
	t.Run("without an address", func(t *testing.T) {
		t.Setenv("HEALTH_ADDR", "")
		require.ErrorContains(t, ready(t.Context(), true), "HEALTH_ADDR")
	})
}

package rpc

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func TestSetOptionalDoesNotChangeReadiness(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{}, nil, slog.New(slog.DiscardHandler))
	status := func(name string) healthpb.HealthCheckResponse_ServingStatus {
		resp, err := s.health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		require.NoError(t, err)
		return resp.GetStatus()
	}
	s.setHealth(healthpb.HealthCheckResponse_SERVING)
	s.SetOptional("engine", false)
	require.Equal(t, healthpb.HealthCheckResponse_NOT_SERVING, status("engine"))
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, status(""))
	s.SetOptional("engine", true)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, status("engine"))
}

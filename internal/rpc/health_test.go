package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
)

func TestSetOptionalDoesNotChangeReadiness(t *testing.T) {
	t.Parallel()
	server := NewServer(Config{}, nil, slog.New(slog.DiscardHandler))
	status := func(name string) healthpb.HealthCheckResponse_ServingStatus {
		resp, err := server.health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		require.NoError(t, err)
		return resp.GetStatus()
	}
	server.setHealth(healthpb.HealthCheckResponse_SERVING)
	server.SetOptional("engine", false)
	require.Equal(t, healthpb.HealthCheckResponse_NOT_SERVING, status("engine"))
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, status(""))
	server.SetOptional("engine", true)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, status("engine"))
}

func TestHealthFollowsReadinessAndLiveOnlyProcess(t *testing.T) {
	t.Parallel()
	authority, err := mtls.NewAuthority(time.Now)
	require.NoError(t, err)
	certificate, err := authority.Issue(t.TempDir(), "auth", time.Hour)
	require.NoError(t, err)
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := free.Addr().String()
	require.NoError(t, free.Close())
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	server := NewServer(Config{ServiceKey: serviceKey, TLS: certificate, HealthAddr: addr},
		nil, slog.New(slog.DiscardHandler))
	authv1.RegisterAuthServiceServer(server, &fake{do: func(context.Context) error { return nil }})
	budgetv1.RegisterNotificationServiceServer(server, &fake{})
	var ready sync.Map
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, lis, func(context.Context) error {
			if _, ok := ready.Load("now"); !ok {
				return errors.New("Postgres is away")
			}
			return nil
		})
	}()
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	says := func(service string) string {
		resp, err := healthpb.NewHealthClient(conn).Check(t.Context(),
			&healthpb.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
		require.NoError(t, err)
		return resp.GetStatus().String()
	}
	names := []string{"", "coffer.auth.v1.AuthService", "coffer.budget.v1.NotificationService"}
	for _, name := range names {
		require.Equal(t, "NOT_SERVING", says(name), name)
	}
	require.Equal(t, "SERVING", says(live))
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(),
		&healthpb.HealthCheckRequest{Service: "coffer.ledger.v1.LedgerService"})
	require.Equal(t, codes.NotFound, status.Code(err), "a service that is served elsewhere")
	ready.Store("now", true)
	for _, name := range names {
		require.Eventually(t, func() bool { return says(name) == "SERVING" },
			time.Minute, 10*time.Millisecond, name)
	}
	_, err = authv1.NewAuthServiceClient(conn).Login(t.Context(), &authv1.LoginRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err),
		"without a certificate there is health and nothing else")
	stop()
	require.NoError(t, <-ended)
}

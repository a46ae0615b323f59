package rpc

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/mtls"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

func TestShedLoadExemptsServices(t *testing.T) {
	t.Parallel()
	const limit = 3
	srv := start(t, func(s *setup) { s.server.limit = &Limit{limit: limit} })
	begun, finish := make(chan struct{}, limit), make(chan struct{})
	srv.do = func(context.Context) error {
		begun <- struct{}{}
		<-finish
		return nil
	}
	var waiting sync.WaitGroup
	for range limit {
		waiting.Go(func() {
			if _, err := srv.auth.Login(context.Background(), &authv1.LoginRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	for range limit {
		<-begun
	}
	srv.do = func(context.Context) error { return nil }

	var trailer metadata.MD
	begin := time.Now()
	_, err := srv.auth.Login(t.Context(), &authv1.LoginRequest{}, grpc.Trailer(&trailer))
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err))
	require.NotZero(t, apierr.From(err).RetryAfter)
	require.Equal(t, []string{"-1"}, trailer.Get("grpc-retry-pushback-ms"),
		"gRPC does not try again by itself")
	_, err = dial(t, srv.addr, "", mtls.Config{}).GetMe(as(t, "authorization", "Bearer "+srv.token),
		&authv1.GetMeRequest{})
	require.Equal(t, "SERVICE_UNAVAILABLE", reason(err))
	require.Less(t, time.Since(begin), 10*time.Second)

	asService := dial(t, srv.addr, serviceKey, mtls.Config{})
	_, err = asService.FindUserByEmail(t.Context(), &authv1.FindUserByEmailRequest{})
	require.NoError(t, err, "it belongs to a request that was let in")
	conn, err := Dial(srv.addr, authv1.AuthService_ServiceDesc.ServiceName, Config{})
	require.NoError(t, err)
	defer conn.Close()
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(),
		&healthpb.HealthCheckRequest{Service: live})
	require.NoError(t, err, "to restart what is busy would not help")

	close(finish)
	waiting.Wait()
	_, err = srv.auth.Login(t.Context(), &authv1.LoginRequest{})
	require.NoError(t, err)
	require.Zero(t, srv.server.limit.inFlight.Load())
}

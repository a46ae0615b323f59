package devstack

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/coffer-budget/coffer/internal/mtls"
)

// healthy returns a probe that calls a service's gRPC health service. With MTLS it uses the
// gateway's certificate.
func (s *Stack) healthy(name string) func(ctx context.Context, addr string) error {
	return func(ctx context.Context, addr string) error {
		conn, err := grpc.NewClient("passthrough:///"+addr,
			grpc.WithTransportCredentials(mtls.Client(s.Certificates["gateway"], name)))
		if err != nil {
			return err
		}
		defer conn.Close()
		return serving(ctx, conn)
	}
}

// serving returns an error unless the service at conn reports SERVING.
func serving(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{},
		grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("its health is %s", resp.GetStatus())
	}
	return nil
}

func ready(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz",
		http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz returned %s", resp.Status)
	}
	return nil
}

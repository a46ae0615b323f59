package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// readyTimeout limits how long `ready` waits for an answer.
const readyTimeout = 5 * time.Second

// ready returns nil if the process that listens at HEALTH_ADDR on this machine is ready. The health
// checks of containers need such a command, because the images have no other program. A process
// with a database has the health service of gRPC, and the gateway has /readyz.
func ready(ctx context.Context, hasDatabase bool) error {
	config, err := ParseEnv[struct {
		Address string `env:"HEALTH_ADDR,required,notEmpty"`
	}](nil)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(config.Address)
	if err != nil {
		return fmt.Errorf("HEALTH_ADDR must be host:port: %w", err)
	}
	address := net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if hasDatabase {
		return checkHealth(ctx, address)
	}
	return getReady(ctx, address)
}

func checkHealth(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	response, err := grpc_health_v1.NewHealthClient(conn).Check(ctx,
		&grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if response.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return errors.New("is not ready")
	}
	return nil
}

func getReady(ctx context.Context, address string) error {
	url := "http://" + address + "/readyz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
		return fmt.Errorf("is not ready: %s: %s", response.Status, body)
	}
	return nil
}

package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Names of optional parts in the health service; see SetOptional. ocr reports HealthNeural. The
// ledger reports the others, because the gateway has no connection to ocr.
const (
	HealthNeural         = "neural"
	HealthReceipts       = "receipts"
	HealthNeuralReceipts = "receipts.neural"
	// HealthStorage is reported by the ledger if it can measure the volume of the database.
	HealthStorage = "storage"
)

// Serving reports whether a process, or an optional part of it, is healthy.
func Serving(ctx context.Context, conn grpc.ClientConnInterface, part string) bool {
	healthy, _ := Reported(ctx, conn, part)
	return healthy
}

// Reported returns the health of an optional part, and whether the process reports it.
func Reported(
	ctx context.Context, conn grpc.ClientConnInterface, part string,
) (healthy, known bool) {
	req := &healthpb.HealthCheckRequest{Service: part}
	health, err := healthpb.NewHealthClient(conn).Check(ctx, req)
	return health.GetStatus() == healthpb.HealthCheckResponse_SERVING, err == nil
}

func (s *Server) serveHealth(ctx context.Context) (stop func(), err error) {
	if s.config.HealthAddr == "" {
		return func() {}, nil
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.HealthAddr)
	if err != nil {
		return nil, fmt.Errorf("listening for health checks: %w", err)
	}
	server := grpc.NewServer(
		grpc.ConnectionTimeout(5*time.Second),
		grpc.MaxRecvMsgSize(1<<10),
		grpc.MaxConcurrentStreams(16),
	)
	healthpb.RegisterHealthServer(server, s.health)
	go func() { _ = server.Serve(lis) }()
	return server.Stop, nil
}

// watch updates the health status until ctx ends, every 5 s while the service is ready and every
// 100 ms while it is not.
func (s *Server) watch(ctx context.Context, ready func(ctx context.Context) error) {
	for was := false; ; {
		probe, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := ready(probe)
		if s.verifier != nil {
			err = errors.Join(err, s.verifier.Ready())
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
		pause := 5 * time.Second
		if is := err == nil; is != was {
			was = is
			s.log.InfoContext(ctx, "readiness changed", "ready", is, "error", err)
		}
		if err == nil {
			s.setHealth(healthpb.HealthCheckResponse_SERVING)
		} else {
			s.setHealth(healthpb.HealthCheckResponse_NOT_SERVING)
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// SetOptional sets the health of an optional part, which the health service reports under a
// separate name. The server's readiness does not depend on it.
func (s *Server) SetOptional(name string, working bool) {
	status := healthpb.HealthCheckResponse_NOT_SERVING
	if working {
		status = healthpb.HealthCheckResponse_SERVING
	}
	s.health.SetServingStatus(name, status)
}

func (s *Server) setHealth(status healthpb.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", status)
	for _, name := range s.services {
		s.health.SetServingStatus(name, status)
	}
}

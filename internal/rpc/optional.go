package rpc

import (
	"context"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Names of optional parts in the health service; see SetOptional. ocr reports its neural engine. The ledger reports whether receipts can be
// recognized, and whether the neural engine does so, because the gateway has no connection to ocr.
const (
	HealthNeural         = "neural"
	HealthReceipts       = "receipts"
	HealthNeuralReceipts = "receipts.neural"
)

// Serving reports whether a process, or an optional part of it, is healthy.
func Serving(ctx context.Context, conn grpc.ClientConnInterface, part string) bool {
	health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: part})
	return err == nil && health.GetStatus() == healthpb.HealthCheckResponse_SERVING
}

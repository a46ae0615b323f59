package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/coffer-budget/coffer/internal/mtls"
)

// Dial returns a connection to a service at host:port, which is safe for concurrent use. It does
// not wait for the service: calls fail with SERVICE_UNAVAILABLE while it is unavailable. RPCs
// marked NO_SIDE_EFFECTS or IDEMPOTENT in the proto package of service are retried when a
// connection breaks. service is its full name, such as
// authv1.AuthService_ServiceDesc.ServiceName.
//
// Dial uses the ServiceKey and TLS of config. A caller that is a service passes its own
// configuration. The gateway only acts for users, so its ServiceKey is a GatewayKey or empty. The
// key is sent only if services have no certificates.
func Dial(addr, service string, config Config) (*grpc.ClientConn, error) {
	serviceKey, certificate := config.ServiceKey, config.TLS
	if err := certificate.Check(); err != nil {
		return nil, err
	}
	name := protoreflect.FullName(service)
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil, fmt.Errorf("finding the descriptor of %s: %w", service, err)
	}
	protoPackage := descriptor.ParentFile().Package()
	if certificate.On() {
		serviceKey = ""
	}
	retries, err := serviceConfig(protoPackage)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("dns:///"+addr,
		grpc.WithTransportCredentials(mtls.Client(certificate, contextOf(protoPackage))),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler(otelgrpc.WithFilter(notHealth))),
		grpc.WithDefaultServiceConfig(retries),
		grpc.WithStaticStreamWindowSize(flowWindow),
		grpc.WithStaticConnWindowSize(flowWindow),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 30 * time.Second, Timeout: 5 * time.Second,
		}),
		grpc.WithUnaryInterceptor(func(
			ctx context.Context, method string, req, resp any,
			cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			return invoke(identify(ctx, serviceKey), method, req, resp, cc, opts...)
		}),
		grpc.WithStreamInterceptor(func(
			ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn,
			method string, open grpc.Streamer, opts ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return open(identify(ctx, serviceKey), desc, cc, method, opts...)
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", addr, err)
	}
	return conn, nil
}

func identify(ctx context.Context, serviceKey string) context.Context {
	if id := RequestID(ctx); id != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, metadataRequestID, id)
	}
	if serviceKey != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, metadataService, serviceKey)
	}
	return ctx
}

// contextOf returns the name of the process that serves coffer.<name>.v1. Its certificate carries
// the same name.
func contextOf(protoPackage protoreflect.FullName) string {
	return string(protoPackage.Parent().Name())
}

// serviceConfig returns gRPC's JSON service config: round-robin balancing, and retries for RPCs
// that may be repeated.
func serviceConfig(protoPackage protoreflect.FullName) (string, error) {
	type name struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	var retried []name
	add := func(service protoreflect.ServiceDescriptor) {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			options, ok := method.Options().(*descriptorpb.MethodOptions)
			const unknown = descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
			if ok && options.GetIdempotencyLevel() != unknown {
				retried = append(retried, name{string(service.FullName()), string(method.Name())})
			}
		}
	}
	// The proto package may have several services, which share the connection.
	files := protoregistry.GlobalFiles
	files.RangeFilesByPackage(protoPackage, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			add(file.Services().Get(i))
		}
		return true
	})
	config := map[string]any{
		// Retries help after a broken connection and harm an overloaded service: at most one per
		// ten successful calls.
		"retryThrottling":     map[string]any{"maxTokens": 20, "tokenRatio": 0.1},
		"loadBalancingConfig": []any{map[string]any{"round_robin": struct{}{}}},
	}
	if len(retried) > 0 {
		config["methodConfig"] = []any{map[string]any{
			"name": retried,
			"retryPolicy": map[string]any{
				"maxAttempts": 3, "backoffMultiplier": 2,
				"initialBackoff": "0.05s", "maxBackoff": "0.5s",
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}}
	}
	text, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("encoding the service config of %s: %w", protoPackage, err)
	}
	return string(text), nil
}

func notHealth(info *stats.RPCTagInfo) bool {
	return !strings.HasPrefix(info.FullMethodName, "/grpc.health.")
}

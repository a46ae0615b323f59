// Package rpc provides the gRPC server and client connection of every service.
//
// A Server wraps grpc.Server with the rules that apply to each call: load shedding, logging,
// conversion of errors, recovery from panics, deadlines and authorization, in this order (see
// NewServer, and stream in stream.go). An RPC method can rely on a verified caller (package
// caller), a deadline and a request id. It returns any error: Public converts it to the error that
// the caller may see. Serve also answers health checks (health.go) and drains calls when the
// process stops.
//
// Dial returns a connection with tracing, retries of reads, and credentials. Gate and Limit are
// concurrency limiters for handlers and for the gateway.
//
// Start reading with NewServer in server.go, then access.go for authorization.
package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/connlimit"
	"github.com/coffer-budget/coffer/internal/mtls"
)

const (
	// MaxFile is the maximum size of a file in a request, in bytes. The only one is a receipt.
	MaxFile = 10 << 20
	// MaxMessage is the maximum size of a message in bytes: a file and the other fields.
	MaxMessage = MaxFile + 1<<20
	// maxHeader is the maximum size of a call's metadata in bytes, about a hundred tokens. gRPC's
	// default is 16 MiB.
	maxHeader = 64 << 10

	metadataToken     = "authorization"
	metadataService   = "coffer-service-key"
	metadataRequestID = "x-request-id"

	drainTime = 20 * time.Second
	maxIdle   = 5 * time.Minute

	// maxStreamAge is how long a stream may continue on a connection that has reached
	// MaxConnectionAge. The longest download fits.
	maxStreamAge = DownloadTimeout + time.Minute
	// flowWindow is the fixed HTTP/2 flow-control window in bytes. With a dynamic window, gRPC
	// pings the peer with every message to estimate the bandwidth.
	flowWindow = 256 << 10

	// streamWorkers is the number of goroutines that are reused for calls, because their stacks
	// have grown already. More workers take turns, and find the processor's caches cold.
	streamWorkers = 32

	// live is the name that the health service reports as SERVING while the process runs, for
	// liveness probes. It does not depend on PostgreSQL, because a restart of the process would not
	// repair that.
	live = "live"
)

// Config is the configuration of every service's server, read from the environment.
type Config struct {
	// ServiceKey is a secret shared by the services of one installation. RPCs with ACCESS_SERVICE
	// require it if TLS is off.
	ServiceKey string `env:"SERVICE_KEY,required,notEmpty,unset"`
	// TLS enables mutual TLS. Callers must then present a certificate for a name in the RPC's list
	// of callers.
	TLS mtls.Config
	// HealthAddr is an address that serves only health checks, without TLS, because Kubernetes has
	// no client certificate. It is off if empty.
	HealthAddr string `env:"HEALTH_ADDR"`
	// Reflection turns on server reflection, with which grpcurl lists and describes the RPCs.
	Reflection bool `env:"REFLECTION" envDefault:"false"`
	// MaxConnections limits the open connections in total, MaxConnectionsPerAddress per client
	// address. 0 means no limit.
	MaxConnections           int `env:"MAX_CONNECTIONS" envDefault:"2000"`
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS" envDefault:"500"`
	// MaxConnectionAge is how long a client may use a connection, plus or minus 10 %. Then it opens
	// another one and resolves the service's name again, so that it knows new instances before the
	// old ones end (ADR 58). 0 means no limit.
	MaxConnectionAge time.Duration `env:"MAX_CONNECTION_AGE" envDefault:"15s"`
}

// Server is a gRPC server with Coffer's interceptors.
type Server struct {
	*grpc.Server
	health   *health.Server
	config   Config
	verifier *caller.Verifier
	streams  *streams
	limit    *Limit
	// maxTimeout is the longest deadline of a unary call, and maxTransfer of a transfer. Both are
	// shorter in tests.
	maxTimeout, maxTransfer time.Duration
	log                     *slog.Logger
	// services are the registered services, whose health is reported by full name.
	services []string
}

// NewServer returns a server that verifies users' tokens with verifier. It may be nil if no RPC is
// for users. Register the services, then call Serve.
func NewServer(config Config, verifier *caller.Verifier, log *slog.Logger) *Server {
	server := &Server{
		config: config, verifier: verifier, log: log, health: health.NewServer(),
		limit: NewLimit(), maxTimeout: maxTimeout, maxTransfer: DownloadTimeout + time.Minute,
		streams: &streams{ending: make(chan struct{}), verifyInterval: verifyInterval},
	}
	server.Server = grpc.NewServer(
		grpc.Creds(mtls.Server(config.TLS)),
		grpc.StatsHandler(otelgrpc.NewServerHandler(otelgrpc.WithFilter(notHealth))),
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.StaticStreamWindowSize(flowWindow),
		grpc.StaticConnWindowSize(flowWindow),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.MaxConcurrentStreams(maxStreams+1000),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.InTapHandle(server.limitDeadline),
		// Calls and streams continue on an old connection for up to maxStreamAge.
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: maxIdle, MaxConnectionAge: config.MaxConnectionAge,
			MaxConnectionAgeGrace: maxStreamAge,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime: 10 * time.Second, PermitWithoutStream: true,
		}),
		// The first is the outermost.
		grpc.ChainUnaryInterceptor(server.shedLoad, server.finish, server.recover, server.deadline,
			server.authorize),
		grpc.ChainStreamInterceptor(server.stream),
	)
	healthpb.RegisterHealthServer(server.Server, server.health)
	server.setHealth(healthpb.HealthCheckResponse_NOT_SERVING)
	server.health.SetServingStatus(live, healthpb.HealthCheckResponse_SERVING)
	if config.Reflection {
		reflection.Register(server.Server)
	}
	return server
}

// Serve accepts calls on lis until ctx ends. Then it ends streams, waits up to drainTime for the
// calls in flight, and returns nil. ready is called every few seconds. Health checks report the
// server as serving while ready and the verifier return no error: a service that cannot verify
// tokens would answer every call with 503.
func (s *Server) Serve(
	ctx context.Context, lis net.Listener, ready func(ctx context.Context) error,
) error {
	if err := s.config.TLS.Check(); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go s.watch(watching, ready)
	stopHealth, err := s.serveHealth(ctx)
	if err != nil {
		return err
	}
	defer stopHealth()

	lis, err = connlimit.Listen(ctx, lis, connlimit.Limits{
		Total: s.config.MaxConnections, PerAddress: s.config.MaxConnectionsPerAddress,
	})
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Server.Serve(lis) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving gRPC: %w", err)
	case <-ctx.Done():
	}
	s.health.Shutdown()
	close(s.streams.ending)
	drained := make(chan struct{})
	go func() { s.GracefulStop(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(drainTime):
		s.Stop()
	}
	return nil
}

// RegisterService implements grpc.ServiceRegistrar. It also registers the service for health
// checks.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, service any) {
	s.Server.RegisterService(desc, service)
	s.services = append(s.services, desc.ServiceName)
	s.health.SetServingStatus(desc.ServiceName, healthpb.HealthCheckResponse_NOT_SERVING)
}

// finish is the interceptor that logs the call and converts its error to a public gRPC status.
func (s *Server) finish(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if infrastructure(info.FullMethod) {
		return next(ctx, req)
	}
	start := time.Now()
	ctx, seen := withActing(withRequestID(ctx))
	resp, err := next(ctx, req)
	if err := s.finished(ctx, seen, info.FullMethod, start, err); err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *Server) finished(
	ctx context.Context, seen *acting, fullMethod string, start time.Time, err error,
) error {
	shown := Public(err)
	level, reason := slog.LevelInfo, "OK"
	attrs := []slog.Attr{
		slog.String("method", fullMethod), slog.Duration("duration", time.Since(start)),
	}
	if shown != nil {
		reason = shown.Reason
		switch {
		case shown.Reason == apierr.Internal.Reason:
			level = slog.LevelError
			attrs = append(attrs, slog.Any("error", err))
		case shown.Code == codes.Internal, shown.Code == codes.Unavailable,
			shown.Code == codes.DeadlineExceeded:
			// A declared error, often caused by the client, such as a file that is not a receipt.
			// It must not alert an operator.
			level = slog.LevelWarn
			attrs = append(attrs, slog.Any("error", err))
		}
	}
	s.log.LogAttrs(seen.acted(ctx), level, "rpc", append(attrs, slog.String("reason", reason))...)
	if shown != nil {
		return shown.GRPCStatus().Err()
	}
	return nil
}

func infrastructure(fullMethod string) bool { return strings.HasPrefix(fullMethod, "/grpc.") }

func (s *Server) recover(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (resp any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return next(ctx, req)
}

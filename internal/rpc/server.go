// Package rpc is the gRPC server and connection as every service has them: who may call, deadlines, errors, logs, traces,
// health, retries.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/stats"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/connlimit"
	"github.com/coffer-budget/coffer/internal/mtls"
	"github.com/coffer-budget/coffer/internal/pg"
)

const (
	// MaxMessage lets a receipt of 10 MiB through.
	MaxMessage = 11 << 20
	// maxHeader is a hundred tokens; gRPC alone would take 16 MiB.
	maxHeader = 64 << 10

	metadataToken     = "authorization"
	metadataService   = "coffer-service-key"
	metadataRequestID = "x-request-id"

	// hopReserve is kept back on each hop, so that the innermost failure is the one that the client learns of.
	hopReserve = 20 * time.Millisecond
	drainTime  = 20 * time.Second
	// maxIdle is how long a connection may stay open without a call.
	maxIdle = 5 * time.Minute
	// flowWindow is fixed: gRPC would else ping the other side with every message, to learn how large a window is worth it.
	flowWindow = 256 << 10

	// streamWorkers are goroutines whose stacks have grown already; a call beyond has one of its own, which must grow. More of
	// them would take turns, and find nothing in the processor's caches.
	streamWorkers = 32

	// live is the health service's name for the process alone: to restart it would not bring Postgres back.
	live = "live"
)

// Config is what every service of an installation is told.
type Config struct {
	// ServiceKey is shared by the services of one installation; RPCs with ACCESS_SERVICE ask for it.
	ServiceKey string `env:"SERVICE_KEY,required,notEmpty,unset"`
	// TLS has the service prove who it is and ask the same of its callers, who must be on the RPC's list then.
	TLS mtls.Config
	// HealthAddr is where health is told without TLS too, to Kubernetes, which has no certificate to show; empty: nowhere.
	HealthAddr string `env:"HEALTH_ADDR"`
	// Reflection lets grpcurl list and describe the RPCs.
	Reflection bool `env:"REFLECTION" envDefault:"false"`
	// MaxConnections limits the open connections, MaxConnectionsPerAddress those of one client address; 0: no limit.
	MaxConnections           int `env:"MAX_CONNECTIONS" envDefault:"2000"`
	MaxConnectionsPerAddress int `env:"MAX_CONNECTIONS_PER_ADDRESS" envDefault:"500"`
}

// Server is a gRPC server with Coffer's interceptors, health and, if asked for, reflection.
type Server struct {
	*grpc.Server
	health   *health.Server
	config   Config
	verifier *caller.Verifier
	streams  *streams
	limit    *Limit
	// longestCall is shorter in tests.
	longestCall time.Duration
	log         *slog.Logger
	stats       stats.Handler
	// methods by full name, for calls from this process.
	methods map[string]registered
	// services are the full names of the registered services, for the health service.
	services []string
	// direct is held by calls from this process, and by a server that stops.
	direct sync.RWMutex
}

// NewServer returns a server that verifies users' tokens with verifier, which may be nil when no RPC takes users.
func NewServer(config Config, verifier *caller.Verifier, log *slog.Logger) *Server {
	s := &Server{
		config: config, verifier: verifier, limit: NewLimit(), longestCall: longestCall,
		streams: &streams{ending: make(chan struct{}), verifyEvery: verifyEvery}, log: log, health: health.NewServer(),
		stats: otelgrpc.NewServerHandler(otelgrpc.WithFilter(notHealth)), methods: map[string]registered{},
	}
	s.Server = grpc.NewServer(
		grpc.Creds(mtls.Server(config.TLS)),
		grpc.StatsHandler(s.stats),
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.StaticStreamWindowSize(flowWindow),
		grpc.StaticConnWindowSize(flowWindow),
		grpc.MaxHeaderListSize(maxHeader),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.MaxConcurrentStreams(maxStreams+1000),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.InTapHandle(s.patient),
		// Connections are renewed so that load spreads over new replicas. Those without a call make room for others.
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: maxIdle, MaxConnectionAge: 10 * time.Minute, MaxConnectionAgeGrace: time.Minute}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(s.intercept),
		grpc.ChainStreamInterceptor(s.stream),
	)
	healthpb.RegisterHealthServer(s.Server, s.health)
	s.setHealth(healthpb.HealthCheckResponse_NOT_SERVING)
	s.health.SetServingStatus(live, healthpb.HealthCheckResponse_SERVING)
	if config.Reflection {
		reflection.Register(s.Server)
	}
	return s
}

// Serve answers on lis until ctx ends, then finishes what is in flight. ready is asked every few seconds, and decides
// what the health service says, together with the verifier: a service that cannot verify tokens would answer everything with 503.
func (s *Server) Serve(ctx context.Context, lis net.Listener, ready func(ctx context.Context) error) error {
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

	lis, err = connlimit.Listen(ctx, lis, connlimit.Limits{Total: s.config.MaxConnections, PerAddress: s.config.MaxConnectionsPerAddress})
	if err != nil {
		return err
	}
	here.Store(lis.Addr().String(), s)
	defer here.Delete(lis.Addr().String())
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
	go func() { s.direct.Lock(); s.GracefulStop(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(drainTime):
		s.Stop()
	}
	return nil
}

// serveHealth answers questions about health, and no other, to whoever asks.
func (s *Server) serveHealth(ctx context.Context) (stop func(), err error) {
	if s.config.HealthAddr == "" {
		return func() {}, nil
	}
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.HealthAddr)
	if err != nil {
		return nil, fmt.Errorf("listening for questions about health: %w", err)
	}
	server := grpc.NewServer(grpc.ConnectionTimeout(5*time.Second), grpc.MaxRecvMsgSize(1<<10), grpc.MaxConcurrentStreams(16))
	healthpb.RegisterHealthServer(server, s.health)
	go func() { _ = server.Serve(lis) }()
	return server.Stop, nil
}

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

// setHealth sets the status of the whole process, which has the name "", and of each of its services, by full name.
func (s *Server) setHealth(status healthpb.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", status)
	for _, name := range s.services {
		s.health.SetServingStatus(name, status)
	}
}

// finish is outermost but for the limit: it logs the call and turns whatever came out into a status that may be shown.
func (s *Server) finish(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
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

// finished logs a call or stream, and returns what the caller sees of its error.
func (s *Server) finished(ctx context.Context, seen *acting, fullMethod string, start time.Time, err error) error {
	shown := Public(err)
	level, reason := slog.LevelInfo, "OK"
	attrs := []slog.Attr{slog.String("method", fullMethod), slog.Duration("duration", time.Since(start))}
	if shown != nil {
		reason = shown.Reason
		switch {
		case shown.Reason == apierr.Internal.Reason:
			level = slog.LevelError
			attrs = append(attrs, slog.Any("error", err))
		case shown.Code == codes.Internal || shown.Code == codes.Unavailable || shown.Code == codes.DeadlineExceeded:
			// Declared, and often the client's doing, like a file that is no receipt: nobody need be woken.
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

// infrastructure are the RPCs that gRPC itself brings: health and reflection.
func infrastructure(fullMethod string) bool { return strings.HasPrefix(fullMethod, "/grpc.") }

// canceled is for the log: nobody is there to be answered.
var canceled = &apierr.Error{Code: codes.Canceled, Reason: "CANCELED", Message: "The request was canceled"}

// Public is what a caller may see of an error; nil for nil. It is the one place that decides that.
func Public(err error) *apierr.Error {
	if err == nil {
		return nil
	}
	if e := apierr.From(err); e != nil {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return canceled
	// Connecting has a time of its own, and it says that it is over as a request's time does.
	case pg.IsUnreachable(err):
		return apierr.Unavailable
	case errors.Is(err, context.DeadlineExceeded):
		return apierr.DeadlineExceeded
	case pg.IsUnavailable(err), pg.IsRetryable(err), pg.IsLocked(err):
		return apierr.Unavailable
	}
	return downstream(err)
}

func (s *Server) recover(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return next(ctx, req)
}

func (s *Server) deadline(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	// There is one: patient saw to it.
	end, _ := ctx.Deadline()
	end = end.Add(-hopReserve)
	if time.Until(end) <= 0 {
		return nil, apierr.DeadlineExceeded
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return next(ctx, req)
}

// acting carries the identity from authorize out to finish, for the log.
type acting struct {
	caller.Identity
	known bool
}

type actingKey struct{}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/devstack"
	"github.com/coffer-budget/coffer/test/programs"
)

// bench is one run of the benchmarks. Its stacks are started when a theme first needs them.
type bench struct {
	options
	// dir is a temporary folder for all data of the run. programs is the folder of the compiled
	// services.
	dir, programs string
	// collector receives the spans, at endpoint.
	collector *grpc.Server
	endpoint  string
	// stacks are the running stacks by name.
	stacks map[string]*stack
	table  strings.Builder
}

type stack struct {
	*devstack.Stack
	dir     string
	writers []user
}

// collector accepts spans like an OpenTelemetry collector and discards them, so that the cost of
// exporting them is measured.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer
}

// Export implements collectorv1.TraceServiceServer.
func (collector) Export(
	context.Context, *collectorv1.ExportTraceServiceRequest,
) (*collectorv1.ExportTraceServiceResponse, error) {
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// newBench builds the programs and starts the collector. close removes both.
func newBench(ctx context.Context, options options) (*bench, error) {
	dir, err := os.MkdirTemp("", "coffer-bench-")
	if err != nil {
		return nil, err
	}
	bench := &bench{
		options: options, dir: dir, programs: filepath.Join(dir, "programs"),
		collector: grpc.NewServer(), stacks: map[string]*stack{},
	}
	// The collector uses gRPC, like that of production.
	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err == nil {
		// PostgreSQL runs as another user if the benchmarks run as root.
		err = errors.Join(os.Chmod(dir, 0o711), os.Mkdir(bench.programs, 0o700),
			programs.Build(ctx, bench.programs))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	bench.endpoint = "http://" + lis.Addr().String()
	collectorv1.RegisterTraceServiceServer(bench.collector, collector{})
	go func() { _ = bench.collector.Serve(lis) }()
	return bench, nil
}

func (b *bench) close() error {
	var failures []error
	for _, s := range b.stacks {
		failures = append(failures, s.Stop())
	}
	b.collector.Stop()
	return errors.Join(append(failures, os.RemoveAll(b.dir))...)
}

// stack returns the running stack of that name, or starts it. Its services are separate processes.
func (b *bench) stack(ctx context.Context, name string) (*stack, error) {
	if s, ok := b.stacks[name]; ok {
		return s, nil
	}
	const free = "127.0.0.1:0"
	config := devstack.Config{
		DataDir: filepath.Join(b.dir, name), HTTPAddr: free, AuthAddr: free, LedgerAddr: free,
		BudgetAddr: free, OCRAddr: free, NATSAddr: free, Programs: b.programs,
		// As in production, with logs, metrics, and one request of a hundred traced. Only the rate
		// limit is off.
		Environment: map[string]string{
			"RATE_LIMIT": "0", "OTEL_EXPORTER_OTLP_ENDPOINT": b.endpoint,
			"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01",
		},
	}
	started, err := devstack.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	// The stack is registered before its users are created, so that close also stops it after an
	// error.
	target := &stack{Stack: started, dir: filepath.Join(b.dir, name)}
	b.stacks[name] = target
	for range writers {
		u, err := target.newUser(ctx)
		if err != nil {
			return nil, err
		}
		if err := u.createResources(ctx); err != nil {
			return nil, err
		}
		target.writers = append(target.writers, u)
	}
	return target, target.prepareBaseline(ctx)
}

func (b *bench) stop(name string) error {
	s := b.stacks[name]
	delete(b.stacks, name)
	return s.Stop()
}

// superuser connects to the stack's database, with the ledger's schema as search_path.
// The caller closes the connection.
func (s *stack) superuser(ctx context.Context) (*pgx.Conn, error) {
	target, err := url.Parse(s.Databases[""])
	if err != nil {
		return nil, err
	}
	q := target.Query()
	q.Set("search_path", "ledger")
	target.RawQuery = q.Encode()
	conn, err := pgx.Connect(ctx, target.String())
	if err != nil {
		return nil, fmt.Errorf("connecting to the stack's database: %w", err)
	}
	return conn, nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"github.com/coffer-budget/coffer/internal/connlimit"
)

// unread drops histograms that libraries record for each request but no rule or dashboard uses.
var unread = []sdkmetric.View{
	sdkmetric.NewView(sdkmetric.Instrument{Name: "http.server.*.body.size"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}}),
	sdkmetric.NewView(sdkmetric.Instrument{Name: "rpc.client.call.duration"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}}),
}

// maxMetricsConnections exceeds the number of Prometheus servers that scrape one process.
const maxMetricsConnections = 100

// Telemetry sets up the process's traces and metrics. Metrics are served for Prometheus on addr at
// /metrics. Spans are exported only if OTEL_EXPORTER_OTLP_ENDPOINT is set. The other OTEL_*
// variables have the meaning that OpenTelemetry defines. The caller must call stop at the end of
// the process, which exports the last spans.
func Telemetry(ctx context.Context, service, addr string) (stop func() error, err error) {
	names := resource.WithAttributes(semconv.ServiceName(service),
		semconv.ServiceVersion(Version()))
	res, err := resource.New(ctx, names, resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describing the process: %w", err)
	}
	var options []sdktrace.TracerProviderOption
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" ||
		os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		exporter, err := otlptracegrpc.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("connecting to the trace collector: %w", err)
		}
		options = append(options, sdktrace.WithBatcher(exporter))
	} else if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		// Without an exporter, only the log needs the trace ids.
		options = append(options, sdktrace.WithSampler(sdktrace.NeverSample()))
	}
	traces := sdktrace.NewTracerProvider(append(options, sdktrace.WithResource(res))...)
	reader, err := prometheus.New(prometheus.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("setting up metrics: %w", err)
	}
	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(res),
		sdkmetric.WithView(unread...))
	otel.SetTracerProvider(traces)
	otel.SetMeterProvider(metrics)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(
		propagation.TraceContext{}, propagation.Baggage{}))
	if err := runtime.Start(); err != nil {
		return nil, fmt.Errorf("measuring the Go runtime: %w", err)
	}

	lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for metrics: %w", err)
	}
	limited, err := connlimit.Listen(ctx, lis, connlimit.Limits{Total: maxMetricsConnections})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	// Prometheus gets exemplars in the OpenMetrics format only.
	mux.Handle("GET /metrics",
		promhttp.HandlerFor(prom.DefaultGatherer, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ConnState: limited.ConnState,
	}
	go func() { _ = server.Serve(limited) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		flushing, stop := context.WithTimeout(ctx, 2*time.Second)
		defer stop()
		if err := traces.Shutdown(flushing); err != nil {
			// An unavailable collector must not fail the service.
			slog.WarnContext(ctx, "failed to export the last spans", "error", err)
		}
		return errors.Join(server.Shutdown(ctx), metrics.Shutdown(ctx))
	}, nil
}

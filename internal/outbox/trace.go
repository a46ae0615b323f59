package outbox

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// An event carries the trace of the request that it came from, so that publishing and applying it are seen there. Requests
// that are not sampled leave no trace, and neither do their events.

// Traceparent is the W3C trace context of a sampled request, else nil.
func Traceparent(ctx context.Context) *string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return nil
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return new(carrier["traceparent"])
}

// startSpan goes on with the trace of an event, if it has one.
func startSpan(ctx context.Context, traceparent, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	if traceparent == "" {
		return ctx, noop.Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
	ctx, span := otel.Tracer("github.com/coffer-budget/coffer/internal/outbox").Start(ctx, name, trace.WithSpanKind(kind))
	return ctx, span
}

package outbox

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// An event carries the trace context of the request that caused it, so that the request's trace
// includes publishing and applying the event. Events of requests that are not sampled carry none.

// Traceparent returns the W3C trace context of ctx if it is sampled, otherwise nil.
func Traceparent(ctx context.Context) *string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return nil
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return new(carrier["traceparent"])
}

// startSpan starts a span in the trace of an event. Without a trace context it returns ctx and a
// span that does nothing.
func startSpan(
	ctx context.Context, traceparent, name string, kind trace.SpanKind,
) (context.Context, trace.Span) {
	if traceparent == "" {
		return ctx, noop.Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx,
		propagation.MapCarrier{"traceparent": traceparent})
	ctx, span := otel.Tracer("github.com/coffer-budget/coffer/internal/outbox").Start(ctx, name,
		trace.WithSpanKind(kind))
	return ctx, span
}

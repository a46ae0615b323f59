package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// loadShedder holds a concurrency limiter for each service. They are separate so that one service
// that hangs does not affect the others.
type loadShedder struct {
	// services are the limiters by proto package. paths are the same limiters by the first segment of
	// the routes' paths.
	services map[protoreflect.FullName]*limiter
	paths    map[string]*limiter
}

// limiter limits the concurrent requests to one service and counts the rejected ones. Most of those
// are rejected before the middleware that records HTTP metrics.
type limiter struct {
	*rpc.Limit
	shed    metric.Int64Counter
	service metric.MeasurementOption
}

// newLoadShedder returns the limiters of the services that serve the routes.
func newLoadShedder(ctx context.Context, routes []*route) (*loadShedder, error) {
	shed, err := otel.Meter("github.com/coffer-budget/coffer/gateway").Int64Counter("gateway.requests.shed",
		metric.WithDescription("Requests that were rejected because their service was at its concurrency limit."))
	if err != nil {
		return nil, fmt.Errorf("registering the load metric: %w", err)
	}
	s := &loadShedder{services: map[protoreflect.FullName]*limiter{}, paths: map[string]*limiter{}}
	for _, r := range routes {
		service := r.method.ParentFile().Package()
		if s.services[service] == nil {
			l := &limiter{rpc.NewLimit(), shed, metric.WithAttributeSet(attribute.NewSet(attribute.String("service", serviceName(service))))}
			// Export the counter from the start: a counter that appears with its first event has no rate at
			// that time.
			shed.Add(ctx, 0, l.service)
			s.services[service] = l
		}
		// Streams of events are mostly idle, and package rpc limits their number.
		if !r.isEvents() {
			s.paths[firstSegment(r.template)] = s.services[service]
		}
	}
	return s, nil
}

// serviceName returns "ledger" for coffer.ledger.v1.
func serviceName(pkg protoreflect.FullName) string { return string(pkg.Parent().Name()) }

// enter reports whether a request may begin, and counts a rejected one. After true, the caller must
// call Leave at its end.
func (l *limiter) enter(ctx context.Context) bool {
	if l.Enter() {
		return true
	}
	l.countShed(ctx)
	return false
}

// countShed counts a rejected request.
func (l *limiter) countShed(ctx context.Context) { l.shed.Add(ctx, 1, l.service) }

// firstSegment returns "wallet" for /api/v1/wallet/{id}. Each first segment belongs to one service.
func firstSegment(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// shed is the middleware that rejects requests to a service at its concurrency limit with 503. It
// is the outermost one: under overload most requests are rejected, and each must cost as little as
// possible.
func (s *restServer) shed(next http.Handler) http.Handler {
	reject := secure(s.crossOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		s.fail(rpc.WithRequestID(r.Context(), id), w, apierr.Unavailable)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := s.shedder.paths[firstSegment(r.URL.Path)]; l != nil && l.Full() {
			l.countShed(r.Context())
			reject.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

package admission

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/coffer-budget/coffer/internal/rpc"
)

// LoadShedder holds a concurrency limiter for each service. They are separate so that one service
// that hangs does not affect the others.
type LoadShedder struct {
	shed metric.Int64Counter
	// paths are the limiters by the first segment of the paths of their services.
	paths map[string]*Limiter
}

// Limiter limits the concurrent requests to one service and counts the rejected ones. Most of those
// are rejected before the middleware that records HTTP metrics.
type Limiter struct {
	limit   *rpc.Limit
	shed    metric.Int64Counter
	service metric.MeasurementOption
}

// NewLoadShedder returns a load shedder without services.
func NewLoadShedder() (*LoadShedder, error) {
	const description = "Requests that were rejected because their service was at its " +
		"concurrency limit."
	meter := otel.Meter("github.com/coffer-budget/coffer/gateway")
	shed, err := meter.Int64Counter("gateway.requests.shed", metric.WithDescription(description))
	if err != nil {
		return nil, fmt.Errorf("registering the load metric: %w", err)
	}
	return &LoadShedder{shed: shed, paths: map[string]*Limiter{}}, nil
}

// NewLimiter returns a limiter for a service.
func (s *LoadShedder) NewLimiter(ctx context.Context, service string) *Limiter {
	attributes := attribute.NewSet(attribute.String("service", service))
	l := &Limiter{rpc.NewLimit(), s.shed, metric.WithAttributeSet(attributes)}
	// Export the counter from the start: a counter that appears with its first event has no rate at
	// that time.
	l.shed.Add(ctx, 0, l.service)
	return l
}

// Cover sheds the requests below the first segment of a path while the limiter is full. Each first
// segment belongs to one service.
func (s *LoadShedder) Cover(path string, l *Limiter) { s.paths[FirstSegment(path)] = l }

// Limiter returns the limiter that covers a path, or nil.
func (s *LoadShedder) Limiter(path string) *Limiter { return s.paths[FirstSegment(path)] }

// Shed is the middleware that passes requests to a service at its concurrency limit to reject. It
// is the outermost one, so that a rejected request costs as little as possible.
func (s *LoadShedder) Shed(next, reject http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := s.Limiter(r.URL.Path); l != nil && l.Full(r.Context()) {
			reject.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// FirstSegment returns "wallet" for /api/v1/wallet/{id}, and "" for a path outside of the API.
func FirstSegment(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// Full reports whether a request must be rejected now, and counts a rejected one.
func (l *Limiter) Full(ctx context.Context) bool {
	full := l.limit.Full()
	if full {
		l.shed.Add(ctx, 1, l.service)
	}
	return full
}

// Enter reports whether a request may begin, and counts a rejected one. After true, the caller must
// call Leave at its end.
func (l *Limiter) Enter(ctx context.Context) bool {
	entered := l.limit.Enter()
	if !entered {
		l.shed.Add(ctx, 1, l.service)
	}
	return entered
}

// Leave ends a request for which Enter returned true.
func (l *Limiter) Leave() { l.limit.Leave() }

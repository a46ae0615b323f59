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

// busy is how much each service has to do. Each has a limit of its own: one that hangs must not stop the others.
type busy struct {
	// services are by package, and paths the same by the part of a path that says what it is about.
	services map[protoreflect.FullName]*load
	paths    map[string]*load
}

// load is what one service has to do, and counts what it is spared: most of that never reaches HTTP's own metrics.
type load struct {
	*rpc.Limit
	shed    metric.Int64Counter
	service metric.MeasurementOption
}

func newBusy(ctx context.Context, routes []*route) (*busy, error) {
	shed, err := otel.Meter("github.com/coffer-budget/coffer/gateway").Int64Counter("gateway.requests.shed",
		metric.WithDescription("Requests that were refused because their service had enough to do."))
	if err != nil {
		return nil, fmt.Errorf("instrumenting the load: %w", err)
	}
	b := &busy{services: map[protoreflect.FullName]*load{}, paths: map[string]*load{}}
	for _, r := range routes {
		service := r.method.ParentFile().Package()
		if b.services[service] == nil {
			l := &load{rpc.NewLimit(), shed, metric.WithAttributeSet(attribute.NewSet(attribute.String("service", serviceName(service))))}
			// A counter that begins with its first event has no rate then.
			shed.Add(ctx, 0, l.service)
			b.services[service] = l
		}
		// A stream does nothing most of the time, and has a limit of its own.
		if !r.method.IsStreamingServer() {
			b.paths[topic(r.template)] = b.services[service]
		}
	}
	return b, nil
}

// serviceName is "ledger" of coffer.ledger.v1.
func serviceName(pkg protoreflect.FullName) string { return string(pkg.Parent().Name()) }

// refused counts a request that its service was spared.
func (l *load) refused(ctx context.Context) { l.shed.Add(ctx, 1, l.service) }

// topic is "wallet" of /api/v1/wallet/{id}.
func topic(path string) string {
	rest, _ := strings.CutPrefix(path, "/api/v1/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// shed refuses requests to a service that has enough to do. It is outermost, because under overload most requests get no
// further, and what they cost is taken from the others.
func (f *front) shed(next http.Handler) http.Handler {
	refuse := secure(f.crossOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		f.fail(rpc.WithRequestID(r.Context(), id), w, apierr.Unavailable)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := f.busy.paths[topic(r.URL.Path)]; l != nil && l.Full() {
			l.refused(r.Context())
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

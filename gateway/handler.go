package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/coffer-budget/coffer/gateway/internal/admission"
	"github.com/coffer-budget/coffer/gateway/internal/console"
	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
)

type server struct {
	config    Config
	conns     connections
	verifier  *caller.Verifier
	transfers admission.TransferLimits
	log       *slog.Logger
}

// handler returns the handler of the whole API: the middleware in front of the mux, and behind the
// mux a handler for each RPC with a path and the gateway's own endpoints. The middleware runs in
// this order:
//
//   - Draining a body after an early response must not count for any limit or measurement.
//   - Load shedding is the cheapest way to answer and comes next, even before telemetry.
//   - Telemetry starts the span that all following logs refer to.
//   - The request id and the access log also cover the responses of the following middleware.
//   - Security headers and CORS must be in every response, also in errors.
//   - Compression must be outside of the recovery from panics, which writes a response.
//   - Unclean paths are rejected before the mux, which would match them.
func (s *server) handler(ctx context.Context, routes []*transcoding.Route) (http.Handler, error) {
	site, err := console.Open(s.config.Web)
	if err != nil {
		return nil, err
	}
	shedder, err := admission.NewLoadShedder()
	if err != nil {
		return nil, err
	}
	services, err := s.services(ctx, routes, shedder)
	if err != nil {
		return nil, err
	}
	own := endpoints(s.conns, s.verifier, site, s.log)
	fallback := newRouter(routes, own, site, s.log)
	mux, err := newMuxes(routes, services, own, fallback)
	if err != nil {
		return nil, err
	}
	compress, err := gzhttp.NewWrapper(
		gzhttp.MinSize(1024), gzhttp.ExceptContentTypes(compressedTypes))
	if err != nil {
		return nil, err
	}
	crossOrigin := newCrossOrigin(s.config.AllowedOrigins)
	inner := compress(recoverPanics(s.log, fallback.rejectUncleanPaths(mux)))
	traced := otelhttp.NewHandler(
		response.Observe(s.log, secure(crossOrigin(inner))), "http",
		// The client's trace is linked and not continued, because clients must not decide about
		// sampling.
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }),
		// Otherwise the client's Host header would become a label of every metric.
		otelhttp.WithServerName("gateway:80"),
		// Paths contain ids, also those of users. The name of the span has the route.
		otelhttp.WithSpanOptions(trace.WithAttributes(attribute.String("url.path", ""))),
		otelhttp.WithFilter(func(r *http.Request) bool { return !isProbe(r.URL.Path) }),
	)
	reject := secure(crossOrigin(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := rpc.WithRequestID(r.Context(), response.Identify(w, r))
		response.Fail(ctx, s.log, w, apierr.Unavailable)
	})))
	return admission.Drain(shedder.Shed(traced, reject)), nil
}

// services returns the services by their proto packages, and adds their limiters to the load
// shedder.
func (s *server) services(
	ctx context.Context, routes []*transcoding.Route, shedder *admission.LoadShedder,
) (map[protoreflect.FullName]*transcoding.Service, error) {
	exchange, err := admission.NewExchange(
		authv1.NewTokenServiceClient(s.conns.trust), time.Now)
	if err != nil {
		return nil, err
	}
	gate, err := admission.NewGate(admission.GateConfig{
		Verifier: s.verifier, Exchange: exchange, Requests: s.config.RateLimit,
		Hops: s.config.TrustProxyHops, Transfers: s.transfers,
	})
	if err != nil {
		return nil, err
	}
	services := map[protoreflect.FullName]*transcoding.Service{}
	for _, route := range routes {
		name := route.Service()
		if services[name] == nil {
			// "ledger" for coffer.ledger.v1.
			limiter := shedder.NewLimiter(ctx, string(name.Parent().Name()))
			services[name] = &transcoding.Service{
				Conn: s.conns.to(name), Limiter: limiter, Gate: gate,
				Log: s.log, Stopping: ctx.Done(),
			}
		}
		// Streams of events are mostly idle, and package rpc limits their number.
		if !route.IsEvents() {
			shedder.Cover(route.Template, services[name].Limiter)
		}
	}
	return services, nil
}

// muxes has a mux for each resource, by the first segment of its paths. A mux compares a path with
// one route after another and allocates memory for each, so each resource would slow down the
// others (BenchmarkHandler). The mux without a name handles the paths of no resource.
type muxes map[string]*runtime.ServeMux

// newMuxes returns the muxes with the RPCs and the endpoints. They match paths and report unknown
// ones to fallback; decoding, calls and responses are ours (ADR 64). If several paths match, a mux
// prefers the one that was registered last. Its fallbacks from POST to other methods are off: an
// operation has one method.
func newMuxes(
	routes []*transcoding.Route, services map[protoreflect.FullName]*transcoding.Service,
	own []endpoint, fallback *router,
) (muxes, error) {
	m := muxes{}
	mux := func(path string) *runtime.ServeMux {
		name := admission.FirstSegment(path)
		if m[name] == nil {
			m[name] = runtime.NewServeMux(
				runtime.WithErrorHandler(fallback.handleError),
				runtime.WithRoutingErrorHandler(fallback.handleRoutingError),
				runtime.WithDisablePathLengthFallback(),
				runtime.WithDisableHTTPMethodOverride(),
			)
		}
		return m[name]
	}
	for _, route := range byVariables(routes) {
		handler := transcoding.NewHandler(route, services[route.Service()])
		err := register(mux(route.Template), route.Verb, route.Template, handler.Handle)
		if err != nil {
			return nil, err
		}
	}
	for _, e := range own {
		if err := register(mux(e.path), http.MethodGet, e.path, e.handle); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ServeHTTP implements http.Handler.
func (m muxes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux, ok := m[admission.FirstSegment(r.URL.Path)]
	if !ok {
		mux = m[""]
	}
	mux.ServeHTTP(w, r)
}

// byVariables returns the routes with the most variables first, so that a mux prefers a path to a
// pattern that also matches it.
func byVariables(routes []*transcoding.Route) []*transcoding.Route {
	return slices.SortedStableFunc(slices.Values(routes), func(a, b *transcoding.Route) int {
		return strings.Count(b.Template, "{") - strings.Count(a.Template, "{")
	})
}

// register adds a handler to the mux. A handler of GET also handles HEAD: net/http discards the
// body that it writes.
func register(mux *runtime.ServeMux, verb, path string, handle runtime.HandlerFunc) error {
	if verb == http.MethodGet {
		if err := mux.HandlePath(http.MethodHead, path, handle); err != nil {
			return fmt.Errorf("registering HEAD %s: %w", path, err)
		}
	}
	if err := mux.HandlePath(verb, path, handle); err != nil {
		return fmt.Errorf("registering %s %s: %w", verb, path, err)
	}
	return nil
}

package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
)

// restServer holds the parts that all requests share. It is safe for concurrent use.
type restServer struct {
	config   Config
	paths    pathTable
	verifier *caller.Verifier
	limits   *rateLimit
	shedder  *loadShedder
	// transfers counts the uploads and downloads.
	transfers *transfers
	log       *slog.Logger
	console   console
	// stopping is closed when the gateway stops. Event streams then end, and other requests finish.
	stopping <-chan struct{}
}

// rpcHandler handles the requests of one RPC.
type rpcHandler struct {
	*restServer
	route *route
	// conn is the connection to the RPC's service, and limiter limits the concurrent requests to that
	// service.
	conn    grpc.ClientConnInterface
	limiter *limiter
}

// handle answers a request for an RPC. grpc-gateway's mux calls it with the fields of the path.
func (h *rpcHandler) handle(w http.ResponseWriter, r *http.Request, path map[string]string) {
	entry := logEntryOf(r.Context())
	entry.route = h.route.template
	ctx, cancel := h.route.withDeadline(r.Context(), h.transfers.transferLimits)
	defer cancel()
	if err := h.serve(w, r.WithContext(ctx), path, entry); err != nil {
		h.fail(ctx, w, err)
	}
}

// serve runs the steps of a request in their order. An error ends them before anything is written.
func (h *rpcHandler) serve(w http.ResponseWriter, r *http.Request, path map[string]string, entry *logEntry) error {
	if err := h.admit(w, r, entry); err != nil {
		return err
	}
	if h.route.isTransfer() {
		leave, err := h.enterTransfer(r, entry)
		if err != nil {
			return err
		}
		defer leave()
	}
	reply, buffer := newBuffer(), newBuffer()
	defer release(reply, buffer)
	if h.route.upload {
		if err := h.receive(w, r, path, reply); err != nil {
			return err
		}
		return h.respond(w, r, reply, buffer)
	}
	request, err := h.route.request.Decode(r, path)
	switch {
	case err != nil:
		return err
	case h.route.download:
		return h.send(entry.response, r, request)
	case h.route.isEvents():
		return h.streamEvents(entry.response, r, request)
	}
	if err := h.call(r, request, reply, entry); err != nil {
		return err
	}
	return h.respond(w, r, reply, buffer)
}

// respond sends the response for a reply. It uses buffer for the body. Nothing is written before
// all conversions have succeeded, so a failure still gets an error response.
func (h *rpcHandler) respond(w http.ResponseWriter, r *http.Request, reply, buffer *rpc.Encoded) error {
	status, body, err := h.route.encode(reply, buffer, w.Header())
	if err != nil {
		return fmt.Errorf("encoding the reply of %s: %w", h.route.method.FullName(), err)
	}
	if err := h.route.setCookie(*reply, r, w.Header()); err != nil {
		return err
	}
	if h.route.conditional && isUnchanged(r, body, w.Header()) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	write(w, status, body)
	return nil
}

// newHandler returns the handler of the whole API: the middleware in front of the mux, and behind
// the mux an rpcHandler for each RPC with a path and the gateway's own endpoints. The middleware
// runs in this order:
//
//   - Draining a body after an early response must not count for any limit or measurement.
//   - Load shedding is the cheapest way to answer and comes next, even before telemetry.
//   - Telemetry starts the span that all following logs refer to.
//   - The request id and the access log also cover the responses of the following middleware.
//   - Security headers and CORS must be in every response, also in errors.
//   - Compression must be outside of the recovery from panics, which writes a response.
//   - Unclean paths are rejected before the mux, which would match them.
func newHandler(ctx context.Context, config Config, conns connections, verifier *caller.Verifier, log *slog.Logger) (http.Handler, error) {
	routes, err := rpcRoutes()
	if err != nil {
		return nil, err
	}
	s := &restServer{config: config, verifier: verifier, transfers: newTransfers(usualTransfers), log: log, stopping: ctx.Done()}
	return s.handler(ctx, routes, conns)
}

// handler returns the handler for the given routes.
func (s *restServer) handler(ctx context.Context, routes []*route, conns connections) (http.Handler, error) {
	var err error
	if s.limits, err = newRateLimit(s.config.RateLimit, time.Now); err != nil {
		return nil, err
	}
	if s.shedder, err = newLoadShedder(ctx, routes); err != nil {
		return nil, err
	}
	if s.console, err = openConsole(s.config.Web); err != nil {
		return nil, err
	}
	own := s.endpoints(conns)
	s.paths = newPathTable(routes, own)
	mux, err := s.newMux(routes, own, conns)
	if err != nil {
		return nil, err
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ExceptContentTypes(compressedTypes))
	if err != nil {
		return nil, err
	}
	handler := s.crossOrigin(compress(s.recover(s.rejectUncleanPaths(mux))))
	return drain(s.shed(otelhttp.NewHandler(s.observe(secure(handler)), "http",
		// The client's trace is linked and not continued, because clients must not decide about sampling.
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }),
		// Otherwise the client's Host header would become a label of every metric.
		otelhttp.WithServerName("gateway:80"),
		otelhttp.WithFilter(func(r *http.Request) bool { return r.URL.Path != livePath && r.URL.Path != readyPath }),
	))), nil
}

// newMux registers the RPCs and the endpoints. The mux matches paths and reports unknown ones;
// decoding, calls and responses are ours (ADR 64). If several paths match, the mux prefers the one
// that was registered last. Its fallbacks from POST to other methods are off: an operation has one
// method.
func (s *restServer) newMux(routes []*route, own []endpoint, conns connections) (*runtime.ServeMux, error) {
	mux := runtime.NewServeMux(
		runtime.WithErrorHandler(s.handleError),
		runtime.WithRoutingErrorHandler(s.handleRoutingError),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
	)
	for _, r := range routes {
		service := r.method.ParentFile().Package()
		h := &rpcHandler{restServer: s, route: r, conn: conns.to(service), limiter: s.shedder.services[service]}
		if err := register(mux, r.verb, r.template, h.handle); err != nil {
			return nil, err
		}
	}
	for _, e := range own {
		handle := func(w http.ResponseWriter, r *http.Request, _ map[string]string) {
			logEntryOf(r.Context()).route = e.path
			e.handler(w, r)
		}
		if err := register(mux, http.MethodGet, e.path, handle); err != nil {
			return nil, err
		}
	}
	return mux, nil
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

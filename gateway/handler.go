package gateway

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzhttp"
	"github.com/rs/cors"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	authgw "github.com/coffer-budget/coffer/gateway/gen/coffer/auth/v1"
	budgetgw "github.com/coffer-budget/coffer/gateway/gen/coffer/budget/v1"
	ledgergw "github.com/coffer-budget/coffer/gateway/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/internal/caller"
	authv1 "github.com/coffer-budget/coffer/proto/gen/coffer/auth/v1"
	budgetv1 "github.com/coffer-budget/coffer/proto/gen/coffer/budget/v1"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// restServer holds what the steps of request handling share.
type restServer struct {
	config   Config
	table    *table
	verifier *caller.Verifier
	limits   *rateLimit
	shedder  *loadShedder
	log      *slog.Logger
}

// newHandler returns the handler of the whole API. From the outside in: load shedding, telemetry, request id and log, security
// headers, CORS, compression, rejection of unclean paths that grpc-gateway would accept, grpc-gateway, and after its matching the
// checks that need the route.
func newHandler(ctx context.Context, config Config, conns connections, verifier *caller.Verifier, log *slog.Logger) (http.Handler, error) {
	routes, err := rpcRoutes()
	if err != nil {
		return nil, err
	}
	limits, err := newRateLimit(config.RateLimit, time.Now)
	if err != nil {
		return nil, err
	}
	shedder, err := newLoadShedder(ctx, routes)
	if err != nil {
		return nil, err
	}
	f := &restServer{config: config, verifier: verifier, limits: limits, shedder: shedder, log: log}
	own := f.endpoints(conns)
	paths := make([]string, 0, len(own))
	for _, p := range own {
		paths = append(paths, p.path)
	}
	f.table = newTable(routes, paths)
	mux, err := f.newMux(ctx, conns, own)
	if err != nil {
		return nil, err
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ExceptContentTypes(compressedTypes))
	if err != nil {
		return nil, err
	}
	handler := f.crossOrigin(compress(f.recover(f.tidyPath(mux))))
	return f.shed(otelhttp.NewHandler(f.observe(secure(handler)), "http",
		// The client's trace is linked and not continued, because clients must not decide about sampling.
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }),
		// Otherwise the client's Host header would become a label of every metric.
		otelhttp.WithServerName("gateway:80"),
		otelhttp.WithFilter(func(r *http.Request) bool { return r.URL.Path != livePath && r.URL.Path != readyPath }),
	)), nil
}

// newMux registers every RPC that has a route, and the gateway's own endpoints, so that 404 and 405 work for both.
func (f *restServer) newMux(ctx context.Context, conns connections, own []endpoint) (*runtime.ServeMux, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, encodedMarshaler{}),
		runtime.WithMiddlewares(f.admit),
		runtime.WithForwardResponseRewriter(answer),
		runtime.WithErrorHandler(func(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
			f.fail(ctx, w, err)
		}),
		runtime.WithRoutingErrorHandler(func(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, status int) {
			f.failRouting(ctx, w, r, status)
		}),
		// By default a client could set any metadata with a Grpc-Metadata-* header.
		runtime.WithIncomingHeaderMatcher(nothing),
		runtime.WithOutgoingHeaderMatcher(nothing),
		runtime.WithOutgoingTrailerMatcher(nothing),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithWriteContentLength(),
	)
	auth := decoding{conns.auth, f.shedder.services["coffer.auth.v1"]}
	ledger := decoding{conns.ledger, f.shedder.services["coffer.ledger.v1"]}
	budget := decoding{conns.budget, f.shedder.services["coffer.budget.v1"]}
	if err := authgw.RegisterAuthServiceHandlerClient(ctx, mux, authv1.NewAuthServiceClient(auth)); err != nil {
		return nil, err
	}
	if err := ledgergw.RegisterLedgerServiceHandlerClient(ctx, mux, ledgerv1.NewLedgerServiceClient(ledger)); err != nil {
		return nil, err
	}
	if err := budgetgw.RegisterBudgetServiceHandlerClient(ctx, mux, budgetv1.NewBudgetServiceClient(budget)); err != nil {
		return nil, err
	}
	if err := budgetgw.RegisterNotificationServiceHandlerClient(ctx, mux, budgetv1.NewNotificationServiceClient(budget)); err != nil {
		return nil, err
	}
	if err := budgetgw.RegisterWebhookServiceHandlerClient(ctx, mux, budgetv1.NewWebhookServiceClient(budget)); err != nil {
		return nil, err
	}
	// The handler registered last for a path takes precedence.
	if err := mux.HandlePath(http.MethodGet, eventsPath, f.events(ctx.Done(), mux, budgetv1.NewNotificationServiceClient(conns.budget))); err != nil {
		return nil, err
	}
	for _, p := range own {
		serve := p.handler
		if err := mux.HandlePath(http.MethodGet, p.path, func(w http.ResponseWriter, r *http.Request, _ map[string]string) { serve(w, r) }); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

func nothing(string) (string, bool) { return "", false }

// compressedTypes are compressed formats, which are sent as they are.
var compressedTypes = []string{"image/*", "font/*"}

// crossOrigin is the CORS middleware. It does nothing if no origins are allowed.
func (f *restServer) crossOrigin(next http.Handler) http.Handler {
	if len(f.config.AllowedOrigins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: f.config.AllowedOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-ID", "X-Request-Id", "Traceparent", "Tracestate"},
		ExposedHeaders: []string{"ETag", "X-Request-Id", "Idempotency-Replayed", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"},
		MaxAge:         600,
	}).Handler(next)
}

// encodedMarshaler is the mux's marshaler. It decodes nothing, because protojson's errors do not name the wrong field and their
// texts change from build to build; type decoding fills the request instead. Responses are encoded already.
type encodedMarshaler struct{}

// ContentType implements runtime.Marshaler.
func (encodedMarshaler) ContentType(any) string { return jsonType }

// Marshal implements runtime.Marshaler.
func (encodedMarshaler) Marshal(v any) ([]byte, error) {
	body, ok := v.([]byte)
	if !ok {
		return nil, errNotEncoded
	}
	return body, nil
}

// Unmarshal implements runtime.Marshaler.
func (encodedMarshaler) Unmarshal([]byte, any) error { return nil }

// NewDecoder implements runtime.Marshaler.
func (encodedMarshaler) NewDecoder(io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(any) error { return nil })
}

// NewEncoder implements runtime.Marshaler. Only streams through grpc-gateway would need it.
func (encodedMarshaler) NewEncoder(io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(any) error { return errNotEncoded })
}

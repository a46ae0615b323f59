package gateway

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

const (
	jsonType = "application/json"
	// lingerLimit is the maximum number of bytes read after a rejection. It suffices for the rest of a photo that is a little too
	// large.
	lingerLimit     = 16 << 20
	requestIDHeader = "X-Request-Id"
)

// requestState is the state of one request and its response. It is stored in the context, because grpc-gateway passes nothing else
// to the steps that it calls.
type requestState struct {
	// outer is the request from which telemetry reads the name of the route.
	outer *http.Request
	// request is the original request with a limited body, which decoding reads.
	request *http.Request
	header  http.Header
	answer  *recorder
	// success writes the status of the response if the RPC succeeds.
	success *statusWriter
	route   *route
	// reply is the encoded reply of the service, and body the JSON body of the response.
	reply *rpc.Encoded
	body  *rpc.Encoded
	// shed is set if the request was rejected because its service was at its concurrency limit.
	shed bool
	// user is the zero value until a token has been verified.
	user caller.Identity
}

type requestStateKey struct{}

func stateOf(ctx context.Context) *requestState {
	x, _ := ctx.Value(requestStateKey{}).(*requestState)
	return x
}

// observe is the middleware that assigns the request id and logs the request at its end.
func (f *restServer) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		trace.SpanFromContext(r.Context()).SetAttributes(attribute.String("request_id", id))
		rec := &recorder{ResponseWriter: w}
		x := &requestState{outer: r, answer: rec, header: w.Header()}
		ctx := context.WithValue(rpc.WithRequestID(r.Context(), id), requestStateKey{}, x)
		next.ServeHTTP(rec, r.WithContext(ctx))
		f.logAccess(ctx, x, time.Since(start))
		// A client that sent Expect: 100-continue has not sent the body.
		if rec.status == http.StatusRequestEntityTooLarge && r.Header.Get("Expect") == "" {
			linger(rec, r.Body)
		}
	})
}

// linger sends the response and then discards up to lingerLimit bytes of the body. Closing the connection while the client is still
// sending resets it, and many clients then never see the response.
func linger(w http.ResponseWriter, body io.Reader) {
	_ = http.NewResponseController(w).Flush()
	_, _ = io.CopyN(io.Discard, body, lingerLimit)
}

// recover turns a panic into a 500. It must run inside compression, which would otherwise flush a 200.
func (f *restServer) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		defer func() {
			if p := recover(); p != nil {
				f.log.ErrorContext(ctx, "panic", "error", p, "stack", string(debug.Stack()))
				if !stateOf(ctx).answer.wrote {
					f.fail(ctx, w, apierr.Internal)
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// logAccess logs a request without path and query, because ids and search texts are the user's private data.
func (f *restServer) logAccess(ctx context.Context, x *requestState, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case x.outer.URL.Path == livePath || x.outer.URL.Path == readyPath:
		level = slog.LevelDebug
	case x.shed:
		// Under overload there are thousands per second. A metric counts them.
		level = slog.LevelDebug
	case x.answer.status >= http.StatusInternalServerError:
		// The service has logged the cause with the appropriate level.
		level = slog.LevelWarn
	}
	if x.user != (caller.Identity{}) {
		ctx = caller.With(ctx, x.user)
	}
	f.log.LogAttrs(ctx, level, "request", slog.String("method", x.outer.Method), slog.String("route", x.outer.Pattern),
		slog.Int("status", x.answer.status), slog.Int("bytes", x.answer.bytes), slog.Duration("duration", took))
}

// secure sets the security headers of every response. Endpoints that need less strict ones replace them.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}

// tidyPath rejects paths that match a route only after cleaning, and handles HEAD like GET.
func (f *restServer) tidyPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, escaped := r.URL.Path, strings.ToLower(r.URL.EscapedPath())
		inDocs := strings.HasPrefix(path, docsPath+"/")
		if strings.Contains(path, "//") || strings.Contains(escaped, "%2f") || strings.HasSuffix(path, "/") && path != "/" && !inDocs {
			f.fail(r.Context(), w, errRouteNotFound)
			return
		}
		if r.Method == http.MethodHead {
			// net/http discards the body that the handler of GET writes.
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}

// admit is the mux's middleware, which runs when the route is known. It checks the rate, the token, the media type and the size, in
// this order. It passes grpc-gateway a request without body, query and headers except the token, because decoding reads the
// original request.
func (f *restServer) admit(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
		x := stateOf(r.Context())
		x.route = f.table.find(r)
		if x.route == nil {
			if pattern, ok := runtime.HTTPPattern(r.Context()); ok {
				x.outer.Pattern = pattern.String()
			}
			next(w, r, params)
			return
		}
		x.outer.Pattern = x.route.template
		ctx, cancel := x.route.within(r.Context())
		defer cancel()
		var unknown error
		if x.route.access == restv1.Access_ACCESS_UNSPECIFIED {
			x.user, unknown = f.authenticate(ctx, r)
		}
		if err := cmp.Or(f.limit(x, r), unknown); err != nil {
			f.fail(ctx, w, err)
			return
		}
		if err := limitBody(w, r, x.route); err != nil {
			f.fail(ctx, w, err)
			return
		}
		if x.route.multipart {
			if err := http.NewResponseController(x.answer).SetReadDeadline(time.Now().Add(multipartDeadline + readReserve)); err != nil {
				f.log.WarnContext(ctx, "extending the time to read", "error", err)
			}
		}
		x.request = r.WithContext(ctx)
		x.success = &statusWriter{ResponseWriter: w}
		next(x.success, f.forwarded(ctx, r, x.route), params)
		x.release()
	}
}

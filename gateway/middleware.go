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
	// lingerLimit is what a photo that is a little too large has left, and not what an attacker would like to send.
	lingerLimit     = 16 << 20
	requestIDHeader = "X-Request-Id"
)

// exchange is one request and its answer, for the steps that grpc-gateway calls with nothing but a context.
type exchange struct {
	// outer is the request that telemetry reads the route's name from.
	outer *http.Request
	// request is what decoding reads; its body is limited.
	request *http.Request
	header  http.Header
	answer  *recorder
	// success is what the answer's status will be when the RPC succeeds.
	success *statusWriter
	route   *route
	// reply is the service's, and body the answer's, if it is JSON.
	reply *rpc.Encoded
	body  *rpc.Encoded
	// shed tells that the request was refused because its service has too much to do.
	shed bool
	// user is empty until a token was verified.
	user caller.Identity
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// observe gives the request its id, and logs it when it is done.
func (f *front) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		trace.SpanFromContext(r.Context()).SetAttributes(attribute.String("request_id", id))
		rec := &recorder{ResponseWriter: w}
		x := &exchange{outer: r, answer: rec, header: w.Header()}
		ctx := context.WithValue(rpc.WithRequestID(r.Context(), id), exchangeKey{}, x)
		next.ServeHTTP(rec, r.WithContext(ctx))
		f.logAccess(ctx, x, time.Since(start))
		// Who asks before sending has got a no, and sends nothing more.
		if rec.status == http.StatusRequestEntityTooLarge && r.Header.Get("Expect") == "" {
			linger(rec, r.Body)
		}
	})
}

// linger sends the answer and then reads on for a while. Closing the connection on a client that is still sending would
// reset it, and many clients then never see the answer.
func linger(w http.ResponseWriter, body io.Reader) {
	_ = http.NewResponseController(w).Flush()
	_, _ = io.CopyN(io.Discard, body, lingerLimit)
}

// recover answers for those who panic. It stands inside of compression, which would answer 200 on its way out.
func (f *front) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		defer func() {
			if p := recover(); p != nil {
				f.log.ErrorContext(ctx, "panic", "error", p, "stack", string(debug.Stack()))
				if !exchangeOf(ctx).answer.wrote {
					f.fail(ctx, w, apierr.Internal)
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// logAccess writes no path and no query: an id in a path, and a search in a query, are the user's own.
func (f *front) logAccess(ctx context.Context, x *exchange, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case x.outer.URL.Path == livePath || x.outer.URL.Path == readyPath:
		level = slog.LevelDebug
	case x.shed:
		// There are thousands of them a second when there are any; a metric counts them.
		level = slog.LevelDebug
	case x.answer.status >= http.StatusInternalServerError:
		// The service has logged the cause, as loudly as it deserves.
		level = slog.LevelWarn
	}
	if x.user != (caller.Identity{}) {
		ctx = caller.With(ctx, x.user)
	}
	f.log.LogAttrs(ctx, level, "request", slog.String("method", x.outer.Method), slog.String("route", x.outer.Pattern),
		slog.Int("status", x.answer.status), slog.Int("bytes", x.answer.bytes), slog.Duration("duration", took))
}

// secure sets the headers that every answer has. Pages that need less strict ones replace them.
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

// tidyPath refuses the paths that mean a route only after they were cleaned up, and lets HEAD be answered like GET.
func (f *front) tidyPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, escaped := r.URL.Path, strings.ToLower(r.URL.EscapedPath())
		inDocs := strings.HasPrefix(path, docsPath+"/")
		if strings.Contains(path, "//") || strings.Contains(escaped, "%2f") || strings.HasSuffix(path, "/") && path != "/" && !inDocs {
			f.fail(r.Context(), w, errRouteNotFound)
			return
		}
		if r.Method == http.MethodHead {
			// net/http drops the body that the handler of GET writes.
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}

// admit is the mux's middleware: the route is known now. It checks in the order rate, token, media type, size, and hands
// grpc-gateway a request with no body, no query and no headers but the token, for decoding reads the original.
func (f *front) admit(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
		x := exchangeOf(r.Context())
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

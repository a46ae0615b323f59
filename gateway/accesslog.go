package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/rpc"
)

const requestIDHeader = "X-Request-Id"

// logEntry collects facts about a request for the access log. It is the only state of the gateway
// in the request's context, because the facts become known behind the mux, and the middleware that
// logs them is in front of it.
type logEntry struct {
	// response is the response without compression.
	response *recorder
	// route is the template of the path, or empty if no path matched.
	route string
	// user is the zero value until a token has been verified.
	user caller.Identity
	// shed is set if the request was rejected because its service was at its concurrency limit.
	shed bool
	// cut is set if a download ended early.
	cut bool
}

// logEntryKey is the key of the logEntry in a context.
type logEntryKey struct{}

// logEntryOf returns the entry that observe stored in the request's context.
func logEntryOf(ctx context.Context) *logEntry {
	entry, _ := ctx.Value(logEntryKey{}).(*logEntry)
	return entry
}

// observe is the middleware that assigns the request id and logs the request at its end. The id of
// the client is used if it is well-formed. It must run inside telemetry, because it adds the id to
// the span.
func (s *restServer) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := rpc.NewRequestID(r.Header.Get(requestIDHeader))
		w.Header().Set(requestIDHeader, id)
		trace.SpanFromContext(r.Context()).SetAttributes(attribute.String("request_id", id))
		entry := &logEntry{response: &recorder{ResponseWriter: w}}
		ctx := context.WithValue(rpc.WithRequestID(r.Context(), id), logEntryKey{}, entry)
		next.ServeHTTP(entry.response, r.WithContext(ctx))
		// Telemetry reads the name of the route from the request that it passed.
		r.Pattern = entry.route
		s.logAccess(ctx, r, entry, time.Since(start))
	})
}

// logAccess logs a request without path and query, because ids and search texts are the user's
// private data.
func (s *restServer) logAccess(ctx context.Context, r *http.Request, entry *logEntry, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case r.URL.Path == livePath || r.URL.Path == readyPath:
		level = slog.LevelDebug
	case entry.shed:
		// Under overload there are thousands per second. A metric counts them.
		level = slog.LevelDebug
	case entry.response.status >= http.StatusInternalServerError:
		// The service has logged the cause with the appropriate level.
		level = slog.LevelWarn
	}
	if entry.user != (caller.Identity{}) {
		ctx = caller.With(ctx, entry.user)
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", entry.route),
		slog.Int("status", entry.response.status), slog.Int("bytes", entry.response.bytes), slog.Duration("duration", took),
	}
	if entry.cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}

// recorder records the status and size of a response. The access log reports them. An informational
// response, such as 100 Continue, does not count. bytes is the size of the body after compression.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
	wrote  bool
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.wrote && status >= 200 {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if !r.wrote {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	if err != nil {
		return n, fmt.Errorf("answering: %w", err)
	}
	return n, nil
}

// Unwrap is used by http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

package response

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

// Entry collects facts about a request for the access log: they become known behind the mux, and
// the middleware that logs them is in front of it.
type Entry struct {
	// Plain is the response without compression.
	Plain http.ResponseWriter
	// Route is the template of the path, or empty if no path matched.
	Route string
	// User is the zero value until a token has been verified.
	User caller.Identity
	// Quiet requests are logged at level DEBUG: probes, and the thousands per second that overload
	// rejects.
	Quiet bool
	// Cut is set if a download ended early.
	Cut bool

	recorder recorder
}

// Begun reports whether the header of the response has been sent.
func (e *Entry) Begun() bool { return e.recorder.wrote }

type entryKey struct{}

// EntryOf returns the entry that Observe stored in the request's context.
func EntryOf(ctx context.Context) *Entry {
	entry, _ := ctx.Value(entryKey{}).(*Entry)
	return entry
}

// Observe is the middleware that assigns the request id and logs the request at its end. It must
// run inside telemetry, because it adds the id to the span.
func Observe(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := Identify(w, r)
		trace.SpanFromContext(r.Context()).SetAttributes(attribute.String("request_id", id))
		entry := &Entry{recorder: recorder{ResponseWriter: w}}
		entry.Plain = &entry.recorder
		ctx := context.WithValue(rpc.WithRequestID(r.Context(), id), entryKey{}, entry)
		next.ServeHTTP(entry.Plain, r.WithContext(ctx))
		// Telemetry reads the name of the route from the request that it passed.
		r.Pattern = entry.Route
		logAccess(ctx, log, r.Method, entry, time.Since(start))
	})
}

// Identify returns a request's id and writes its header. The id of the client is used if it is
// well-formed.
func Identify(w http.ResponseWriter, r *http.Request) string {
	const header = "X-Request-Id"
	id := rpc.NewRequestID(r.Header.Get(header))
	w.Header().Set(header, id)
	return id
}

// logAccess logs a request without path and query, because ids and search texts are the user's
// private data.
func logAccess(
	ctx context.Context, log *slog.Logger, method string, entry *Entry, took time.Duration,
) {
	level := slog.LevelInfo
	switch {
	case entry.Quiet:
		level = slog.LevelDebug
	case entry.recorder.status >= http.StatusInternalServerError:
		// The service has logged the cause with the appropriate level.
		level = slog.LevelWarn
	}
	if entry.User != (caller.Identity{}) {
		ctx = caller.With(ctx, entry.User)
	}
	attrs := []slog.Attr{
		slog.String("method", method), slog.String("route", entry.Route),
		slog.Int("status", entry.recorder.status), slog.Int("bytes", entry.recorder.bytes),
		slog.Duration("duration", took),
	}
	if entry.Cut {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	log.LogAttrs(ctx, level, "request", attrs...)
}

// recorder records the status and size of a response. An informational response, such as 100
// Continue, does not count. bytes is the size of the body after compression.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
	wrote  bool
}

func (r *recorder) WriteHeader(status int) {
	if !r.wrote && status >= 200 {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

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

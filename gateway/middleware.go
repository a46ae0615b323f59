package gateway

import (
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/rs/cors"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// jsonType is the media type of all responses except files, event streams and the documentation.
const jsonType = "application/json"

// secure sets the security headers of every response. Endpoints that need less strict ones replace
// them.
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

// compressedTypes are formats with compression. Their responses are not compressed again.
var compressedTypes = []string{"image/*", "font/*"}

// crossOrigin is the CORS middleware. It does nothing if no origins are allowed. A browser may keep
// the answer to a preflight for ten minutes. AllowCredentials is not set, so scripts of other
// origins cannot use the session cookie.
func (s *restServer) crossOrigin(next http.Handler) http.Handler {
	if len(s.config.AllowedOrigins) == 0 {
		return next
	}
	return cors.New(cors.Options{
		AllowedOrigins: s.config.AllowedOrigins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "X-Request-Id", "Traceparent", "Tracestate"},
		ExposedHeaders: []string{"ETag", "Location", "X-Request-Id", "Idempotency-Replayed", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"},
		MaxAge:         600,
	}).Handler(next)
}

// recover turns a panic into a 500. It must run inside compression, which would otherwise flush a
// 200.
func (s *restServer) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		defer func() {
			if p := recover(); p != nil {
				s.log.ErrorContext(ctx, "failed to serve a request: panic", "error", p, "stack", string(debug.Stack()))
				if !logEntryOf(ctx).response.wrote {
					s.fail(ctx, w, apierr.Internal)
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// rejectUncleanPaths rejects paths that match a route only after cleaning. A screen of the console
// may end with a slash.
func (s *restServer) rejectUncleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		inDocs := strings.HasPrefix(path, docsPath+"/")
		if hasEmptySegment(r) || strings.HasSuffix(path, "/") && path != "/" && !inDocs {
			s.notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

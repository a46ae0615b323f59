package gateway

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/rs/cors"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/apierr"
)

// compressedTypes are formats with compression. Their responses are not compressed again.
var compressedTypes = []string{"image/*", "font/*"}

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

// newCrossOrigin returns the CORS middleware. It does nothing if no origins are allowed. A browser
// may keep the answer to a preflight for ten minutes. AllowCredentials is not set, so scripts of
// other origins cannot use the session cookie.
func newCrossOrigin(origins []string) func(http.Handler) http.Handler {
	if len(origins) == 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{
			"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match",
			"Last-Event-ID", "X-Request-Id", "Traceparent", "Tracestate",
		},
		ExposedHeaders: []string{
			"ETag", "Location", "X-Request-Id", "Idempotency-Replayed", "Retry-After",
			"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
		},
		MaxAge: 600,
	}).Handler
}

// recoverPanics turns a panic into a 500. It must run inside compression, which would otherwise
// flush a 200.
func recoverPanics(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		defer func() {
			if p := recover(); p != nil {
				log.ErrorContext(ctx, "failed to serve a request: panic",
					"error", p, "stack", string(debug.Stack()))
				if !response.EntryOf(ctx).Begun() {
					response.Fail(ctx, log, w, apierr.Internal)
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}

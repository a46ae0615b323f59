package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/coffer-budget/coffer/gateway/internal/console"
	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/gateway/internal/transcoding"
	"github.com/coffer-budget/coffer/internal/apierr"
	restv1 "github.com/coffer-budget/coffer/proto/gen/coffer/rest/v1"
)

var errMethodNotAllowed = apierr.New(restv1.Reason_METHOD_NOT_ALLOWED)

type router struct {
	paths transcoding.Paths
	site  console.Console
	log   *slog.Logger
}

// newRouter returns the router behind RPCs and endpoints.
func newRouter(
	routes []*transcoding.Route, own []endpoint, site console.Console, log *slog.Logger,
) *router {
	paths := transcoding.NewPaths(routes)
	for _, e := range own {
		paths = paths.With(http.MethodGet, e.path)
	}
	return &router{paths, site, log}
}

// rejectUncleanPaths rejects paths that match a route only after cleaning: with two slashes in
// succession, an escaped one or one at the end. A screen of the console may end with a slash.
func (t *router) rejectUncleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		inDocs := strings.HasPrefix(path, docsPath+"/")
		switch {
		case strings.Contains(path, "//"),
			strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f"):
			response.Fail(r.Context(), t.log, w, errRouteNotFound)
		case strings.HasSuffix(path, "/") && path != "/" && !inDocs:
			t.notFound(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// handleError handles the errors of the mux itself. The mux knows none for the paths of this API.
func (t *router) handleError(
	ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler,
	w http.ResponseWriter, _ *http.Request, err error,
) {
	response.Fail(ctx, t.log, w, err)
}

// handleRoutingError handles requests without a handler, such as those for the console, and OPTIONS
// requests outside of CORS.
func (t *router) handleRoutingError(
	ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler,
	w http.ResponseWriter, r *http.Request, status int,
) {
	allow := t.paths.Allow(r.URL.Path)
	if status != http.StatusMethodNotAllowed || allow == "" {
		t.notFound(w, r)
		return
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	response.Fail(ctx, t.log, w, errMethodNotAllowed)
}

func (t *router) notFound(w http.ResponseWriter, r *http.Request) {
	if !t.site.Answer(w, r) {
		response.Fail(r.Context(), t.log, w, errRouteNotFound)
	}
}

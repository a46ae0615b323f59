package gateway

import (
	"log/slog"
	"net/http"

	"github.com/coffer-budget/coffer/gateway/internal/console"
	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/internal/app"
	"github.com/coffer-budget/coffer/internal/caller"
)

const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// endpoint is a path that the gateway serves itself. Its method is GET, and clients need no token.
type endpoint struct {
	path    string
	handler http.HandlerFunc
}

func (e endpoint) handle(w http.ResponseWriter, r *http.Request, _ map[string]string) {
	entry := response.EntryOf(r.Context())
	entry.Route, entry.Quiet = e.path, isProbe(e.path)
	e.handler(w, r)
}

// isProbe reports whether a path is that of a probe. Probes are not traced, and logged at level
// DEBUG.
func isProbe(path string) bool { return path == livePath || path == readyPath }

// endpoints returns the gateway's own endpoints. Without the console, "/" redirects to the
// documentation.
func endpoints(
	conns connections, verifier *caller.Verifier, site console.Console, log *slog.Logger,
) []endpoint {
	toDocs := http.RedirectHandler(docsPath+"/", http.StatusFound).ServeHTTP
	home := toDocs
	if site != nil {
		home = site.Index
	}
	return []endpoint{
		{"/", home},
		{livePath, func(w http.ResponseWriter, _ *http.Request) {
			response.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
		}},
		{readyPath, readiness(conns, verifier)},
		{"/version", func(w http.ResponseWriter, _ *http.Request) {
			response.WriteJSON(w, http.StatusOK, map[string]string{"version": app.Version()})
		}},
		{openAPIPath, serveOpenAPI},
		{docsPath, toDocs},
		{docsPath + "/**", docs(log)},
	}
}

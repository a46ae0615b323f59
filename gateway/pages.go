package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// apiRoots are the first segments of paths that belong to the API. The console answers none of
// them, not even unknown paths below.
var apiRoots = []string{"api", "docs", "livez", "readyz", "version", ".well-known"}

// home answers the path "/" with the console, or with a redirect to the documentation if the
// console is switched off.
func (s *restServer) home(w http.ResponseWriter, r *http.Request) {
	if s.console == nil {
		http.Redirect(w, r, docsPath+"/", http.StatusFound)
		return
	}
	s.console[indexPage].serve(w, r)
}

// notFound answers a request that matches no RPC and no endpoint. The answer is a file of the
// console, or its index page if a browser requests a screen. All other requests get 404. Templates
// in the access log replace the path, which may be private data.
func (s *restServer) notFound(w http.ResponseWriter, r *http.Request) {
	entry := logEntryOf(r.Context())
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if file := s.console[strings.TrimPrefix(r.URL.Path, "/")]; file != nil {
			entry.route = "/{file}"
			file.serve(w, r)
			return
		}
		if s.console != nil && isScreen(r) {
			entry.route = "/{screen}"
			s.console[indexPage].serve(w, r)
			return
		}
	}
	s.fail(r.Context(), w, errRouteNotFound)
}

// isScreen reports whether a browser asks for a page whose path may be a screen of the console. The
// router of the console knows the screens. A path with a dot names a file.
func isScreen(r *http.Request) bool {
	path := r.URL.Path
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.Contains(r.Header.Get("Accept"), "text/html") && !slices.Contains(apiRoots, first) && !strings.Contains(path, ".") && !hasEmptySegment(r)
}

// hasEmptySegment reports whether a path contains two slashes in succession, or an escaped one.
func hasEmptySegment(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "//") || strings.Contains(strings.ToLower(r.URL.EscapedPath()), "%2f")
}

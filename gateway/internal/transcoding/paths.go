package transcoding

import (
	"net/http"
	"slices"
	"strings"
)

// Paths lists the methods and templates of all paths, for the header Allow: the mux does not report
// which methods a path has.
type Paths []pathEntry

// pathEntry is a method and the segments of a template. A segment in braces matches any text, and
// ** the rest of the path.
type pathEntry struct {
	verb     string
	segments []string
}

// NewPaths returns the table for the paths of the RPCs.
func NewPaths(routes []*Route) Paths {
	var t Paths
	for _, r := range routes {
		t = t.With(r.Verb, r.Template)
	}
	return t
}

// With returns the table with another path.
func (t Paths) With(verb, template string) Paths {
	return append(t, pathEntry{verb, strings.Split(template, "/")})
}

// Allow returns the methods that a path supports, with HEAD and OPTIONS. It is empty if the path
// does not exist.
func (t Paths) Allow(path string) string {
	var verbs []string
	segments := strings.Split(path, "/")
	for _, e := range t {
		if e.matches(segments) && !slices.Contains(verbs, e.verb) {
			verbs = append(verbs, e.verb)
		}
	}
	if len(verbs) == 0 {
		return ""
	}
	if slices.Contains(verbs, http.MethodGet) {
		verbs = append(verbs, http.MethodHead)
	}
	verbs = append(verbs, http.MethodOptions)
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

func (e pathEntry) matches(segments []string) bool {
	for i, want := range e.segments {
		if want == "**" {
			return true
		}
		if i >= len(segments) || want != segments[i] && !strings.HasPrefix(want, "{") {
			return false
		}
	}
	return len(segments) == len(e.segments)
}

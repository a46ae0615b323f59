// Package console serves the files of the web application by their names, and its index page for
// the paths that its router may know as screens.
package console

import (
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/gateway/internal/response"
	"github.com/coffer-budget/coffer/web"
)

const indexPage = "index.html"

// apiRoots are the first segments of paths that belong to the API. The console answers none of
// them, not even unknown paths below.
var apiRoots = []string{"api", "docs", "livez", "readyz", "version", ".well-known"}

// Console holds the files of the web application by their names, nil if it is switched off. It
// never changes, so requests share it without a lock.
type Console map[string]*file

// Open returns the embedded console, or nil if it is switched off.
func Open(on bool) (Console, error) {
	if !on {
		return nil, nil
	}
	files, err := fs.Sub(web.Dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	return newConsole(files)
}

// newConsole reads all files into memory. The files were compressed at build time. It returns an
// error if there is no index page, or a file whose media type is unknown.
func newConsole(files fs.FS) (Console, error) {
	console := Console{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		packed := strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
		if err != nil || entry.IsDir() || packed {
			return err
		}
		console[name], err = newFile(files, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the console: %w", err)
	}
	if console[indexPage] == nil {
		return nil, fmt.Errorf("the console has no %s", indexPage)
	}
	return console, nil
}

// Index serves the index page.
func (c Console) Index(w http.ResponseWriter, r *http.Request) { c[indexPage].serve(w, r) }

// Answer answers a request for a file, and a browser's request for a screen. Otherwise it returns
// false and writes nothing. Templates in the access log replace the path, which may be private
// data.
func (c Console) Answer(w http.ResponseWriter, r *http.Request) bool {
	if c == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	entry := response.EntryOf(r.Context())
	if file := c[strings.TrimPrefix(r.URL.Path, "/")]; file != nil {
		entry.Route = "/{file}"
		file.serve(w, r)
		return true
	}
	if !isScreen(r) {
		return false
	}
	entry.Route = "/{screen}"
	c.Index(w, r)
	return true
}

// isScreen reports whether a browser asks for a page whose path may be a screen. A path with a dot
// names a file.
func isScreen(r *http.Request) bool {
	path := r.URL.Path
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.Contains(r.Header.Get("Accept"), "text/html") &&
		!slices.Contains(apiRoots, first) && !strings.Contains(path, ".")
}

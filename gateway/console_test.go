package gateway

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzhttp"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/web"
)

// html is the Accept header of a browser that opens a page.
const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// withConsole switches the console on.
func withConsole(c *Config) { c.Web = true }

func TestConsoleAnswersScreens(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil, withConsole)
	for _, path := range []string{"/", "/transactions", "/transactions/", "/transactions?from=2026-01-01", "/budgets/" + anID, "/apiary", "/docsx", "/%C3%BCbersicht"} {
		r := a.send("GET", path, "", "Accept", html, "Authorization", "")
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"), path)
		require.Contains(t, r.text, "<title>Coffer</title>", path)
		require.Equal(t, "no-cache", r.Header.Get("Cache-Control"), path)
		require.Equal(t, consolePolicy, r.Header.Get("Content-Security-Policy"), path)
		require.Equal(t, "camera=(self)", r.Header.Get("Permissions-Policy"), path)
		require.Equal(t, "same-origin", r.Header.Get("Cross-Origin-Opener-Policy"), path)
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", r.Header.Get("Referrer-Policy"), path)
		require.NotEmpty(t, r.Header.Get("X-Request-Id"), path)

		head := a.send("HEAD", path, "", "Accept", html)
		require.Equal(t, http.StatusOK, head.StatusCode, path)
		require.Equal(t, r.Header.Get("ETag"), head.Header.Get("ETag"), path)
		require.Equal(t, int64(len(r.text)), head.ContentLength, path)
		require.Empty(t, head.text, path)

		again := a.send("GET", path, "", "Accept", html, "If-None-Match", r.Header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.StatusCode, path)
		require.Equal(t, r.Header.Get("ETag"), again.Header.Get("ETag"), path)
		require.Equal(t, "no-cache", again.Header.Get("Cache-Control"), path)
		require.Empty(t, again.text, path)
	}
	require.Equal(t, http.StatusOK, a.send("GET", "/", "", "Accept", "*/*").StatusCode, "the page has the path /, whatever the client accepts")
	require.Contains(t, a.logs.String(), `"route":"/{screen}"`)
	require.NotContains(t, a.logs.String(), anID)
	require.Zero(t, a.calls())
}

func TestConsoleLeavesOtherPaths(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(*Config){"on": withConsole, "off": func(*Config) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, nil, configure)
			for _, path := range []string{
				"/api", "/api/v1/nothing", "/api/v1/wallet/", "//api/v1/wallet", "/api/v1%2Fwallet", "/livez/", "/readyz/x", "/version/x", "/.well-known/", "/.well-known/x",
				"/docs/nothing.js", "/favicon.bmp", "/transactions.html", "/assets/nothing.js", "/assets/../index.html", "/../index.html", "/%2e%2e/index.html",
				"/..%2findex.html", "/../../etc/passwd", "/x/../../../etc/passwd", "/embed.go", "/index.html/", "//evil.example", "/./",
			} {
				a.requireFailure(a.send("GET", path, "", "Accept", html), http.StatusNotFound, "ROUTE_NOT_FOUND")
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "BREW"} {
				a.requireFailure(a.send(method, "/transactions", "", "Accept", html), http.StatusNotFound, "ROUTE_NOT_FOUND")
			}
			a.requireFailure(a.send("POST", "/", "", "Accept", html), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
			a.requireFailure(a.send("GET", "/transactions", "", "Accept", "application/json"), http.StatusNotFound, "ROUTE_NOT_FOUND")
			a.requireFailure(a.send("GET", "/api/v1/wallet", "", "Accept", html, "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
			require.Contains(t, a.send("GET", "/docs/", "", "Accept", html).text, openAPIPath)
			require.Zero(t, a.calls())
		})
	}
}

func TestConsoleOffRedirectsToTheDocumentation(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("GET", "/", "", "Accept", html)
	require.Equal(t, http.StatusFound, r.StatusCode)
	require.Equal(t, "/docs/", r.Header.Get("Location"))
	a.requireFailure(a.send("GET", "/transactions", "", "Accept", html), http.StatusNotFound, "ROUTE_NOT_FOUND")
	a.requireFailure(a.send("GET", "/index.html", "", "Accept", html), http.StatusNotFound, "ROUTE_NOT_FOUND")
}

// TestConsoleServesEveryFile requests each file of the embedded build.
func TestConsoleServesEveryFile(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil, withConsole)
	require.NoError(t, fs.WalkDir(web.Dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		path := strings.TrimPrefix(name, "dist")
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			return err
		}
		want, err := web.Dist.ReadFile(name)
		r := a.send("GET", path, "")
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Equal(t, string(want), r.text, path)
		require.NotEmpty(t, r.Header.Get("ETag"), path)
		if strings.HasPrefix(path, "/assets/") {
			require.Regexp(t, `-[\w-]{8}\.\w+$`, path, "browsers keep files of this folder forever, so their names must contain a hash")
		}
		return err
	}))
}

// TestConsoleFile uses files that the build may not contain, behind the gateway's compression.
func TestConsoleFile(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("let x = 1;\n", 1000)
	site, err := newConsole(fstest.MapFS{
		"index.html": {Data: []byte(strings.Repeat("<p>", 1000))}, "sw.js": {Data: []byte(script)}, "manifest.webmanifest": {Data: []byte("{}")},
		"assets/app-a1b2c3d4.js": {Data: []byte(script)}, "assets/app-a1b2c3d4.js.br": {Data: []byte("BR")}, "assets/app-a1b2c3d4.js.gz": {Data: []byte("GZ")},
	})
	require.NoError(t, err)
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ExceptContentTypes(compressedTypes))
	require.NoError(t, err)
	get := func(name string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/"+name, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		compress(http.HandlerFunc(site[name].serve)).ServeHTTP(w, r)
		require.Empty(t, w.Header().Values(gzhttp.HeaderNoCompression))
		require.Equal(t, []string{"Accept-Encoding"}, w.Header().Values("Vary"), name)
		return w
	}

	t.Run("the client chooses the variant", func(t *testing.T) {
		t.Parallel()
		etags := map[string]string{}
		for _, c := range []struct{ accept, coding, body string }{
			{"gzip, deflate, br, zstd", "br", "BR"},
			{"BR;q=0.1, gzip", "br", "BR"},
			{"gzip", "gzip", "GZ"},
			{"br;q=0, gzip;q=0.5", "gzip", "GZ"},
			{"gzip;q=0.0, br; q=0", "", script},
			{"br;q=x", "", script},
			{"zstd", "", script},
			{"brotli, xgzip", "", script},
			{"", "", script},
		} {
			r := get("assets/app-a1b2c3d4.js", "Accept-Encoding", c.accept)
			require.Equal(t, c.body, r.Body.String(), c.accept)
			require.Equal(t, c.coding, r.Header().Get("Content-Encoding"), c.accept)
			require.Equal(t, "text/javascript; charset=utf-8", r.Header().Get("Content-Type"))
			require.Equal(t, strconv.Itoa(len(c.body)), r.Header().Get("Content-Length"), c.accept)
			etags[r.Header().Get("ETag")] = c.coding
			again := get("assets/app-a1b2c3d4.js", "Accept-Encoding", c.accept, "If-None-Match", r.Header().Get("ETag"))
			require.Equal(t, http.StatusNotModified, again.Code, c.accept)
		}
		require.Len(t, etags, 3, "each variant has its own ETag")
	})
	t.Run("a file without variants keeps its bytes", func(t *testing.T) {
		t.Parallel()
		r := get("sw.js", "Accept-Encoding", "gzip, br, zstd")
		require.Empty(t, r.Header().Get("Content-Encoding"))
		require.Equal(t, script, r.Body.String())
	})
	t.Run("only names with a hash are immutable", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "public, max-age=31536000, immutable", get("assets/app-a1b2c3d4.js").Header().Get("Cache-Control"))
		for _, name := range []string{"index.html", "sw.js", "manifest.webmanifest"} {
			require.Equal(t, "no-cache", get(name).Header().Get("Cache-Control"), name)
		}
	})
	t.Run("If-None-Match is a list of strong or weak ETags", func(t *testing.T) {
		t.Parallel()
		etag := get("sw.js").Header().Get("ETag")
		for _, match := range []string{etag, "W/" + etag, `"x", ` + etag, `"x",W/` + etag + `, "y"`, "*"} {
			require.Equal(t, http.StatusNotModified, get("sw.js", "If-None-Match", match).Code, match)
		}
		for _, match := range []string{"", `"x"`, strings.Trim(etag, `"`), etag + "x", "w/" + etag} {
			require.Equal(t, http.StatusOK, get("sw.js", "If-None-Match", match).Code, match)
		}
	})
}

func TestNewConsoleRejects(t *testing.T) {
	t.Parallel()
	_, err := newConsole(fstest.MapFS{"sw.js": {}})
	require.ErrorContains(t, err, "index.html")
	_, err = newConsole(fstest.MapFS{"index.html": {}, "program.exe": {}})
	require.ErrorContains(t, err, "program.exe")
}

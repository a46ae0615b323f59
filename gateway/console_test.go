package gateway

import (
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/web"
)

// html is the Accept header of a browser that opens a page.
const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// consolePolicy is the Content-Security-Policy of the console.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; " +
	"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'"

// withConsole switches the console on.
func withConsole(c *Config) { c.Web = true }

func TestConsoleAnswersScreens(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil, withConsole)
	for _, path := range []string{
		"/", "/transactions", "/transactions/", "/transactions?from=2026-01-01", "/budgets/" + anID,
		"/apiary", "/docsx", "/%C3%BCbersicht",
	} {
		got := gate.send("GET", path, "", "Accept", html, "Authorization", "")
		require.Equal(t, http.StatusOK, got.StatusCode, path)
		require.Equal(t, "text/html; charset=utf-8", got.Header.Get("Content-Type"), path)
		require.Contains(t, got.text, "<title>Coffer</title>", path)
		require.Equal(t, "no-cache", got.Header.Get("Cache-Control"), path)
		require.Equal(t, consolePolicy, got.Header.Get("Content-Security-Policy"), path)
		require.Equal(t, "camera=(self)", got.Header.Get("Permissions-Policy"), path)
		require.Equal(t, "same-origin", got.Header.Get("Cross-Origin-Opener-Policy"), path)
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", got.Header.Get("Referrer-Policy"), path)
		require.NotEmpty(t, got.Header.Get("X-Request-Id"), path)

		head := gate.send("HEAD", path, "", "Accept", html)
		require.Equal(t, http.StatusOK, head.StatusCode, path)
		require.Equal(t, got.Header.Get("ETag"), head.Header.Get("ETag"), path)
		require.Equal(t, int64(len(got.text)), head.ContentLength, path)
		require.Empty(t, head.text, path)

		again := gate.send("GET", path, "", "Accept", html, "If-None-Match", got.Header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.StatusCode, path)
		require.Equal(t, got.Header.Get("ETag"), again.Header.Get("ETag"), path)
		require.Equal(t, "no-cache", again.Header.Get("Cache-Control"), path)
		require.Empty(t, again.text, path)
	}
	require.Equal(t, http.StatusOK, gate.send("GET", "/", "", "Accept", "*/*").StatusCode,
		"the page has the path /, whatever the client accepts")
	require.Contains(t, gate.logs.String(), `"route":"/{screen}"`)
	require.NotContains(t, gate.logs.String(), anID)
	require.Zero(t, gate.calls())
}

func TestConsoleLeavesOtherPaths(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(*Config){
		"on": withConsole, "off": func(*Config) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := newAPI(t, nil, configure)
			for _, path := range []string{
				"/api", "/api/v1/nothing", "/api/v1/wallet/", "//api/v1/wallet", "/api/v1%2Fwallet",
				"/livez/", "/readyz/x", "/version/x", "/.well-known/", "/.well-known/x",
				"/docs/nothing.js", "/favicon.bmp", "/transactions.html", "/assets/nothing.js",
				"/assets/../index.html", "/../index.html", "/%2e%2e/index.html",
				"/..%2findex.html", "/../../etc/passwd", "/x/../../../etc/passwd", "/embed.go",
				"/index.html/", "//evil.example", "/./",
			} {
				gate.requireFailure(gate.send("GET", path, "", "Accept", html),
					http.StatusNotFound, "ROUTE_NOT_FOUND")
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "BREW"} {
				gate.requireFailure(gate.send(method, "/transactions", "", "Accept", html),
					http.StatusNotFound, "ROUTE_NOT_FOUND")
			}
			gate.requireFailure(gate.send("POST", "/", "", "Accept", html),
				http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
			gate.requireFailure(gate.send("GET", "/transactions", "", "Accept", "application/json"),
				http.StatusNotFound, "ROUTE_NOT_FOUND")
			gate.requireFailure(gate.send("GET", "/api/v1/wallet", "",
				"Accept", html, "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
			require.Contains(t, gate.send("GET", "/docs/", "", "Accept", html).text, openAPIPath)
			require.Zero(t, gate.calls())
		})
	}
}

func TestConsoleOffRedirectsToTheDocumentation(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	r := a.send("GET", "/", "", "Accept", html)
	require.Equal(t, http.StatusFound, r.StatusCode)
	require.Equal(t, "/docs/", r.Header.Get("Location"))
	a.requireFailure(a.send("GET", "/transactions", "", "Accept", html),
		http.StatusNotFound, "ROUTE_NOT_FOUND")
	a.requireFailure(a.send("GET", "/index.html", "", "Accept", html),
		http.StatusNotFound, "ROUTE_NOT_FOUND")
}

// TestConsoleServesEveryFile requests each file of the embedded build.
func TestConsoleServesEveryFile(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil, withConsole)
	visit := func(name string, entry fs.DirEntry, err error) error {
		path := strings.TrimPrefix(name, "dist")
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".br") ||
			strings.HasSuffix(name, ".gz") {
			return err
		}
		want, err := web.Dist.ReadFile(name)
		r := gate.send("GET", path, "")
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Equal(t, string(want), r.text, path)
		require.NotEmpty(t, r.Header.Get("ETag"), path)
		if strings.HasPrefix(path, "/assets/") {
			require.Regexp(t, `-[\w-]{8}\.\w+$`, path,
				"browsers keep files of this folder forever, so their names must contain a hash")
		}
		return err
	}
	require.NoError(t, fs.WalkDir(web.Dist, "dist", visit))
}

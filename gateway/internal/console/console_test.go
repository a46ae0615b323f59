package console

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzhttp"
	"github.com/stretchr/testify/require"
)

// TestConsoleFile uses files that the build may not contain, behind the gateway's compression.
func TestConsoleFile(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("let x = 1;\n", 1000)
	site, err := newConsole(fstest.MapFS{
		"index.html": {Data: []byte(strings.Repeat("<p>", 1000))}, "sw.js": {Data: []byte(script)},
		"manifest.webmanifest":      {Data: []byte("{}")},
		"assets/app-a1b2c3d4.js":    {Data: []byte(script)},
		"assets/app-a1b2c3d4.js.br": {Data: []byte("BR")},
		"assets/app-a1b2c3d4.js.gz": {Data: []byte("GZ")},
	})
	require.NoError(t, err)
	// The options are those of the gateway's handler.
	compress, err := gzhttp.NewWrapper(
		gzhttp.MinSize(1024), gzhttp.ExceptContentTypes([]string{"image/*", "font/*"}))
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
		for _, tc := range []struct{ accept, coding, body string }{
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
			recorder := get("assets/app-a1b2c3d4.js", "Accept-Encoding", tc.accept)
			require.Equal(t, tc.body, recorder.Body.String(), tc.accept)
			require.Equal(t, tc.coding, recorder.Header().Get("Content-Encoding"), tc.accept)
			require.Equal(t, "text/javascript; charset=utf-8",
				recorder.Header().Get("Content-Type"))
			require.Equal(t, strconv.Itoa(len(tc.body)), recorder.Header().Get("Content-Length"),
				tc.accept)
			etags[recorder.Header().Get("ETag")] = tc.coding
			again := get("assets/app-a1b2c3d4.js", "Accept-Encoding", tc.accept,
				"If-None-Match", recorder.Header().Get("ETag"))
			require.Equal(t, http.StatusNotModified, again.Code, tc.accept)
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
		require.Equal(t, "public, max-age=31536000, immutable",
			get("assets/app-a1b2c3d4.js").Header().Get("Cache-Control"))
		for _, name := range []string{"index.html", "sw.js", "manifest.webmanifest"} {
			require.Equal(t, "no-cache", get(name).Header().Get("Cache-Control"), name)
		}
	})
	t.Run("If-None-Match is a list of strong or weak ETags", func(t *testing.T) {
		t.Parallel()
		etag := get("sw.js").Header().Get("ETag")
		for _, match := range []string{
			etag, "W/" + etag, `"x", ` + etag, `"x",W/` + etag + `, "y"`, "*",
		} {
			require.Equal(t, http.StatusNotModified,
				get("sw.js", "If-None-Match", match).Code, match)
		}
		for _, match := range []string{
			"", `"x"`, strings.Trim(etag, `"`), etag + "x", "w/" + etag,
		} {
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

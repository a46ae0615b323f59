package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsPolicy checks that the page of the API documentation may run its own scripts, and that no
// other inline script may run on the console's origin.
func TestDocsPolicy(t *testing.T) {
	t.Parallel()
	a := newAPI(t, nil)
	page := a.send("GET", "/docs/", "")
	policy := page.Header.Get("Content-Security-Policy")
	scripts := regexp.MustCompile(`script-src ([^;]*);`).FindStringSubmatch(policy)
	require.NotNil(t, scripts, policy)
	require.NotContains(t, scripts[1], "unsafe")
	inline := 0
	element := regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)
	for _, script := range element.FindAllStringSubmatch(page.text, -1) {
		if script[1] != "" {
			require.Regexp(t, `^ src="/docs/[\w.-]+"$`, script[1])
			continue
		}
		inline++
		hash := sha256.Sum256([]byte(script[2]))
		require.Contains(t, scripts[1], "'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'")
	}
	require.Positive(t, inline)
	require.NotRegexp(t, `\son\w+=|javascript:`, page.text)
}

func TestDocsLoadNoExternalResources(t *testing.T) {
	t.Parallel()
	gate := newAPI(t, nil)
	r := gate.send("GET", "/", "")
	require.Equal(t, http.StatusFound, r.StatusCode)
	require.Equal(t, "/docs/", r.Header.Get("Location"))
	require.Equal(t, "/docs/", gate.send("GET", "/docs", "").Header.Get("Location"))
	index := gate.send("GET", "/docs/", "")
	require.Equal(t, http.StatusOK, index.StatusCode)
	require.Contains(t, index.text, openAPIPath)
	require.NotRegexp(t, `(https?:)?//[a-z0-9]`, strings.ReplaceAll(index.text, "//www.w3.org", ""))
	require.Contains(t, index.Header.Get("Content-Security-Policy"), "default-src 'self'")
	for _, asset := range assets(index.text) {
		require.Equal(t, http.StatusOK, gate.send("GET", asset, "").StatusCode, asset)
	}
	require.NotEmpty(t, assets(index.text))
	gate.requireFailure(gate.send("GET", "/docs/nothing.js", ""), http.StatusNotFound,
		"ROUTE_NOT_FOUND")
	require.Equal(t, "application/json",
		gate.send("GET", openAPIPath, "").Header.Get("Content-Type"))
	require.NotEmpty(t, gate.send("GET", "/version", "").json["version"])
}

// assets returns the paths below /docs/ that an HTML page refers to.
func assets(html string) []string {
	var found []string
	for _, attribute := range []string{`src="`, `href="`} {
		for _, after := range strings.Split(html, attribute)[1:] {
			path, _, _ := strings.Cut(after, `"`)
			if strings.HasPrefix(path, "/docs/") {
				found = append(found, path)
			}
		}
	}
	return found
}

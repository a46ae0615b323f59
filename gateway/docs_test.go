package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
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
	for _, script := range regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`).FindAllStringSubmatch(page.text, -1) {
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

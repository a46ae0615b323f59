package production

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGatewayBeforeServices runs the gateway of this release with services of the previous release,
// which is the wrong order of an upgrade. An operation that the services do not have yet is 503
// with Retry-After, and a field that they do not send is absent.
func TestGatewayBeforeServices(t *testing.T) {
	t.Parallel()
	released := buildPrevious(t)
	cluster := newCluster(t)
	cluster.unmigrate()
	fronts := map[string]string{}
	for _, service := range services[:4] {
		cluster.migrate(service, filepath.Join(released, service), nil)
		fronts[service] = cluster.front(service)
	}
	for _, service := range services[:4] {
		cluster.await(cluster.run(service, filepath.Join(released, service), map[string]string{
			"AUTH_ADDR": fronts["auth"], "LEDGER_ADDR": fronts["ledger"],
			"BUDGET_ADDR": fronts["budget"], "OCR_ADDR": fronts["ocr"],
		}))
	}
	cluster.await(cluster.spawn("gateway"))
	user := cluster.newUser()
	require.NoError(t, user.earn())

	summary, err := user.call(http.MethodGet, "/dashboard/summary?from=2026-01-01&to=2026-01-31",
		nil)
	require.NoError(t, err)
	totals := summary["summary"].(map[string]any)["totals"].([]any)[0].(map[string]any)
	require.InDelta(t, 1, totals["income"], 0)
	require.NotContains(t, totals, "transferredIn")
	unavailable := 0
	for _, path := range collections(t) {
		status, header := user.status(t, path)
		if status == http.StatusServiceUnavailable {
			unavailable++
			assert.NotEmpty(t, header.Get("Retry-After"), path)
			continue
		}
		assert.Equal(t, http.StatusOK, status, path)
	}
	require.Positive(t, unavailable)
}

// collections returns the paths of the GET operations that need no id and no parameter.
func collections(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../gateway/openapi.json")
	require.NoError(t, err)
	var document struct{ Paths map[string]map[string]any }
	require.NoError(t, json.Unmarshal(text, &document))
	var paths []string
	for path, operations := range document.Paths {
		switch {
		case operations["get"] == nil, strings.Contains(path, "{"),
			!strings.HasPrefix(path, "/api/v1/"):
		// A stream without an end, one that needs a format, and one that needs a recent sign-in.
		case path == "/api/v1/events", path == "/api/v1/export/transactions",
			path == "/api/v1/account/export":
		default:
			paths = append(paths, path)
		}
	}
	require.Greater(t, len(paths), 15)
	return paths
}

// status sends a GET request to a gateway.
func (u *user) status(t *testing.T, path string) (int, http.Header) {
	t.Helper()
	at := netip.AddrPortFrom(u.cluster.names.lookup(name("gateway"))[0], uint16(u.cluster.port))
	url := "http://" + at.String() + path
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+u.token)
	resp, err := httpClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

package k8s

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// TestHTTPRouteTimeouts checks that event streams have no timeout in the proxies, and all other
// requests have one that is longer than the longest deadline of the gateway, that of a download.
func TestHTTPRouteTimeouts(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("../../internal/rpc/transfer.go")
	require.NoError(t, err)
	setting := regexp.MustCompile(`DownloadTimeout = (\d+) \* time\.Minute`).FindSubmatch(code)
	require.NotNil(t, setting, "the constant was renamed")
	longest, err := time.ParseDuration(string(setting[1]) + "m")
	require.NoError(t, err)
	unlimited := map[string]bool{}
	for _, route := range manifests[*gatewayv1.HTTPRoute](t, "production") {
		for _, rule := range route.Spec.Rules {
			if len(rule.BackendRefs) == 0 {
				continue
			}
			require.NotNil(t, rule.Timeouts,
				"without a timeout, the proxy's default applies, which is unknown")
			limit, err := time.ParseDuration(string(*rule.Timeouts.Request))
			require.NoError(t, err)
			if limit != 0 {
				require.Greater(t, limit, longest)
				continue
			}
			require.NotEmpty(t, rule.Matches)
			for _, match := range rule.Matches {
				require.Equal(t, gatewayv1.PathMatchExact, *match.Path.Type)
				unlimited[*match.Path.Value] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"/api/v1/events": true}, unlimited)
}

// TestHTTPRouteReachesTheConsole checks that the proxies send every path to the gateway without a
// change, so that the console, its cookie and its headers work, and that no overlay switches the
// console off.
func TestHTTPRouteReachesTheConsole(t *testing.T) {
	t.Parallel()
	var everyPath int
	for _, route := range manifests[*gatewayv1.HTTPRoute](t, "production") {
		for _, rule := range route.Spec.Rules {
			if len(rule.BackendRefs) == 0 {
				continue
			}
			require.Empty(t, rule.Filters, "filters change headers or paths")
			require.EqualValues(t, "gateway", rule.BackendRefs[0].Name)
			if len(rule.Matches) == 0 {
				everyPath++
			}
		}
	}
	require.Equal(t, 1, everyPath)
	for _, overlay := range overlays {
		for _, deployment := range manifests[*appsv1.Deployment](t, overlay) {
			for _, container := range deployment.Spec.Template.Spec.Containers {
				web := func(v corev1.EnvVar) bool { return v.Name == "WEB" }
				require.False(t, slices.ContainsFunc(container.Env, web), deployment.Name)
			}
		}
	}
}

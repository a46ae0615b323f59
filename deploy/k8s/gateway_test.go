package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// TestHTTPRouteTimeouts checks that event streams have no timeout in the proxies, and all other requests have one.
func TestHTTPRouteTimeouts(t *testing.T) {
	t.Parallel()
	unlimited := map[string]bool{}
	for _, route := range manifests[*gatewayv1.HTTPRoute](t, "production") {
		for _, rule := range route.Spec.Rules {
			if len(rule.BackendRefs) == 0 {
				continue
			}
			require.NotNil(t, rule.Timeouts, "without a timeout, the proxy's default applies, which is unknown")
			if *rule.Timeouts.Request != "0s" {
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

package k8s

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestOIDCComponent adds the component to the production overlay, as an operator does. Only auth
// gets the secrets of the providers and connections to them.
func TestOIDCComponent(t *testing.T) {
	t.Parallel()
	from := customized(t, `{name: oidc, literals: `+
		`[OIDC_PROVIDERS=home, "PUBLIC_URL=https://example.org"]}`, "oidc")

	for _, d := range manifests[*appsv1.Deployment](t, from) {
		var maps, secrets []string
		for _, c := range d.Spec.Template.Spec.Containers {
			for _, source := range c.EnvFrom {
				if source.ConfigMapRef != nil {
					maps = append(maps, source.ConfigMapRef.Name)
				} else {
					secrets = append(secrets, source.SecretRef.Name)
				}
			}
		}
		if d.Name != "auth" {
			require.Empty(t, append(maps, secrets...), d.Name)
			continue
		}
		require.Len(t, maps, 1)
		require.Contains(t, maps[0], "oidc-", "the hash of the ConfigMap restarts auth")
		require.Equal(t, []string{"oidc"}, secrets)
	}
	policies := manifests[*networkingv1.NetworkPolicy](t, from)
	policy := policies[slices.IndexFunc(policies,
		func(p *networkingv1.NetworkPolicy) bool { return p.Name == "oidc" })].Spec
	require.Equal(t, "auth", policy.PodSelector.MatchLabels[nameLabel])
	require.Len(t, policy.Egress, 1)
	requireInternet(t, policy.Egress[0].To)
	require.Len(t, policy.Egress[0].Ports, 1)
	require.Equal(t, "443", policy.Egress[0].Ports[0].Port.String())
}

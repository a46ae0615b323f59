package k8s

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestMailComponent adds the component to the production overlay, as an operator does. Only auth
// gets the URL of the mail server and connections to it.
func TestMailComponent(t *testing.T) {
	t.Parallel()
	from := customized(t, `{name: coffer, behavior: merge, literals: `+
		`[MAIL_FROM=no-reply@example.org, "PUBLIC_URL=https://example.org"]}`, "mail")

	for _, d := range manifests[*appsv1.Deployment](t, from) {
		sources := map[string]string{}
		for _, c := range d.Spec.Template.Spec.Containers {
			for _, e := range c.Env {
				switch e.Name {
				case "SMTP_URL":
					sources[e.Name] = e.ValueFrom.SecretKeyRef.Name
				case "MAIL_FROM":
					sources[e.Name] = e.ValueFrom.ConfigMapKeyRef.Name
				case "PUBLIC_URL":
					sources[e.Name] = e.ValueFrom.ConfigMapKeyRef.Name
					require.True(t, *e.ValueFrom.ConfigMapKeyRef.Optional, "auth starts without it")
				}
			}
		}
		if d.Name != "auth" {
			require.Empty(t, sources, d.Name)
			continue
		}
		require.Equal(t, "mail", sources["SMTP_URL"])
		require.Contains(t, sources["MAIL_FROM"], "coffer")
		require.Equal(t, sources["MAIL_FROM"], sources["PUBLIC_URL"])
	}
	policies := manifests[*networkingv1.NetworkPolicy](t, from)
	policy := policies[slices.IndexFunc(policies,
		func(p *networkingv1.NetworkPolicy) bool { return p.Name == "mail" })].Spec
	require.Equal(t, "auth", policy.PodSelector.MatchLabels[nameLabel])
	require.Len(t, policy.Egress, 1)
	requireInternet(t, policy.Egress[0].To)
	var ports []string
	for _, p := range policy.Egress[0].Ports {
		ports = append(ports, p.Port.String())
	}
	require.Equal(t, []string{"587", "465"}, ports)
}

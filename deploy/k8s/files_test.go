package k8s

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestFilesComponent adds the component to the production overlay, as an operator does. Only the
// ledger gets the store's URL, its key, and connections to it.
func TestFilesComponent(t *testing.T) {
	t.Parallel()
	const url = "s3://store.example.com/coffer-files"
	from := customized(t,
		`{name: coffer, behavior: merge, literals: ["FILES_URL=`+url+`"]}`, "files")

	for _, d := range manifests[*appsv1.Deployment](t, from) {
		var names []string
		var config string
		for _, c := range slices.Concat(d.Spec.Template.Spec.InitContainers,
			d.Spec.Template.Spec.Containers) {
			for _, e := range c.Env {
				switch e.Name {
				case "FILES_URL":
					config = e.ValueFrom.ConfigMapKeyRef.Name
					names = append(names, e.Name)
				case "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY":
					require.Equal(t, "files", e.ValueFrom.SecretKeyRef.Name)
					names = append(names, e.Name)
				}
			}
		}
		if d.Name != "ledger" {
			require.Empty(t, names, d.Name)
			continue
		}
		require.Equal(t,
			[]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "FILES_URL"},
			slices.Sorted(slices.Values(names)))
		configs := manifests[*corev1.ConfigMap](t, from)
		of := slices.IndexFunc(configs,
			func(m *corev1.ConfigMap) bool { return m.Name == config })
		require.GreaterOrEqual(t, of, 0)
		require.Equal(t, url, configs[of].Data["FILES_URL"])
	}
	policies := manifests[*networkingv1.NetworkPolicy](t, from)
	policy := policies[slices.IndexFunc(policies,
		func(p *networkingv1.NetworkPolicy) bool { return p.Name == "files" })].Spec
	require.Equal(t, map[string]string{nameLabel: "ledger"}, policy.PodSelector.MatchLabels)
	require.Empty(t, policy.Ingress)
	require.Len(t, policy.Egress, 1)
	requireInternet(t, policy.Egress[0].To)
	require.Len(t, policy.Egress[0].Ports, 1)
	require.Equal(t, "443", policy.Egress[0].Ports[0].Port.String())
}

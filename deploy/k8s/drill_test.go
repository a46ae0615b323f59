package k8s

import (
	"slices"
	"testing"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// withDrill returns the name of the production overlay with the component restore-drill.
func withDrill(t *testing.T) string {
	t.Helper()
	return customized(t, `{name: installation, behavior: merge, literals: `+
		`[STORAGE=300Gi, "BACKUPS=s3://mine/coffer"]}`, "restore-drill", "installation")
}

// TestRestoreDrill checks that the drill runs the programs that production runs, in a volume of the
// size of PostgreSQL's, and can read the backups and nothing else.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	overlay := withDrill(t)
	drills := manifests[*batchv1.CronJob](t, overlay)
	require.Len(t, drills, 1)
	pod := drills[0].Spec.JobTemplate.Spec.Template.Spec
	require.Len(t, pod.InitContainers, 2)
	restore, database, verify := pod.InitContainers[0], pod.InitContainers[1], pod.Containers[0]

	for _, c := range pod.InitContainers {
		require.Equal(t, manifests[*cnpg.Cluster](t, overlay)[0].Spec.ImageName, c.Image)
	}
	all := manifests[*appsv1.Deployment](t, overlay)
	ledger := all[slices.IndexFunc(all,
		func(d *appsv1.Deployment) bool { return d.Name == "ledger" })]
	require.Equal(t, ledger.Spec.Template.Spec.Containers[0].Image, verify.Image)
	require.Equal(t, []string{"verify"}, verify.Args)
	require.Nil(t, restore.RestartPolicy,
		"a sidecar would be started again until the deadline instead of failing")
	require.Equal(t, corev1.ContainerRestartPolicyAlways, *database.RestartPolicy,
		"a container that is no sidecar would have to end before verify starts")
	scratch := pod.Volumes[slices.IndexFunc(pod.Volumes,
		func(v corev1.Volume) bool { return v.Name == "scratch" })]
	size := scratch.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests[corev1.ResourceStorage]
	require.Equal(t, "300Gi", size.String())

	require.Empty(t, secretsOf(verify))
	require.Empty(t, secretsOf(database))
	require.Equal(t, []string{"backups"}, slices.Compact(secretsOf(restore)))
	policies := manifests[*networkingv1.NetworkPolicy](t, overlay)
	policy := policies[slices.IndexFunc(policies,
		func(p *networkingv1.NetworkPolicy) bool { return p.Name == "restore-drill" })].Spec
	require.Equal(t, drills[0].Spec.JobTemplate.Spec.Template.Labels[nameLabel],
		policy.PodSelector.MatchLabels[nameLabel])
	require.Len(t, policy.Egress, 1)
	requireInternet(t, policy.Egress[0].To)
	require.Equal(t, "443", policy.Egress[0].Ports[0].Port.String())

	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.False(t, *pod.AutomountServiceAccountToken)
	for _, c := range []corev1.Container{restore, database, verify} {
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	}
}

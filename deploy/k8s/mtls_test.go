package k8s

import (
	"slices"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestInProductionEveryServiceShowsACertificateThatIsItsAlone(t *testing.T) {
	t.Parallel()
	certificates := map[string]*certmanager.Certificate{}
	for _, c := range manifests[*certmanager.Certificate](t, "production") {
		require.NotContains(t, certificates, c.Spec.SecretName, "two certificates in one secret")
		certificates[c.Spec.SecretName] = c
	}
	for _, d := range deployments(t, "production") {
		pod := d.Spec.Template.Spec
		mounted := slices.DeleteFunc(slices.Clone(pod.Volumes), func(v corev1.Volume) bool { return v.Secret == nil })
		require.Len(t, mounted, 1, d.Name)
		certificate := certificates[mounted[0].Secret.SecretName]
		require.NotNil(t, certificate, d.Name)
		require.Equal(t, []string{d.Name}, certificate.Spec.DNSNames, "the name that the others know it by, and no other")
		require.Equal(t, "authority", certificate.Spec.IssuerRef.Name)
		require.False(t, certificate.Spec.IsCA)
		require.ElementsMatch(t, []certmanager.KeyUsage{certmanager.UsageDigitalSignature, certmanager.UsageServerAuth, certmanager.UsageClientAuth}, certificate.Spec.Usages)

		told := map[string]string{}
		for _, e := range pod.Containers[0].Env {
			told[e.Name] = e.Value
		}
		at := pod.Containers[0].VolumeMounts[slices.IndexFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == mounted[0].Name })].MountPath
		require.Equal(t, at+"/tls.crt", told["TLS_CERT"], d.Name)
		require.Equal(t, at+"/tls.key", told["TLS_KEY"], d.Name)
		require.Equal(t, at+"/ca.crt", told["TLS_CA"], d.Name)
	}
}

// TestProbesNeedNoCertificate is about the kubelet, which speaks no TLS to a gRPC probe.
func TestProbesNeedNoCertificate(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, _ string, pod corev1.PodSpec) {
		t.Helper()
		c := pod.Containers[0]
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			if probe.GRPC == nil {
				continue
			}
			require.True(t, slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == "health" && p.ContainerPort == probe.GRPC.Port }))
			require.Contains(t, c.Env, corev1.EnvVar{Name: "HEALTH_ADDR", Value: ":9465"})
			require.Equal(t, int32(9465), probe.GRPC.Port)
		}
	})
}

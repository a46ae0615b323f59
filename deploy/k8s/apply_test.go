package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestApplyListDefaults checks lists that kubectl apply compares as a whole. If the API server adds
// a default to an element, each later apply reports the object as configured. make k8s-test applies
// everything twice to a cluster.
func TestApplyListDefaults(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		for _, p := range manifests[*networkingv1.NetworkPolicy](t, overlay) {
			var ports []networkingv1.NetworkPolicyPort
			for _, rule := range p.Spec.Ingress {
				ports = append(ports, rule.Ports...)
			}
			for _, rule := range p.Spec.Egress {
				ports = append(ports, rule.Ports...)
			}
			for _, port := range ports {
				require.NotNil(t, port.Protocol, p.Name)
			}
		}
		for _, s := range manifests[*appsv1.StatefulSet](t, overlay) {
			for _, claim := range s.Spec.VolumeClaimTemplates {
				require.Equal(t, "v1 PersistentVolumeClaim", claim.APIVersion+" "+claim.Kind,
					s.Name)
				require.NotNil(t, claim.Spec.VolumeMode, s.Name)
				require.Equal(t, corev1.ClaimPending, claim.Status.Phase, s.Name)
			}
		}
	}
}

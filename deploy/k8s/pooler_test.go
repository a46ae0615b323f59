package k8s

import (
	"reflect"
	"slices"
	"testing"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/cloudnative-pg/cloudnative-pg/pkg/specs/pgbouncer"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// TestPoolers checks that the poolers are spread over nodes and have a PodDisruptionBudget, which
// the operator does not create.
func TestPoolers(t *testing.T) {
	t.Parallel()
	for _, p := range poolers(t, "production") {
		require.GreaterOrEqual(t, *p.Spec.Replicas, int32(2))
		require.NotEmpty(t, p.Spec.Template.Spec.TopologySpreadConstraints)
		for _, s := range p.Spec.Template.Spec.TopologySpreadConstraints {
			require.Equal(t, p.Spec.Selector, s.LabelSelector)
			require.Equal(t, []string{"pod-template-hash"}, s.MatchLabelKeys)
		}
		budgets := manifests[*policyv1.PodDisruptionBudget](t, "production")
		require.True(t, slices.ContainsFunc(budgets, func(b *policyv1.PodDisruptionBudget) bool {
			return reflect.DeepEqual(b.Spec.Selector, p.Spec.Selector)
		}))
	}
}

const pooler = "postgres-pooler"

// poolers returns the Deployments of the poolers, built with the operator's code from the Pooler in
// the overlay.
func poolers(t *testing.T, overlay string) []*appsv1.Deployment {
	t.Helper()
	if overlay != "production" {
		return nil
	}
	made, err := pgbouncer.Deployment(manifests[*cnpg.Pooler](t, overlay)[0],
		manifests[*cnpg.Cluster](t, overlay)[0])
	require.NoError(t, err)
	require.Equal(t, pooler, made.Name)
	return []*appsv1.Deployment{made}
}

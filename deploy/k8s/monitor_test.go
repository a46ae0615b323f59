package k8s

import (
	"slices"
	"strconv"
	"testing"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/cloudnative-pg/cloudnative-pg/pkg/specs"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestPodMonitors checks that Prometheus scrapes each pod once, with the service's name as label
// job. Alerts use this label to report the service that is down.
func TestPodMonitors(t *testing.T) {
	t.Parallel()
	for _, d := range deployments(t, "production") {
		require.Equal(t, []string{d.Name + ":9464"},
			found(t, d.Spec.Template.Labels, d.Spec.Template.Spec), d.Name)
	}
	for _, cluster := range manifests[*cnpg.Cluster](t, "production") {
		instance, err := specs.NewInstance(t.Context(), *cluster, 1, true)
		require.NoError(t, err)
		require.Equal(t, []string{"postgres:9187"}, found(t, instance.Labels, instance.Spec))
	}
	for _, p := range poolers(t, "production") {
		require.Equal(t, []string{"postgres-pooler:9127"},
			found(t, p.Spec.Template.Labels, p.Spec.Template.Spec),
			"alerts on PostgreSQL's instances must not include poolers")
	}
	for _, s := range manifests[*appsv1.StatefulSet](t, "production") {
		require.Equal(t, []string{"nats:7777"},
			found(t, s.Spec.Template.Labels, s.Spec.Template.Spec))
	}
}

// found returns job:port for each endpoint of a PodMonitor that selects the pod.
func found(t *testing.T, of map[string]string, pod corev1.PodSpec) []string {
	t.Helper()
	var found []string
	for _, m := range manifests[*monitoring.PodMonitor](t, "production") {
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		require.NoError(t, err)
		if !selector.Matches(labels.Set(of)) {
			continue
		}
		for _, endpoint := range m.Spec.PodMetricsEndpoints {
			for _, container := range slices.Concat(pod.InitContainers, pod.Containers[:1]) {
				for _, port := range container.Ports {
					if port.Name == *endpoint.Port {
						found = append(found,
							of[m.Spec.JobLabel]+":"+strconv.Itoa(int(port.ContainerPort)))
					}
				}
			}
		}
	}
	return found
}

// TestNetworkPolicyForPrometheus checks that Prometheus may connect to the metrics of each pod, and
// to no other port.
func TestNetworkPolicyForPrometheus(t *testing.T) {
	t.Parallel()
	admitted := map[string]bool{}
	for _, policy := range manifests[*networkingv1.NetworkPolicy](t, "production") {
		name := policy.Spec.PodSelector.MatchLabels[nameLabel]
		for _, rule := range policy.Spec.Ingress {
			for _, from := range rule.From {
				if from.NamespaceSelector != nil &&
					from.NamespaceSelector.MatchLabels[corev1.LabelMetadataName] == "monitoring" {
					for _, port := range rule.Ports {
						admitted[name+":"+port.Port.String()] = true
					}
				}
			}
		}
	}
	require.Equal(t, map[string]bool{
		":9464": true, "postgres:9187": true, "postgres:9127": true, "nats:7777": true,
	}, admitted)
}

// TestReplicaAlert compares the numbers of replicas and servers in the alerts with the manifests.
func TestReplicaAlert(t *testing.T) {
	t.Parallel()
	var alerts []string
	for _, rules := range manifests[*monitoring.PrometheusRule](t, "production") {
		for _, rule := range rules.Spec.Groups[0].Rules {
			alerts = append(alerts, rule.Alert+": "+rule.Expr.String())
		}
	}
	servers := *manifests[*appsv1.StatefulSet](t, "production")[0].Spec.Replicas
	require.Contains(t, alerts,
		"CofferNATSMissing: (count(jetstream_server_max_storage) or vector(0)) < "+
			strconv.Itoa(int(servers)))
	replicas := manifests[*cnpg.Cluster](t, "production")[0].Spec.Instances - 1
	require.Contains(t, alerts,
		"CofferReplicaMissing: (max(cnpg_pg_replication_streaming_replicas) or vector(0)) < "+
			strconv.Itoa(replicas))
}

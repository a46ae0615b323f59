package k8s

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// connectionReserve is the number of PostgreSQL's connections for superusers, migrations, the
// operator and psql.
const connectionReserve = 30

// demand is the maximum number of connections that pods open: with all replicas, and during a
// rollout, when as many old pods may still be terminating.
type demand struct{ steady, rollout int }

// demands returns the demand of each service, and the total under the key "".
func demands(t *testing.T, overlay string) map[string]demand {
	t.Helper()
	replicas := map[string]int{}
	for _, h := range manifests[*autoscalingv2.HorizontalPodAutoscaler](t, overlay) {
		replicas[h.Spec.ScaleTargetRef.Name] = int(h.Spec.MaxReplicas)
	}
	size := regexp.MustCompile(`pool_max_conns=(\d+)`)
	found := map[string]demand{}
	for _, d := range deployments(t, overlay) {
		url := valueOf(d.Spec.Template.Spec.Containers[0], "DATABASE_URL")
		if url == "" {
			continue
		}
		m := size.FindStringSubmatch(url)
		require.NotNil(t, m, "DATABASE_URL of %s needs pool_max_conns", d.Name)
		pool := number(t, m[1])
		is := demand{
			steady:  pool * (replicas[d.Name] + d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue()),
			rollout: pool * (2 * replicas[d.Name]),
		}
		found[d.Name] = is
		found[""] = demand{found[""].steady + is.steady, found[""].rollout + is.rollout}
	}
	require.Len(t, found, len(services))
	return found
}

// TestConnections compares the connections of the pods with the limits of the poolers and of
// PostgreSQL. Connections are distributed randomly over the poolers, and one of these may be
// unavailable. So each pooler alone must be enough for the steady state.
func TestConnections(t *testing.T) {
	t.Parallel()
	needed := demands(t, "production")
	pooler := manifests[*cnpg.Pooler](t, "production")[0]
	limit := func(name string) int { return number(t, pooler.Spec.PgBouncer.Parameters[name]) }
	instances := int(*pooler.Spec.Instances)
	for service, d := range needed {
		if service == "" {
			continue
		}
		require.LessOrEqual(t, d.steady, limit("default_pool_size"), service)
		require.LessOrEqual(t, d.rollout, instances*limit("default_pool_size"), service)
	}
	require.LessOrEqual(t, needed[""].steady, limit("max_db_connections"))
	require.LessOrEqual(t, needed[""].rollout, instances*limit("max_db_connections"))
	require.LessOrEqual(t, needed[""].rollout, limit("max_client_conn"))
	parameters := manifests[*cnpg.Cluster](t, "production")[0].Spec.PostgresConfiguration.Parameters
	require.LessOrEqual(t, instances*limit("max_db_connections")+connectionReserve,
		number(t, parameters["max_connections"]))

	for _, s := range manifests[*appsv1.StatefulSet](t, "dev") {
		if s.Name == "postgres" {
			m := regexp.MustCompile(`max_connections=(\d+)`).
				FindStringSubmatch(strings.Join(s.Spec.Template.Spec.Containers[0].Command, " "))
			require.LessOrEqual(t, demands(t, "dev")[""].rollout+connectionReserve, number(t, m[1]))
		}
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestRequests checks that a pod in production requests about the CPU that it uses when the
// autoscaler adds another pod.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, d := range deployments(t, "production") {
		resources := d.Spec.Template.Spec.Containers[0].Resources
		require.GreaterOrEqual(t, 4*resources.Requests.Cpu().MilliValue(),
			resources.Limits.Cpu().MilliValue(), "%s may use four times its request", d.Name)
	}
}

// TestPriority checks that the stores have a higher priority than the services. The collector has
// none.
func TestPriority(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		values := map[string]int32{}
		for _, c := range manifests[*schedulingv1.PriorityClass](t, overlay) {
			require.False(t, c.GlobalDefault)
			values[c.Name] = c.Value
		}
		require.Greater(t, values["coffer-stores"], values["coffer"])
		require.Positive(t, values["coffer"])
	}
	eachPod(t, func(t *testing.T, name string, pod corev1.PodSpec) {
		t.Helper()
		want := "coffer"
		switch name {
		case "postgres", "nats", pooler:
			want = "coffer-stores"
		case "collector":
			want = ""
		}
		require.Equal(t, want, pod.PriorityClassName)
	})
	require.Equal(t, "coffer-stores",
		manifests[*cnpg.Cluster](t, "production")[0].Spec.PriorityClassName)
}

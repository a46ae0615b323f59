package k8s

import (
	"math"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// services are the Deployments of Coffer.
var services = []string{"auth", "budget", "gateway", "ledger", "ocr"}

// Times in seconds.
const (
	// drainTime is the time in which internal/rpc and the gateway finish requests in flight, and
	// afterTime the time to close connections and flush telemetry.
	drainTime = 20
	afterTime = 10
	// dnsCache is the TTL of CoreDNS in kubeadm and AKS, and the time for which its cache stores an
	// answer.
	dnsCache = 30
	// nodeCache is the time for which a second cache, NodeLocal DNSCache, may return an answer
	// whose TTL has expired.
	nodeCache = 5
	// resolveInterval is the setting in internal/app: the minimum time between two DNS queries of
	// gRPC.
	resolveInterval = 1
	// endpointDelay is the time until the EndpointSlice is written and DNS has it, plus one
	// repeated DNS query.
	endpointDelay = 7
)

// TestPodSecurity checks the security context of each pod, and that no pod uses resources of its
// node.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, name string, pod corev1.PodSpec) {
		t.Helper()
		require.True(t, *pod.SecurityContext.RunAsNonRoot)
		require.NotZero(t, *pod.SecurityContext.RunAsUser)
		require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault,
			pod.SecurityContext.SeccompProfile.Type)
		// A pooler reads its configuration from the API server.
		require.True(t, name == pooler || !*pod.AutomountServiceAccountToken)
		require.False(t, pod.HostNetwork || pod.HostPID || pod.HostIPC)
		for _, v := range pod.Volumes {
			require.Nil(t, v.HostPath, v.Name)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
			require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
			require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop,
				c.Name)
			require.Empty(t, c.SecurityContext.Capabilities.Add, c.Name)
		}
	})
}

// TestContainerResources checks that each container has requests and limits, and each volume of a
// pod has a size.
func TestContainerResources(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, pod string, spec corev1.PodSpec) {
		t.Helper()
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			for _, name := range []corev1.ResourceName{
				corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
			} {
				require.Contains(t, c.Resources.Requests, name, c.Name)
				require.Contains(t, c.Resources.Limits, name, c.Name)
			}
		}
		for _, v := range spec.Volumes {
			// The operator adds a pooler's volumes.
			require.True(t, pod == pooler || v.EmptyDir == nil || v.EmptyDir.SizeLimit != nil,
				"volume %s", v.Name)
		}
	})
}

// TestContainerProbes checks that each container has all three probes, and services have gRPC
// probes.
func TestContainerProbes(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, name string, pod corev1.PodSpec) {
		t.Helper()
		if name == pooler || pod.RestartPolicy == corev1.RestartPolicyOnFailure {
			t.Skip("the operator sets a pooler's probes, and a Job has none")
		}
		for _, c := range pod.Containers {
			for _, probe := range []*corev1.Probe{
				c.StartupProbe, c.ReadinessProbe, c.LivenessProbe,
			} {
				require.NotNil(t, probe, c.Name)
				if slices.Contains(services, name) && name != "gateway" {
					require.NotNil(t, probe.GRPC, "%s must have gRPC probes", name)
				}
			}
		}
	})
}

// TestImages checks that each image has a tag or a digest, and no tag that moves.
func TestImages(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, _ string, pod corev1.PodSpec) {
		t.Helper()
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			require.Regexp(t, `^[^:@]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$`, c.Image)
			require.Regexp(t, `[:@]`, c.Image)
			require.NotRegexp(t, `:(latest|main)\b`, c.Image)
		}
	})
}

// TestVariableReferences checks that each $(NAME) refers to a variable that is defined before it.
// Otherwise Kubernetes does not replace it.
func TestVariableReferences(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile(`\$\((\w+)\)`)
	eachPod(t, func(t *testing.T, _ string, pod corev1.PodSpec) {
		t.Helper()
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			known := map[string]bool{}
			for _, e := range c.Env {
				for _, m := range reference.FindAllStringSubmatch(e.Value, -1) {
					require.True(t, known[m[1]], "%s of %s refers to %s", e.Name, c.Name, m[1])
				}
				require.False(t, known[e.Name], "%s twice", e.Name)
				known[e.Name] = true
			}
		}
	})
}

// TestTermination checks that a pod serves until no DNS cache has its address, and then has time to
// finish its requests.
func TestTermination(t *testing.T) {
	t.Parallel()
	age := connectionAge(t)
	for _, overlay := range overlays {
		for _, d := range deployments(t, overlay) {
			pod := d.Spec.Template.Spec
			require.Zero(t, d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue(), d.Name)
			require.NotZero(t, d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue(), d.Name)
			sleep := pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds
			if d.Name == "gateway" {
				require.GreaterOrEqual(t, sleep, int64(5),
					"proxies watch the endpoints of its Service")
			} else {
				require.GreaterOrEqual(t, sleep,
					int64(dnsCache+nodeCache+age+resolveInterval+endpointDelay), d.Name)
				require.Empty(t, valueOf(pod.Containers[0], maxConnectionAge),
					"%s: preStop fits the default", d.Name)
			}
			require.GreaterOrEqual(t, *pod.TerminationGracePeriodSeconds, sleep+drainTime+afterTime,
				d.Name)
			for _, s := range pod.TopologySpreadConstraints {
				require.Contains(t, s.MatchLabelKeys, "app.kubernetes.io/name", d.Name)
			}
			require.NotEmpty(t, pod.TopologySpreadConstraints, d.Name)
		}
	}
}

const maxConnectionAge = "MAX_CONNECTION_AGE"

// connectionAge returns the default of MAX_CONNECTION_AGE plus 10 %, in full seconds: the time
// after which each caller has resolved the name of a service again.
func connectionAge(t *testing.T) int {
	t.Helper()
	code, err := os.ReadFile("../../internal/rpc/server.go")
	require.NoError(t, err)
	setting := regexp.MustCompile(`env:"` + maxConnectionAge + `" envDefault:"(\w+)"`).
		FindSubmatch(code)
	require.NotNil(t, setting, "the setting was renamed")
	age, err := time.ParseDuration(string(setting[1]))
	require.NoError(t, err)
	require.Positive(t, age, "0 means no limit")
	return int(math.Ceil(1.1 * age.Seconds()))
}

// TestScaling checks that each service has an autoscaler with at least two replicas, and a
// PodDisruptionBudget.
func TestScaling(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		var deployed, scaled, disrupted []string
		for _, d := range deployments(t, overlay) {
			deployed = append(deployed, d.Name)
			require.Nil(t, d.Spec.Replicas, "the autoscaler must set the number of replicas")
		}
		for _, h := range manifests[*autoscalingv2.HorizontalPodAutoscaler](t, overlay) {
			scaled = append(scaled, h.Spec.ScaleTargetRef.Name)
			require.GreaterOrEqual(t, *h.Spec.MinReplicas, int32(2))
			require.Len(t, h.Spec.Metrics, 1)
			// The scheduler places pods by their requests. With 70 %, pods rarely use more CPU than
			// they request.
			require.Equal(t, int32(70), *h.Spec.Metrics[0].Resource.Target.AverageUtilization)
		}
		for _, p := range manifests[*policyv1.PodDisruptionBudget](t, overlay) {
			require.Equal(t, 1, p.Spec.MaxUnavailable.IntValue())
			if slices.Contains(services, p.Name) {
				disrupted = append(disrupted, p.Spec.Selector.MatchLabels["app.kubernetes.io/name"])
			}
		}
		require.ElementsMatch(t, services, deployed)
		require.ElementsMatch(t, services, scaled)
		require.ElementsMatch(t, services, disrupted)
	}
}

// TestHeadlessServices checks that all Services are headless except the gateway's, so that callers
// see each pod.
func TestHeadlessServices(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		for _, s := range manifests[*corev1.Service](t, overlay) {
			require.Equal(t, s.Name != "gateway", s.Spec.ClusterIP == corev1.ClusterIPNone, s.Name)
			require.Equal(t, s.Name, s.Spec.Selector["app.kubernetes.io/name"])
		}
	}
}

// TestNamespace checks that the namespace enforces the restricted Pod Security Standard.
func TestNamespace(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		for _, n := range manifests[*corev1.Namespace](t, overlay) {
			require.Equal(t, "restricted", n.Labels["pod-security.kubernetes.io/enforce"])
		}
	}
}

// TestDatabaseBootstrapSQL checks that the SQL files for a new database exist. kustomize does not
// know the field that refers to them.
func TestDatabaseBootstrapSQL(t *testing.T) {
	t.Parallel()
	files := map[string]map[string]string{}
	for _, c := range manifests[*corev1.ConfigMap](t, "production") {
		files[c.Name] = c.Data
	}
	for _, cluster := range manifests[*cnpg.Cluster](t, "production") {
		for _, ref := range cluster.Spec.Bootstrap.InitDB.PostInitApplicationSQLRefs.ConfigMapRefs {
			require.Contains(t, files[ref.Name], ref.Key, ref.Name)
		}
	}
}

// deployments returns the Deployments of the services.
func deployments(t *testing.T, overlay string) []*appsv1.Deployment {
	t.Helper()
	return slices.DeleteFunc(manifests[*appsv1.Deployment](t, overlay),
		func(d *appsv1.Deployment) bool { return !slices.Contains(services, d.Name) })
}

// eachPod runs a check on each pod of all overlays, as a subtest.
func eachPod(t *testing.T, check func(t *testing.T, name string, pod corev1.PodSpec)) {
	t.Helper()
	for _, overlay := range overlays {
		for _, d := range slices.Concat(manifests[*appsv1.Deployment](t, overlay),
			poolers(t, overlay)) {
			t.Run(overlay+"/"+d.Name, func(t *testing.T) { check(t, d.Name, d.Spec.Template.Spec) })
		}
		for _, s := range manifests[*appsv1.StatefulSet](t, overlay) {
			t.Run(overlay+"/"+s.Name, func(t *testing.T) { check(t, s.Name, s.Spec.Template.Spec) })
		}
		for _, j := range manifests[*batchv1.Job](t, overlay) {
			t.Run(overlay+"/"+j.Name, func(t *testing.T) { check(t, j.Name, j.Spec.Template.Spec) })
		}
	}
}

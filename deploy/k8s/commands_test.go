package k8s

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestCommandsInOperations checks that each workload and container in a command of the operations
// page exists in production.
func TestCommandsInOperations(t *testing.T) {
	t.Parallel()
	containers := map[string][]string{}
	add := func(workload string, pod corev1.PodSpec) {
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			containers[workload] = append(containers[workload], c.Name)
		}
	}
	for _, d := range manifests[*appsv1.Deployment](t, "production") {
		add("deploy/"+d.Name, d.Spec.Template.Spec)
		add("deployment/"+d.Name, d.Spec.Template.Spec)
	}
	for _, s := range manifests[*appsv1.StatefulSet](t, "production") {
		add("statefulset/"+s.Name, s.Spec.Template.Spec)
		add(s.Name+"-0", s.Spec.Template.Spec)
	}
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	named := regexp.MustCompile(`(?:exec|logs|restart|scale) `+
		`((?:deploy|deployment|statefulset)/[a-z]+|[a-z]+-0)\b(?: -c ([a-z-]+))?`).
		FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 5)
	for _, m := range named {
		require.Contains(t, containers, m[1], m[0])
		if m[2] != "" {
			require.Contains(t, containers[m[1]], m[2], m[0])
		}
	}
}

package k8s

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const versionLabel = "app.kubernetes.io/version"

// TestRelease checks that production contains a single release: each object has its version, and
// each image has a digest.
func TestRelease(t *testing.T) {
	t.Parallel()
	versions := map[string]bool{}
	pinned := func(name string, labels, templateLabels map[string]string, pod corev1.PodSpec) {
		versions[labels[versionLabel]] = true
		require.Equal(t, labels[versionLabel], templateLabels[versionLabel], name)
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			require.Regexp(t, `^ghcr\.io/coffer-budget/\w+:`+labels[versionLabel]+
				`@sha256:[0-9a-f]{64}$`, c.Image, name)
		}
	}
	for _, d := range deployments(t, "production") {
		pinned(d.Name, d.Labels, d.Spec.Template.Labels, d.Spec.Template.Spec)
		require.NotContains(t, d.Spec.Selector.MatchLabels, versionLabel, "selectors are immutable")
	}
	for _, j := range manifests[*batchv1.Job](t, "production") {
		pinned(j.Name, j.Labels, j.Spec.Template.Labels, j.Spec.Template.Spec)
		suffix := "-" + strings.ReplaceAll(j.Labels[versionLabel], ".", "-")
		require.True(t, strings.HasSuffix(j.Name, suffix), "%s: a Job is immutable", j.Name)
	}
	require.Len(t, versions, 1)
	require.NotContains(t, versions, "")
}

// TestMigration checks the order of an upgrade: one Job per release migrates a schema, new pods
// wait for it with a role that cannot change the schema, and old pods run until new ones are ready
// (TestTermination).
func TestMigration(t *testing.T) {
	t.Parallel()
	for _, overlay := range overlays {
		images := map[string]string{}
		for _, j := range manifests[*batchv1.Job](t, overlay) {
			c := j.Spec.Template.Spec.Containers[0]
			require.Equal(t, []string{"migrate"}, c.Args, j.Name)
			require.Empty(t, j.Spec.Template.Spec.InitContainers)
			require.Equal(t, "migration", j.Spec.Template.Labels[nameLabel],
				"a service's Service must not send requests to it")
			images[c.Image] = j.Name
			require.Equal(t, []string{"database-owner"}, secretsOf(c), j.Name)
		}
		require.Len(t, images, len(services)-1)
		for _, d := range deployments(t, overlay) {
			pod := d.Spec.Template.Spec
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				require.NotContains(t, secretsOf(c), "database-owner", d.Name)
			}
			if d.Name == "gateway" {
				require.Empty(t, pod.InitContainers)
				continue
			}
			await, service := pod.InitContainers[0], pod.Containers[0]
			require.Equal(t, []string{"await-schema"}, await.Args, d.Name)
			require.Equal(t, service.Image, await.Image, d.Name)
			require.Contains(t, images, service.Image, "%s: no Job migrates its schema", d.Name)
			require.Equal(t, []string{"database-" + d.Name}, secretsOf(await), d.Name)
			require.Equal(t, valueOf(service, "DATABASE_URL"), valueOf(await, "DATABASE_URL"),
				d.Name)
		}
	}
}

// TestPasswords checks that each password is in one variable only.
func TestPasswords(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, name string, pod corev1.PodSpec) {
		t.Helper()
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			secrets := secretsOf(c)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(secrets))), len(secrets),
				"%s of %s", c.Name, name)
			for _, e := range c.Env {
				require.NotContains(t, e.Value, "PASSWORD)", "%s of %s", c.Name, name)
			}
		}
	})
}

// generated matches the suffix that kustomize gives the names of generated secrets.
var generated = regexp.MustCompile(`-[a-z0-9]{10}$`)

// secretsOf lists the secrets in a container's environment.
func secretsOf(c corev1.Container) []string {
	var names []string
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			names = append(names, generated.ReplaceAllString(e.ValueFrom.SecretKeyRef.Name, ""))
		}
	}
	return names
}

func valueOf(c corev1.Container, variable string) string {
	for _, e := range c.Env {
		if e.Name == variable {
			return e.Value
		}
	}
	return ""
}

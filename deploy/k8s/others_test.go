package k8s

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// othersFile names the images of other projects. The workflow release adds their digests to it.
const othersFile = "overlays/production/others/kustomization.yaml"

var otherImage = regexp.MustCompile(`name: ([a-z0-9./-]+), newTag: |value: ([^\s:]+):`)

// imagesOfOthers returns the images of other projects in an overlay.
func imagesOfOthers(t *testing.T, overlay string) []string {
	t.Helper()
	var pods []corev1.PodSpec
	for _, d := range manifests[*appsv1.Deployment](t, overlay) {
		pods = append(pods, d.Spec.Template.Spec)
	}
	for _, s := range manifests[*appsv1.StatefulSet](t, overlay) {
		pods = append(pods, s.Spec.Template.Spec)
	}
	for _, j := range manifests[*batchv1.Job](t, overlay) {
		pods = append(pods, j.Spec.Template.Spec)
	}
	for _, c := range manifests[*batchv1.CronJob](t, overlay) {
		pods = append(pods, c.Spec.JobTemplate.Spec.Template.Spec)
	}
	images := []string{manifests[*cnpg.Cluster](t, overlay)[0].Spec.ImageName}
	for _, pod := range pods {
		for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
			for _, c := range containers {
				if !strings.HasPrefix(c.Image, "ghcr.io/coffer-budget/") {
					images = append(images, c.Image)
				}
			}
		}
	}
	return images
}

// TestImagesOfOthers checks that each image of another project in production, and in its restore
// drill, is in the file whose digests a release adds. In a release, each one has a digest.
func TestImagesOfOthers(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(othersFile)
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, found := range otherImage.FindAllStringSubmatch(string(file), -1) {
		listed[found[1]+found[2]] = true
	}
	version := deployments(t, "production")[0].Labels[versionLabel]
	used := map[string]bool{}
	for _, image := range imagesOfOthers(t, withDrill(t)) {
		name, tag, _ := strings.Cut(image, ":")
		require.True(t, listed[name], "%s is not in %s", image, othersFile)
		require.Regexp(t, `^v?[0-9]`, tag, "%s needs a version", image)
		used[name] = true
		if version != "0.0.0" {
			require.Regexp(t, `@sha256:[0-9a-f]{64}$`, image)
		}
	}
	require.Equal(t, used, listed)
}

// TestPin runs the script of the workflow release, with a program that replaces skopeo, on the
// images of production and of compose. Each image gets a digest, and a second run replaces it.
func TestPin(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	skopeo := "#!/bin/sh\ncat " + folder + "/manifest\n"
	//nolint:gosec // It is a program.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "skopeo"), []byte(skopeo), 0o700))
	for from, images := range map[string]int{othersFile: 5, "../compose/compose.yaml": 2} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		file := filepath.Join(folder, filepath.Base(from))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		for manifest, digest := range map[string]string{
			"one": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
			"two": "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "manifest"), []byte(manifest),
				0o600))
			pin := exec.CommandContext(t.Context(), "../../tools/release/pin.sh", file)
			pin.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
			output, err := pin.CombinedOutput()
			require.NoError(t, err, string(output))
			pinned, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, images, strings.Count(string(pinned), "sha256:"+digest))
			require.Equal(t, images, strings.Count(string(pinned), "sha256:"))
		}
	}
}

package k8s

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// TestRemoteOverlay builds the overlay of docs/operations.md, which refers to a tag of this
// repository, and checks that its values are in the objects. The repository is a copy of these
// files on disk, with the tag.
func TestRemoteOverlay(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, overlay, found := strings.Cut(string(page), "```yaml\n   # kustomization.yaml\n")
	require.True(t, found, "the page has no overlay")
	overlay, _, _ = strings.Cut(overlay, "```")
	overlay = strings.ReplaceAll("\n"+overlay, "\n   ", "\n")
	repository := repository(t)
	overlay = strings.ReplaceAll(overlay, "https://github.com/coffer-budget/coffer",
		"file://"+repository)

	dir := t.TempDir()
	path := filepath.Join(dir, "kustomization.yaml")
	require.NoError(t, os.WriteFile(path, []byte(overlay), 0o600))
	objects, err := build(dir)
	require.NoError(t, err)
	require.Len(t, objects, len(render(t, "production")))

	gateway := find[*gatewayv1.Gateway](t, objects, "coffer")
	require.Equal(t, "budget.example.org", string(*gateway.Spec.Listeners[0].Hostname))
	require.Equal(t, "budget.example.org", string(*gateway.Spec.Listeners[1].Hostname))
	require.EqualValues(t, "envoy", gateway.Spec.GatewayClassName)
	for _, name := range []string{"coffer", "to-https"} {
		route := find[*gatewayv1.HTTPRoute](t, objects, name)
		require.Equal(t, []gatewayv1.Hostname{"budget.example.org"}, route.Spec.Hostnames)
	}
	certificate := find[*certmanager.Certificate](t, objects, "coffer")
	require.Equal(t, []string{"budget.example.org"}, certificate.Spec.DNSNames)
	require.Equal(t, "letsencrypt-dns", certificate.Spec.IssuerRef.Name)
	cluster := find[*cnpg.Cluster](t, objects, "postgres")
	require.Equal(t, "500Gi", cluster.Spec.StorageConfiguration.Size)
	require.Equal(t, corev1.LabelTopologyZone, cluster.Spec.Affinity.TopologyKey)
	nats := find[*appsv1.StatefulSet](t, objects, "nats")
	spread := nats.Spec.Template.Spec.TopologySpreadConstraints
	require.Equal(t, corev1.LabelTopologyZone, spread[0].TopologyKey)
	require.Equal(t, corev1.DoNotSchedule, spread[0].WhenUnsatisfiable)
}

// repository commits the folder deploy to a repository, with the tag of the page.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS("..")))
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"config", "user.name", "test"},
		{"config", "user.email", "test@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "-m", "test"},
		{"tag", "v1.2.3"},
	} {
		git := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

func find[T runtime.Object](t *testing.T, objects []runtime.Object, name string) T {
	t.Helper()
	for _, object := range objects {
		if o, ok := object.(T); ok && any(o).(interface{ GetName() string }).GetName() == name {
			return o
		}
	}
	require.Fail(t, "there is no such object", name)
	panic("unreachable")
}

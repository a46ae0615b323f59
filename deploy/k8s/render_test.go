// Package k8s checks the manifests in this folder. make k8s-check runs it.
//
// The tests build both overlays with kustomize and decode the objects strictly into the types of
// Kubernetes and of the operators. Then they check the security and the resources of the pods, the
// network policies against the call graph, the connections to the database, and the order of an
// upgrade. They need no cluster, except those in cluster_test.go, which make k8s-test runs.
package k8s

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var overlays = []string{"dev", "production"}

// untyped are kinds of operators that publish no Go module with their types. Their fields are not
// checked.
var untyped = map[string]bool{
	"barmancloud.cnpg.io/v1 ObjectStore": true, "external-secrets.io/v1 ExternalSecret": true,
}

// manifests returns the objects of one type in an overlay. There must be at least one.
func manifests[T runtime.Object](t *testing.T, overlay string) []T {
	t.Helper()
	var found []T
	for _, object := range render(t, overlay) {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// customized adds components to the production overlay, as an operator does, and changes a
// ConfigMap by an entry of configMapGenerator. It returns the name of the overlay.
func customized(t *testing.T, config string, components ...string) string {
	t.Helper()
	overlay := t.TempDir()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	// Kustomize accepts relative paths only.
	root, err := filepath.Rel(overlay, here)
	require.NoError(t, err)
	var paths []string
	for _, c := range components {
		paths = append(paths, root+"/components/"+c)
	}
	require.NoError(t, os.WriteFile(filepath.Join(overlay, "kustomization.yaml"),
		fmt.Appendf(nil, `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%s/overlays/production]
components: [%s]
namespace: coffer
configMapGenerator:
  - %s
`, root, strings.Join(paths, ", "), config), 0o600))
	name, err := filepath.Rel(filepath.Join(here, "overlays"), overlay)
	require.NoError(t, err)
	return name
}

var rendered sync.Map

// render returns the objects of an overlay. It builds each overlay once, and decodes it strictly:
// unknown and duplicate fields are errors.
func render(t *testing.T, overlay string) []runtime.Object {
	t.Helper()
	once, _ := rendered.LoadOrStore(overlay,
		sync.OnceValues(func() ([]runtime.Object, error) { return build("overlays/" + overlay) }))
	objects, err := once.(func() ([]runtime.Object, error))()
	require.NoError(t, err)
	return objects
}

func build(folder string) ([]runtime.Object, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme,
		policyv1.AddToScheme, schedulingv1.AddToScheme,
		gatewayv1.Install, certmanager.AddToScheme, cnpg.AddToScheme, monitoring.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	var objects []runtime.Object
	for _, r := range resources.Resources() {
		if untyped[fmt.Sprint(r.GetGvk().ApiVersion(), " ", r.GetKind())] {
			continue
		}
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.GetKind(), r.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

package k8s

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cnpg "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestServiceCertificates checks that in production each service has a separate certificate for its
// name only.
func TestServiceCertificates(t *testing.T) {
	t.Parallel()
	for _, d := range deployments(t, "production") {
		pod := d.Spec.Template.Spec
		certificate, at := shown(t, pod)
		require.Equal(t, []string{d.Name}, certificate.Spec.DNSNames,
			"the certificate must be for the service's name only")
		environment := map[string]string{}
		for _, e := range pod.Containers[0].Env {
			environment[e.Name] = e.Value
		}
		require.Equal(t, at+"/tls.crt", environment["TLS_CERT"], d.Name)
		require.Equal(t, at+"/tls.key", environment["TLS_KEY"], d.Name)
		require.Equal(t, at+"/ca.crt", environment["TLS_CA"], d.Name)
	}
}

// shown returns the certificate of a pod, and the folder at which it is mounted in the first
// container.
func shown(t *testing.T, pod corev1.PodSpec) (certificate *certmanager.Certificate, at string) {
	t.Helper()
	mounted := slices.DeleteFunc(slices.Clone(pod.Volumes),
		func(v corev1.Volume) bool { return v.Secret == nil })
	require.Len(t, mounted, 1)
	in := slices.DeleteFunc(manifests[*certmanager.Certificate](t, "production"),
		func(c *certmanager.Certificate) bool {
			return c.Spec.SecretName != mounted[0].Secret.SecretName
		})
	require.Len(t, in, 1, "the secret must belong to exactly one certificate")
	require.Equal(t, "authority", in[0].Spec.IssuerRef.Name)
	require.False(t, in[0].Spec.IsCA)
	require.ElementsMatch(t, []certmanager.KeyUsage{
		certmanager.UsageDigitalSignature, certmanager.UsageServerAuth, certmanager.UsageClientAuth,
	}, in[0].Spec.Usages)
	mounts := pod.Containers[0].VolumeMounts
	return in[0], mounts[slices.IndexFunc(mounts,
		func(m corev1.VolumeMount) bool { return m.Name == mounted[0].Name })].MountPath
}

// TestNATSCertificates checks the text of NATS's configuration in production. test/production runs
// servers with it.
func TestNATSCertificates(t *testing.T) {
	t.Parallel()
	set := manifests[*appsv1.StatefulSet](t, "production")[0]
	require.Equal(t, "nats", set.Name)
	pod := set.Spec.Template.Spec
	certificate, at := shown(t, pod)
	names := []string{"nats"}
	for i := range *set.Spec.Replicas {
		names = append(names, fmt.Sprintf("nats-%d.nats", i))
	}
	require.Equal(t, names, certificate.Spec.DNSNames)

	require.Subset(t, pod.Containers[0].Args, []string{"--config", "/etc/nats/tls.conf"})
	config := manifests[*corev1.ConfigMap](t, "production")
	settings := config[slices.IndexFunc(config,
		func(c *corev1.ConfigMap) bool { return strings.HasPrefix(c.Name, "nats-") })].Data
	files := fmt.Sprintf("cert_file: %[1]s/tls.crt, key_file: %[1]s/tls.key, ca_file: %[1]s/ca.crt",
		at)
	require.Contains(t, settings["tls.conf"], "include ./nats.conf")
	require.Contains(t, settings["tls.conf"], "tls { "+files+", verify: true }")
	_, cluster, _ := strings.Cut(settings["nats.conf"], "cluster {")
	require.Contains(t, cluster, files+"\n    verify_cert_and_check_known_urls: true")
	for _, name := range names[1:] {
		require.Contains(t, cluster, "nats-route://"+name+":6222")
	}

	reloader := pod.InitContainers[slices.IndexFunc(pod.InitContainers,
		func(c corev1.Container) bool { return c.Name == "reloader" })]
	require.Equal(t, corev1.ContainerRestartPolicyAlways, *reloader.RestartPolicy,
		"the reloader must run as long as the server")
	require.Subset(t, reloader.Args, []string{at + "/tls.crt", at + "/ca.crt"})
	require.True(t, *pod.ShareProcessNamespace)
}

// TestDatabaseCertificates checks the certificate of PostgreSQL's instances and poolers in
// production, and that services, migrations and poolers verify it.
func TestDatabaseCertificates(t *testing.T) {
	t.Parallel()
	cluster := manifests[*cnpg.Cluster](t, "production")[0]
	pooled := manifests[*cnpg.Pooler](t, "production")[0]
	require.Equal(t, cluster.Spec.Certificates.ServerTLSSecret,
		cluster.Spec.Certificates.ServerCASecret)
	require.Equal(t, "verify-full", pooled.Spec.PgBouncer.Parameters["server_tls_sslmode"])
	certificates := manifests[*certmanager.Certificate](t, "production")
	certificate := certificates[slices.IndexFunc(certificates,
		func(c *certmanager.Certificate) bool {
			return c.Spec.SecretName == cluster.Spec.Certificates.ServerTLSSecret
		})]
	require.Equal(t, "authority", certificate.Spec.IssuerRef.Name,
		"the authority must be the one of the services' certificates")
	require.Contains(t, certificate.Spec.SecretTemplate.Labels, "cnpg.io/reload")

	config := manifests[*corev1.ConfigMap](t, "production")
	settings := config[slices.IndexFunc(config,
		func(c *corev1.ConfigMap) bool { return strings.HasPrefix(c.Name, "coffer-") })].Data
	migration := config[slices.IndexFunc(config,
		func(c *corev1.ConfigMap) bool { return c.Name == "migration" })].Data
	require.Equal(t, "verify-full", settings["DATABASE_TLS"])
	require.Equal(t, "verify-full", migration["DATABASE_TLS"])
	require.ElementsMatch(t, []string{settings["DATABASE_HOST"], migration["DATABASE_HOST"]},
		certificate.Spec.DNSNames)
	require.Equal(t, []string{pooled.Name, cluster.Name + "-rw"},
		[]string{settings["DATABASE_HOST"], migration["DATABASE_HOST"]})

	for _, d := range deployments(t, "production") {
		if d.Name == "gateway" {
			continue
		}
		pod := d.Spec.Template.Spec
		_, at := shown(t, pod)
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			require.Contains(t, c.Env, corev1.EnvVar{Name: "PGSSLROOTCERT", Value: at + "/ca.crt"},
				"%s of %s", c.Name, d.Name)
			require.True(t, slices.ContainsFunc(c.VolumeMounts,
				func(m corev1.VolumeMount) bool { return m.MountPath == at }))
		}
	}
}

// TestMigrationJobCertificates checks that the Jobs have the certificate of the database's
// authority.
func TestMigrationJobCertificates(t *testing.T) {
	t.Parallel()
	cluster := manifests[*cnpg.Cluster](t, "production")[0]
	for _, j := range manifests[*batchv1.Job](t, "production") {
		pod := j.Spec.Template.Spec
		require.Len(t, pod.Volumes, 1)
		secret := pod.Volumes[0].Secret
		require.Equal(t, cluster.Spec.Certificates.ServerCASecret, secret.SecretName)
		require.Equal(t, []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}, secret.Items,
			"the Job must not have a key")
		c := pod.Containers[0]
		require.Contains(t, c.Env,
			corev1.EnvVar{Name: "PGSSLROOTCERT", Value: c.VolumeMounts[0].MountPath + "/ca.crt"})
	}
}

// TestProbesWithoutCertificate checks that gRPC probes use a port without TLS, because the kubelet
// has no certificate.
func TestProbesWithoutCertificate(t *testing.T) {
	t.Parallel()
	eachPod(t, func(t *testing.T, _ string, pod corev1.PodSpec) {
		t.Helper()
		c := pod.Containers[0]
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			if probe == nil || probe.GRPC == nil {
				continue
			}
			require.True(t, slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
				return p.Name == "health" && p.ContainerPort == probe.GRPC.Port
			}))
			require.Contains(t, c.Env, corev1.EnvVar{Name: "HEALTH_ADDR", Value: ":9465"})
			require.Equal(t, int32(9465), probe.GRPC.Port)
		}
	})
}

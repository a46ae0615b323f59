package telemetry

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/stretchr/testify/require"
)

// gauge returns the value of a metric at a time.
type gauge func(now time.Time) float64

// others are the metrics of programs that this stack does not include, with values that fire no
// alert. The names are those in the sources of CloudNativePG 1.27.1 with its default queries, the
// Barman Cloud plugin, the kubelet, cert-manager 1.21.2 and the exporter of NATS, and in the
// documentation of kube-state-metrics. The moves of files are Coffer's own: see
// CofferFilesNotMoved.
var others = map[string]gauge{
	`cnpg_pg_replication_streaming_replicas` +
		`{job="postgres",pod="postgres-1"}`: always(2),
	`cnpg_pg_replication_streaming_replicas` +
		`{job="postgres",pod="postgres-2"}`: always(0),
	`cnpg_collector_pg_wal_archive_status` +
		`{job="postgres",pod="postgres-1",value="done"}`: always(40),
	`cnpg_collector_pg_wal_archive_status` +
		`{job="postgres",pod="postgres-1",value="ready"}`: always(1),
	`barman_cloud_cloudnative_pg_io_last_available_backup_timestamp` +
		`{job="postgres",pod="postgres-1"}`: since(20 * time.Hour),
	`kube_cronjob_status_last_successful_time` +
		`{namespace="coffer",cronjob="restore-drill"}`: since(6 * 24 * time.Hour),
	`kube_cronjob_created{namespace="coffer",cronjob="restore-drill"}`: since(90 * 24 * time.Hour),
	`kubelet_volume_stats_available_bytes` +
		`{namespace="coffer",persistentvolumeclaim="postgres-1"}`: always(60e9),
	`kubelet_volume_stats_capacity_bytes` +
		`{namespace="coffer",persistentvolumeclaim="postgres-1"}`: always(100e9),
	`kubelet_volume_stats_available_bytes` +
		`{namespace="coffer",persistentvolumeclaim="data-nats-0"}`: always(9e9),
	`kubelet_volume_stats_capacity_bytes` +
		`{namespace="coffer",persistentvolumeclaim="data-nats-0"}`: always(10.7e9),
	`certmanager_certificate_renewal_timestamp_seconds` +
		`{exported_namespace="coffer",name="ledger"}`: since(-time.Hour),
	`certmanager_certificate_renewal_timestamp_seconds` +
		`{exported_namespace="coffer",name="nats"}`: since(time.Minute),
	`certmanager_certificate_renewal_timestamp_seconds` +
		`{exported_namespace="another",name="not-coffers"}`: since(24 * time.Hour),
	`kube_pod_container_status_waiting_reason` +
		`{namespace="coffer",pod="ocr-1",container="service",reason="CrashLoopBackOff"}`: always(0),
	`kube_pod_container_status_last_terminated_reason` +
		`{namespace="coffer",pod="ocr-1",container="service",reason="OOMKilled"}`: always(0),
	`kube_pod_container_status_last_terminated_timestamp` +
		`{namespace="coffer",pod="ocr-1",container="service"}`: since(10 * time.Minute),
	`kube_horizontalpodautoscaler_status_current_replicas` +
		`{namespace="coffer",horizontalpodautoscaler="ledger"}`: always(2),
	`kube_horizontalpodautoscaler_spec_max_replicas` +
		`{namespace="coffer",horizontalpodautoscaler="ledger"}`: always(6),
	`cnpg_pgbouncer_pools_cl_waiting` +
		`{pod="postgres-pooler-1",database="coffer",user="ledger"}`: always(0),
	`jetstream_server_max_storage{job="nats",pod="nats-0"}`:         always(8e9),
	`jetstream_server_max_storage{job="nats",pod="nats-1"}`:         always(8e9),
	`jetstream_server_max_storage{job="nats",pod="nats-2"}`:         always(8e9),
	`jetstream_server_total_message_bytes{job="nats",pod="nats-0"}`: always(1e9),
	`gnatsd_varz_slow_consumers{job="nats",pod="nats-1"}`:           always(3),
	`ledger_files_moves_total{pod="ledger-1",outcome="moved"}`:      always(40),
	`ledger_files_moves_total{pod="ledger-1",outcome="failed"}`:     always(2),
	`ledger_files_moves_total{pod="ledger-1",outcome="damaged"}`:    always(0),
}

func always(value float64) gauge { return func(time.Time) float64 { return value } }

func since(age time.Duration) gauge {
	return func(now time.Time) float64 { return float64(now.Add(-age).Unix()) }
}

// growing is a counter that counts one event a minute.
func growing(now time.Time) float64 { return float64(now.Unix() / 60) }

// missing is the value of a metric that the program does not have now.
func missing(time.Time) float64 { return math.NaN() }

// measured replaces the value of one of the others.
func measured(series string, wrong gauge) trouble {
	return func(t *testing.T, _ user) (again, end func()) {
		t.Helper()
		normal := others[series]
		require.NotNil(t, normal)
		others[series] = wrong
		return func() {}, func() { others[series] = normal }
	}
}

func seriesOf(t *testing.T, text string) labels.Labels {
	t.Helper()
	series, err := language.ParseMetric(text)
	require.NoError(t, err)
	return series
}

// TestAlertsWithoutMetrics lists the alerts that fire if Prometheus has no metrics at all.
func TestAlertsWithoutMetrics(t *testing.T) {
	t.Parallel()
	prometheus := newPrometheus(t)
	var fired []string
	for _, rule := range rules(t) {
		if len(prometheus.query(rule.Expr)) > 0 {
			fired = append(fired, rule.Alert)
		}
	}
	require.Equal(t, []string{
		"CofferServiceDown", "CofferReplicaMissing", "CofferBackupMissing",
		"CofferCertificateOverdue", "CofferNATSMissing",
	}, fired)
}

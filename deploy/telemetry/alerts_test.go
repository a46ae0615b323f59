package telemetry

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// trouble causes an alert. The test calls again repeatedly until the alert fires, and then end,
// which removes the cause.
type trouble func(t *testing.T, u user) (again, end func())

// troubles maps each alert to a cause. docs/operations.md describes the causes in the alerts'
// sections.
var troubles = map[string]trouble{
	"CofferServiceDown":     halted("ocr", func(user) {}),
	"CofferErrors":          halted("postgres", func(u user) { u.readWallet(20) }),
	"CofferErrorsOverHours": halted("ledger", func(u user) { u.readWallet(20) }),
	"CofferOverload": locked("ledger.wallet_balances",
		func(u user) { u.earn(400 * runtime.GOMAXPROCS(0)) }),
	"CofferSlow": slow("ledger.wallets", time.Second,
		func(u user) { u.readWallet(10) }),
	"CofferPoolExhausted": slow("ledger.wallets", 3*time.Second,
		func(u user) { u.readWallet(80) }),
	"CofferConnectionsRefused": tooManyConnections,
	"CofferInternalErrors":     missingTable,
	"CofferOutboxStuck":        halted("nats", oldEvents),
	"CofferConsumerBehind":     slowConsumer,
	"CofferReferencesStuck":    halted("ledger", oldReport),
	"CofferDeletionStuck":      stuckDeletion,
	"CofferWritesQueue":        locked("ledger.wallet_balances", func(u user) { u.earn(500) }),
	"CofferTotalsDiffer":       differingTotal,
	"CofferStorageLow":         fullVolume,
	"CofferImportStuck":        stuckImport,
	"CofferImportFails":        failingImport,
	"CofferWebhooksFail":       deadWebhook,
	"CofferReceiptsTurnedAway": func(_ *testing.T, u user) (again, end func()) {
		return func() { u.upload(6) }, func() {}
	},
	"CofferReceiptsFail":     brokenEngine,
	"CofferNeuralEngineDown": brokenNeuralEngine,

	// The stack has no object store. TestMeasure of package files causes these counts.
	"CofferFilesNotMoved": measured(`ledger_files_moves_total{pod="ledger-1",outcome="failed"}`,
		growing),
	"CofferFilesDamaged": measured(`ledger_files_moves_total{pod="ledger-1",outcome="damaged"}`,
		growing),

	"CofferReplicaMissing": measured(
		`cnpg_pg_replication_streaming_replicas{job="postgres",pod="postgres-1"}`, always(1),
	),
	"CofferArchiveBehind": measured(
		`cnpg_collector_pg_wal_archive_status{job="postgres",pod="postgres-1",value="ready"}`,
		always(4),
	),
	"CofferBackupMissing": measured(
		`barman_cloud_cloudnative_pg_io_last_available_backup_timestamp`+
			`{job="postgres",pod="postgres-1"}`,
		since(31*time.Hour),
	),
	"CofferRestoreDrill": measured(
		`kube_cronjob_status_last_successful_time{namespace="coffer",cronjob="restore-drill"}`,
		since(9*24*time.Hour),
	),
	"CofferVolumeFilling": measured(
		`kubelet_volume_stats_available_bytes`+
			`{namespace="coffer",persistentvolumeclaim="data-nats-0"}`,
		always(2.7e9),
	),
	"CofferCertificateOverdue": measured(
		`certmanager_certificate_renewal_timestamp_seconds`+
			`{exported_namespace="coffer",name="ledger"}`,
		since(7*time.Hour),
	),
	"CofferCrashLoop": measured(
		`kube_pod_container_status_waiting_reason`+
			`{namespace="coffer",pod="ocr-1",container="service",reason="CrashLoopBackOff"}`,
		always(1),
	),
	"CofferOutOfMemory": measured(
		`kube_pod_container_status_last_terminated_reason`+
			`{namespace="coffer",pod="ocr-1",container="service",reason="OOMKilled"}`,
		always(1),
	),
	"CofferAutoscalerAtMaximum": measured(
		`kube_horizontalpodautoscaler_status_current_replicas`+
			`{namespace="coffer",horizontalpodautoscaler="ledger"}`,
		always(6),
	),
	"CofferPoolerWaits": measured(
		`cnpg_pgbouncer_pools_cl_waiting{pod="postgres-pooler-1",database="coffer",user="ledger"}`,
		always(12),
	),
	"CofferNATSMissing": measured(
		`jetstream_server_max_storage{job="nats",pod="nats-2"}`, missing,
	),
	"CofferNATSStorageLow": measured(
		`jetstream_server_total_message_bytes{job="nats",pod="nats-0"}`, always(7e9),
	),
	"CofferNATSSlowConsumer": measured(
		`gnatsd_varz_slow_consumers{job="nats",pod="nats-1"}`, growing,
	),
}

// maxWait limits the wait for a metric to change. The slowest one takes two passes of the ledger's
// verification, see differingTotal.
const maxWait = 5 * time.Minute

// TestAlerts triggers each alert on a running stack, and requires that it ends with its cause.
//
//nolint:paralleltest // The stack can have only one trouble at a time.
func TestAlerts(t *testing.T) {
	for _, rule := range rules(t) {
		t.Run(rule.Alert, func(t *testing.T) {
			require.Contains(t, troubles, rule.Alert, "the alert needs a cause in this test")
			if rule.Alert == "CofferStorageLow" && !ownVolume {
				t.Skip("mounting a small file system needs root")
			}
			prometheus, u := newPrometheus(t), newUser(t)
			u.readWallet(1)
			prometheus.scrape(7 * time.Hour)
			require.Empty(t, prometheus.query(rule.Expr), "the alert fires without a cause")
			again, end := troubles[rule.Alert](t, u)
			for range 100 {
				again()
				prometheus.scrape(time.Minute)
				if len(prometheus.query(rule.Expr)) > 0 {
					break
				}
			}
			fired := prometheus.query(rule.Expr)
			end()
			require.NotEmpty(t, fired)
			require.Eventually(t, func() bool {
				prometheus.scrape(40 * time.Minute)
				return len(prometheus.query(rule.Expr)) == 0
			}, maxWait, time.Second, "the alert still fires after its cause has ended")
		})
	}
}

// TestServiceDownWithoutInstances covers a service without pods: it is scaled to zero, or its pods
// cannot be created.
//
//nolint:paralleltest // Other tests stop services that must be up here.
func TestServiceDownWithoutInstances(t *testing.T) {
	all := rules(t)
	down := all[slices.IndexFunc(all,
		func(r rulefmt.Rule) bool { return r.Alert == "CofferServiceDown" })]
	for service := range upness(t.Context()) {
		prometheus := newPrometheus(t)
		prometheus.unknown = service
		prometheus.scrape(time.Minute)
		fired := prometheus.query(down.Expr)
		require.Len(t, fired, 1)
		require.Equal(t, service, fired[0].Metric.Get("job"),
			"the summary contains the service's name")
	}
}

// TestAlertSections requires that each alert has a section in docs/operations.md, and its address.
func TestAlertSections(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	for _, rule := range rules(t) {
		require.Contains(t, string(page), "\n### "+rule.Alert+"\n")
		require.Contains(t, rule.Labels, "severity", rule.Alert)
		require.Contains(t, rule.Annotations, "summary", rule.Alert)
		require.Equal(t, "https://github.com/coffer-budget/coffer/blob/main/docs/operations.md#"+
			strings.ToLower(rule.Alert), rule.Annotations["runbook_url"])
	}
}

// metricsIn returns the names of the metrics in an expression.
func metricsIn(t *testing.T, expr string) []string {
	t.Helper()
	parsed, err := language.ParseExpr(expr)
	require.NoError(t, err, expr)
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names = append(names, strings.TrimSpace(selector.Name))
		}
		return nil
	})
	return names
}

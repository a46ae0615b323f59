package telemetry

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// trouble is how an alert is brought about: what there is to do again and again while it lasts, and how it ends.
type trouble func(t *testing.T, p person) (again, end func())

// troubles are what docs/operations.md tells of under each alert's name.
var troubles = map[string]trouble{
	"CofferServiceDown":        halted("ocr", func(person) {}),
	"CofferErrors":             halted("postgres", func(p person) { p.look(20) }),
	"CofferErrorsOverHours":    halted("ledger", func(p person) { p.look(20) }),
	"CofferOverload":           locked("ledger.wallet_balances", func(p person) { p.earn(400 * runtime.GOMAXPROCS(0)) }),
	"CofferSlow":               slow("ledger.wallets", time.Second, func(p person) { p.look(10) }),
	"CofferPoolExhausted":      slow("ledger.wallets", 3*time.Second, func(p person) { p.look(80) }),
	"CofferInternalErrors":     aTableIsMissing,
	"CofferOutboxStuck":        halted("nats", eventsWait),
	"CofferConsumerBehind":     aConsumerWaits,
	"CofferReferencesStuck":    halted("ledger", aReportIsOld),
	"CofferWritesQueue":        locked("ledger.wallet_balances", func(p person) { p.earn(500) }),
	"CofferTotalsDiffer":       aTotalDiffers,
	"CofferReceiptsTurnedAway": func(_ *testing.T, p person) (again, end func()) { return func() { p.upload(6) }, func() {} },
	"CofferReceiptsFail":       theEngineIsBroken,

	"CofferReplicaMissing":     measured(`cnpg_pg_replication_streaming_replicas{job="postgres",pod="postgres-1"}`, always(1)),
	"CofferArchiveBehind":      measured(`cnpg_collector_pg_wal_archive_status{job="postgres",pod="postgres-1",value="ready"}`, always(4)),
	"CofferBackupMissing":      measured(`barman_cloud_cloudnative_pg_io_last_available_backup_timestamp{job="postgres",pod="postgres-1"}`, since(31*time.Hour)),
	"CofferVolumeFilling":      measured(`kubelet_volume_stats_available_bytes{namespace="coffer",persistentvolumeclaim="data-nats-0"}`, always(2.7e9)),
	"CofferCertificateOverdue": measured(`certmanager_certificate_renewal_timestamp_seconds{exported_namespace="coffer",name="ledger"}`, since(7*time.Hour)),
}

// TestEachAlertComesWithItsCauseAndGoesWithIt brings about what the alerts are for, one after the other, on a running stack.
//
//nolint:paralleltest // There is one stack, and one trouble at a time.
func TestEachAlertComesWithItsCauseAndGoesWithIt(t *testing.T) {
	for _, rule := range rules(t) {
		t.Run(rule.Alert, func(t *testing.T) {
			require.Contains(t, troubles, rule.Alert, "how it comes about")
			prometheus, p := newPrometheus(t), newPerson(t)
			p.look(1)
			prometheus.scrape(7 * time.Hour)
			require.Empty(t, prometheus.query(rule.Expr), "without a cause")
			again, end := troubles[rule.Alert](t, p)
			for range 20 {
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
			}, 30*time.Second, 100*time.Millisecond, "after its cause")
		})
	}
}

// TestAServiceWithoutInstancesIsDownToo is about one that is scaled to nothing, or whose pods nobody can make.
//
//nolint:paralleltest // The others stop what must be up here.
func TestAServiceWithoutInstancesIsDownToo(t *testing.T) {
	all := rules(t)
	down := all[slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == "CofferServiceDown" })]
	for service := range upness(t.Context()) {
		prometheus := newPrometheus(t)
		prometheus.unknown = service
		prometheus.scrape(time.Minute)
		fired := prometheus.query(down.Expr)
		require.Len(t, fired, 1)
		require.Equal(t, service, fired[0].Metric.Get("job"), "the summary names it")
	}
}

func halted(part string, meanwhile func(person)) trouble {
	return func(t *testing.T, p person) (again, end func()) {
		t.Helper()
		require.NoError(t, stack.Halt(part))
		return func() { meanwhile(p) }, func() { require.NoError(t, stack.Resume(t.Context(), part)) }
	}
}

// locked keeps a table from the service, and has people ask for it.
func locked(table string, meanwhile func(person)) trouble {
	return func(t *testing.T, p person) (again, end func()) {
		t.Helper()
		release := lock(t, table)
		var asking sync.WaitGroup
		asking.Go(func() { meanwhile(p) })
		return func() { time.Sleep(200 * time.Millisecond) }, func() { release(); asking.Wait() }
	}
}

// slow has a service wait for a table for a time, again and again.
func slow(table string, during time.Duration, meanwhile func(person)) trouble {
	return func(t *testing.T, p person) (again, end func()) {
		t.Helper()
		return func() {
			release := lock(t, table)
			time.AfterFunc(during, release)
			meanwhile(p)
		}, func() {}
	}
}

// lock holds a table until release is called.
func lock(t *testing.T, table string) (release func()) {
	t.Helper()
	var holding sync.WaitGroup
	taken, done := make(chan struct{}), make(chan struct{})
	holding.Go(func() { asSuperuser(t, `LOCK TABLE `+table, func() { close(taken); <-done }) })
	<-taken
	return func() { close(done); holding.Wait() }
}

func aTableIsMissing(t *testing.T, p person) (again, end func()) {
	t.Helper()
	asSuperuser(t, `ALTER TABLE ledger.wallets RENAME TO mislaid`, nil)
	return func() { p.look(5) }, func() { asSuperuser(t, `ALTER TABLE ledger.mislaid RENAME TO wallets`, nil) }
}

// eventsWait makes them older than they are.
func eventsWait(p person) {
	p.earn(1)
	asSuperuser(p.t, `UPDATE ledger.outbox SET created_at = created_at - interval '5 minutes'`, nil)
}

// aReportIsOld queues a report to the ledger that is ten minutes old.
func aReportIsOld(p person) {
	asSuperuser(p.t, `
		INSERT INTO budget.reference_syncs (budget_id, owner_id, queued_at)
		VALUES (gen_random_uuid(), gen_random_uuid(), now() - interval '10 minutes')`, nil)
}

func aConsumerWaits(t *testing.T, p person) (again, end func()) {
	t.Helper()
	return locked("budget.budgets", func(p person) {
		p.earn(1)
		asSuperuser(t, `
			INSERT INTO ledger.outbox (id, user_id, subject, data)
			SELECT gen_random_uuid(), user_id, subject, data
			FROM (SELECT * FROM ledger.outbox ORDER BY seq DESC LIMIT 1) AS e, generate_series(1, 1500)`, nil)
	})(t, p)
}

// aTotalDiffers corrupts the balance of an empty wallet, and restores it.
func aTotalDiffers(t *testing.T, p person) (again, end func()) {
	t.Helper()
	store := func(amount string) {
		asSuperuser(t, `UPDATE ledger.wallet_balances SET amount_minor = `+amount+` WHERE wallet_id = '`+p.wallet+`'`, nil)
	}
	store("5")
	measured := newPrometheus(t)
	return func() {
		// The ledger checks owners every ten seconds.
		require.Eventually(t, func() bool {
			measured.scrape(time.Minute)
			return len(measured.query("ledger_differing_owners > 0")) > 0
		}, time.Minute, 100*time.Millisecond)
	}, func() { store("0") }
}

// theEngineIsBroken puts another program in its place.
func theEngineIsBroken(t *testing.T, p person) (again, end func()) {
	t.Helper()
	install(t, "false")
	return func() { p.upload(1) }, func() { install(t, "tesseract") }
}

// install makes a program the engine.
func install(t testing.TB, program string) {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(engine))
	require.NoError(t, os.Symlink(path, engine))
}

func TestEachAlertHasAPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	for _, rule := range rules(t) {
		require.Contains(t, string(page), "\n### "+rule.Alert+"\n")
		require.Contains(t, rule.Labels, "severity", rule.Alert)
		require.Contains(t, rule.Annotations, "summary", rule.Alert)
	}
}

// metricsIn are the names of what an expression asks for.
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

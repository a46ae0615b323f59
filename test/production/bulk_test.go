package production

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chosen is the number of rows that the test skips, and of those for which it chooses a category:
// as many as one request can change.
const chosen = 500

// servedPage matches the metrics of a ledger that has served a page to the gateway.
var servedPage = regexp.MustCompile(`rpc_server_call_duration_seconds_count\{.*ListTransactions`)

// bulk is the import of a large file by a user, on two ledgers of which one is killed from time to
// time.
type bulk struct {
	*user
	rows int
	// ledgers are those that are killed.
	ledgers []*instance
	// id is the id of the import, other the category of some of its rows, and began the start of a
	// phase.
	id, other string
	began     time.Time
}

// TestImportKilled imports a file through REST: upload, new defaults, changed rows, commit, undo.
// In each phase, both ledgers are killed in turn, while other users create transactions, list them
// and read dashboards. After each phase, balances and totals are those of the file.
//
// By contract, a client repeats a request after 503 SERVICE_UNAVAILABLE. Every other error fails
// the test. IMPORT_ROWS is the number of rows. Without it, the test is skipped, because it takes
// half a minute also with few rows. With IMPORT_KILLS=0, no ledger is killed.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	rows, _ := strconv.Atoi(os.Getenv("IMPORT_ROWS"))
	if rows == 0 {
		t.Skip("set IMPORT_ROWS to 2000 or more, or run make bench-import-job")
	}
	require.GreaterOrEqual(t, rows, 2*chosen)
	cluster := newCluster(t)
	delete(cluster.environment, "MAX_CONNECTION_AGE")
	cluster.environment["LOG_LEVEL"] = "WARN"
	bulk := &bulk{rows: rows}
	for _, service := range services {
		instances := []*instance{cluster.spawn(service)}
		if service == "ledger" {
			instances = append(instances, cluster.spawn(service))
			if os.Getenv("IMPORT_KILLS") != "0" {
				bulk.ledgers = instances
			}
		}
		cluster.await(instances...)
	}
	bulk.user = cluster.newUser()
	traffic := cluster.newTraffic()
	bulk.upload(t)
	// Like the console, a client waits for the progress of the job.
	traffic.workers.Go(func() {
		traffic.send("progress", func() error {
			_, err := bulk.insist(http.MethodGet, "/imports/"+bulk.id+"?wait=8", nil)
			return err
		})
	})
	bulk.require(t, 0, 0)
	bulk.update(t)
	bulk.require(t, 0, 0)
	bulk.change(t)
	bulk.require(t, 0, 0)
	bulk.job(t, "/commit", "done")
	require.EqualValues(t, bulk.rows-chosen, bulk.counts(t)["booked"])
	bulk.require(t, chosen, bulk.rows)
	bulk.job(t, "/undo", "undone")
	bulk.require(t, 0, 0)
	t.Logf("%d requests of the import were repeated after 503", bulk.repeated.Load())
	traffic.stop()
}

// pauses is a reader without bytes that waits at its place in a body until the test continues.
type pauses struct{ reached, goOn chan struct{} }

// Read implements io.Reader.
func (p pauses) Read([]byte) (int, error) {
	p.reached <- struct{}{}
	<-p.goOn
	return 0, io.EOF
}

// upload uploads the file, and kills one ledger after half of it and the other one after three
// quarters. So at least one attempt loses its ledger.
func (b *bulk) upload(t *testing.T) {
	t.Helper()
	body, mediaType := b.form(t)
	half, rest := len(body)/2, len(body)*3/4
	pauses := pauses{make(chan struct{}), make(chan struct{})}
	type result struct {
		answer map[string]any
		err    error
	}
	results, key := make(chan result), fmt.Sprint("upload ", rand.Int64())
	b.began = time.Now()
	go func() {
		answer, err := b.repeat(func() (map[string]any, error) {
			return b.send(http.MethodPost, "/imports", mediaType, io.MultiReader(
				bytes.NewReader(body[:half]), pauses, bytes.NewReader(body[half:rest]), pauses,
				bytes.NewReader(body[rest:])), key)
		})
		results <- result{answer, err}
	}()
	for killed := 0; ; {
		select {
		case <-pauses.reached:
			if killed < len(b.ledgers) {
				b.kill(killed)
				killed++
			}
			pauses.goOn <- struct{}{}
		case r := <-results:
			require.NoError(t, r.err)
			require.Equal(t, len(b.ledgers), killed)
			b.id = r.answer["import"].(map[string]any)["id"].(string)
			b.end(t, "upload")
			require.EqualValues(t, b.rows, b.counts(t)["total"])
			return
		}
	}
}

// update chooses the categories of all rows.
func (b *bulk) update(t *testing.T) {
	t.Helper()
	b.began = time.Now()
	_, err := b.insist(http.MethodPatch, "/imports/"+b.id, map[string]any{
		"wait": 0, "defaults": map[string]any{
			"expenseCategoryId": b.category, "incomeCategoryId": b.category,
		},
	})
	require.NoError(t, err)
	b.await(t, "preview")
	b.end(t, "change of the defaults")
	require.EqualValues(t, b.rows, b.counts(t)["ready"])
}

// change skips rows and chooses a category for others, again and again while the ledgers are
// killed.
func (b *bulk) change(t *testing.T) {
	t.Helper()
	b.other = b.must(t, "/categories",
		map[string]any{"name": "Other"})["category"].(map[string]any)["id"].(string)
	var skipped, assigned []map[string]any
	for row := range chosen {
		// The heading is row 1.
		skipped = append(skipped, map[string]any{"n": row + 2, "action": "skip"})
		assigned = append(assigned, map[string]any{"n": row + chosen + 2, "categoryId": b.other})
	}
	b.began = time.Now()
	stop, failed := make(chan struct{}), make(chan error)
	go func() {
		for {
			for _, rows := range [][]map[string]any{skipped, assigned} {
				if _, err := b.insist(http.MethodPatch, "/imports/"+b.id+"/rows",
					map[string]any{"rows": rows}); err != nil {
					failed <- err
					return
				}
			}
			select {
			case <-stop:
				failed <- nil
				return
			default:
			}
		}
	}()
	for n := range b.ledgers {
		b.kill(n)
	}
	close(stop)
	require.NoError(t, <-failed)
	b.end(t, "changes of rows")
	counts := b.counts(t)
	require.EqualValues(t, b.rows-chosen, counts["ready"])
	require.EqualValues(t, chosen, counts["skipped"])
}

// job starts a commit or an undo, and kills the ledgers while it runs.
func (b *bulk) job(t *testing.T, path, end string) {
	t.Helper()
	b.began = time.Now()
	_, err := b.insist(http.MethodPost, "/imports/"+b.id+path, map[string]any{})
	require.NoError(t, err)
	b.await(t, end)
	b.end(t, path)
}

// await waits for the end of a job, and kills each ledger once: after the job has made progress, or
// 8 seconds later without any. A job of few rows may end before.
func (b *bulk) await(t *testing.T, end string) {
	t.Helper()
	for n := 0; ; {
		answer, err := b.insist(http.MethodGet, "/imports/"+b.id+"?wait=8", nil)
		require.NoError(t, err)
		m := answer["import"].(map[string]any)
		if n < len(b.ledgers) {
			t.Logf("%s: killing ledger %d at %v", m["status"], n, m["progress"])
			b.kill(n)
			n++
			continue
		}
		if m["status"] == end {
			return
		}
		require.Contains(t, []string{"updating", "queued", "running", "undoing"}, m["status"])
	}
}

// kill kills a ledger and starts it again at the same address, like Kubernetes. It returns when the
// ledger has served a page to the gateway, because gRPC's pauses between its attempts to connect
// grow. The traffic of the other users reads pages all the time.
func (b *bulk) kill(n int) {
	cluster, old := b.cluster, b.ledgers[n]
	old.kill(cluster.t)
	host := cluster.host
	cluster.host = old.addr.As4()[3] - 1
	b.ledgers[n] = cluster.spawn("ledger")
	cluster.host = host
	b.ledgers[n].await(cluster.t)
	require.Eventually(cluster.t, func() bool {
		metrics, err := b.ledgers[n].metrics(cluster.t.Context())
		return err == nil && servedPage.MatchString(metrics)
	}, time.Minute, 20*time.Millisecond, "the gateway did not reconnect")
}

func (b *bulk) end(t *testing.T, phase string) {
	t.Helper()
	t.Logf("%s: %.1f s", phase, time.Since(b.began).Seconds())
}

func (b *bulk) counts(t *testing.T) map[string]any {
	t.Helper()
	answer, err := b.insist(http.MethodGet, "/imports/"+b.id, nil)
	require.NoError(t, err)
	return answer["import"].(map[string]any)["counts"].(map[string]any)
}

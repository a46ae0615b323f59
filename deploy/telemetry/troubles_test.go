package telemetry

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// halted stops a part of the stack and calls meanwhile repeatedly.
func halted(part string, meanwhile func(user)) trouble {
	return func(t *testing.T, u user) (again, end func()) {
		t.Helper()
		require.NoError(t, stack.Halt(part))
		end = func() { require.NoError(t, stack.Resume(t.Context(), part)) }
		return func() { meanwhile(u) }, end
	}
}

// locked locks a table and sends requests that wait for it.
func locked(table string, meanwhile func(user)) trouble {
	return func(t *testing.T, u user) (again, end func()) {
		t.Helper()
		release := lock(t, table)
		var asking sync.WaitGroup
		asking.Go(func() { meanwhile(u) })
		return func() { time.Sleep(200 * time.Millisecond) }, func() { release(); asking.Wait() }
	}
}

// slow repeatedly locks a table for a time and sends requests that wait for it.
func slow(table string, during time.Duration, meanwhile func(user)) trouble {
	return func(t *testing.T, u user) (again, end func()) {
		t.Helper()
		return func() {
			release := lock(t, table)
			time.AfterFunc(during, release)
			meanwhile(u)
		}, func() {}
	}
}

// lock locks a table until release is called.
func lock(t *testing.T, table string) (release func()) {
	t.Helper()
	var holding sync.WaitGroup
	taken, done := make(chan struct{}), make(chan struct{})
	holding.Go(func() { asSuperuser(t, `LOCK TABLE `+table, func() { close(taken); <-done }) })
	<-taken
	return func() { close(done); holding.Wait() }
}

// tooManyConnections opens more connections to ocr than it accepts from one address, and keeps them
// open.
func tooManyConnections(t *testing.T, _ user) (again, end func()) {
	t.Helper()
	var open []net.Conn
	again = func() {
		// The default of MAX_CONNECTIONS_PER_ADDRESS is 500.
		for range 520 {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", stack.GRPC["ocr"])
			require.NoError(t, err)
			open = append(open, conn)
		}
		// A refused connection ends immediately, an accepted one after ten seconds without a call.
		last := open[len(open)-1]
		require.NoError(t, last.SetReadDeadline(time.Now().Add(5*time.Second)))
		_, err := io.Copy(io.Discard, last)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is open")
	}
	return again, func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}
}

func missingTable(t *testing.T, u user) (again, end func()) {
	t.Helper()
	asSuperuser(t, `ALTER TABLE ledger.wallets RENAME TO mislaid`, nil)
	end = func() { asSuperuser(t, `ALTER TABLE ledger.mislaid RENAME TO wallets`, nil) }
	return func() { u.readWallet(5) }, end
}

// oldEvents creates an event and sets its time to five minutes ago.
func oldEvents(u user) {
	u.earn(1)
	asSuperuser(u.t, `UPDATE ledger.outbox SET created_at = created_at - interval '5 minutes'`, nil)
}

// oldReport queues a report to the ledger and sets its time to ten minutes ago.
func oldReport(u user) {
	asSuperuser(u.t, `
		INSERT INTO budget.reference_syncs (budget_id, owner_id, queued_at)
		VALUES (gen_random_uuid(), gen_random_uuid(), now() - interval '10 minutes')`, nil)
}

// stuckDeletion inserts the deletion of an account that does not exist, which never ends.
func stuckDeletion(t *testing.T, _ user) (again, end func()) {
	t.Helper()
	asSuperuser(t, `
		INSERT INTO auth.deletions (id, user_id, user_mac, requested_at, erases_at, asked_at)
		VALUES (gen_random_uuid(), gen_random_uuid(), sha256('stuck'), now() - interval '5 days',
			now() - interval '2 days', now())`, nil)
	return func() {}, func() {
		asSuperuser(t, `DELETE FROM auth.deletions WHERE user_mac = sha256('stuck')`, nil)
	}
}

// stuckImport inserts a job whose replica renews its lease, but makes no progress.
func stuckImport(t *testing.T, _ user) (again, end func()) {
	t.Helper()
	asSuperuser(t, importRow("running", 1, "now() + interval '1 hour'"), nil)
	return func() {}, func() {
		asSuperuser(t, `DELETE FROM ledger.imports WHERE file_name = 'alert.csv'`, nil)
	}
}

// failingImport inserts a job that has failed eight times. The next attempt is its last one.
func failingImport(t *testing.T, _ user) (again, end func()) {
	t.Helper()
	asSuperuser(t, importRow("queued", 8, "NULL"), nil)
	return func() {
		require.Eventually(t, func() bool {
			status := stored(t, `SELECT status FROM ledger.imports WHERE file_name = 'alert.csv'`)
			return status == "failed"
		}, time.Minute, 50*time.Millisecond)
	}, func() { asSuperuser(t, `DELETE FROM ledger.imports WHERE file_name = 'alert.csv'`, nil) }
}

// importRow returns a statement that inserts an import without rows, whose last progress was an
// hour ago.
func importRow(status string, attempts int, leasedUntil string) string {
	return fmt.Sprintf(`
		INSERT INTO ledger.imports (owner_id, id, status, file_name, size, sha256, format, details,
			attempts, lease, leased_until, created_at, updated_at)
		VALUES (gen_random_uuid(), gen_random_uuid(), '%s', 'alert.csv', 1, '', 'csv', '{}',
			%d, gen_random_uuid(), %s, now(), now() - interval '1 hour')`,
		status, attempts, leasedUntil)
}

// deadWebhook creates a webhook at an address at which nothing listens, and causes events. Each one
// is a new attempt: repetitions of one delivery are further apart than the test waits.
func deadWebhook(t *testing.T, u user) (again, end func()) {
	t.Helper()
	made := u.create("/webhooks", map[string]any{"url": "http://127.0.0.1:1/hook"})
	id := made["webhook"].(map[string]any)["id"].(string)
	return func() { u.earn(1); time.Sleep(100 * time.Millisecond) }, func() {
		require.Equal(t, http.StatusOK, u.send(http.MethodDelete, "/webhooks/"+id, "", nil, nil))
	}
}

func slowConsumer(t *testing.T, u user) (again, end func()) {
	t.Helper()
	return locked("budget.budgets", func(u user) {
		u.earn(1)
		asSuperuser(t, `
			INSERT INTO ledger.outbox (id, user_id, subject, data)
			SELECT gen_random_uuid(), user_id, subject, data
			FROM (SELECT * FROM ledger.outbox ORDER BY seq DESC LIMIT 1) AS e,
				generate_series(1, 1500)`, nil)
	})(t, u)
}

// differingTotal corrupts the balance of an empty wallet, and restores it. Every ten seconds the
// ledger checks owners for 100 ms. On a busy machine it checks only a few of this test's owners in
// that time, and the metric drops after two passes over all of them.
func differingTotal(t *testing.T, u user) (again, end func()) {
	t.Helper()
	store := func(amount string) {
		asSuperuser(t, `UPDATE ledger.wallet_balances SET amount_minor = `+amount+
			` WHERE wallet_id = '`+u.wallet+`'`, nil)
	}
	store("5")
	measured := newPrometheus(t)
	return func() {
		require.Eventually(t, func() bool {
			measured.scrape(time.Minute)
			return len(measured.query("ledger_differing_owners > 0")) > 0
		}, maxWait, time.Second)
	}, func() { store("0") }
}

// brokenEngine replaces the OCR engine by a program that fails.
func brokenEngine(t *testing.T, u user) (again, end func()) {
	t.Helper()
	install(t, "false")
	return func() { u.upload(1) }, func() { install(t, "tesseract") }
}

// brokenNeuralEngine makes the neural engine crash. Tesseract reads the receipts meanwhile.
func brokenNeuralEngine(t *testing.T, u user) (again, end func()) {
	t.Helper()
	broken := filepath.Join(neural, "broken")
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	end = func() {
		require.NoError(t, os.Remove(broken))
		// The engine counts as available when it has read a page.
		u.upload(1)
	}
	return func() { u.upload(1) }, end
}

// fullVolume fills the volume that the ledger measures.
func fullVolume(t *testing.T, _ user) (again, end func()) {
	t.Helper()
	filler := filepath.Join(volume, "filler")
	require.NoError(t, os.WriteFile(filler, make([]byte, 1000<<10), 0o600))
	return func() {}, func() { require.NoError(t, os.Remove(filler)) }
}

// install makes a program the OCR engine of the stack.
func install(t testing.TB, program string) {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(engine))
	require.NoError(t, os.Symlink(path, engine))
}

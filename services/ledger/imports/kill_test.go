package imports

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/accounts"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// workerDatabase is the environment variable that makes the test program a replica that runs the
// jobs of a database.
const workerDatabase = "COFFER_TEST_IMPORT_WORKER"

func TestMain(m *testing.M) {
	if url := os.Getenv(workerDatabase); url != "" {
		if err := runWorker(context.Background(), url); err != nil {
			slog.Error("failed to run the worker", "error", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// runWorker runs jobs until the process is killed. Its leases are short, so that the other replica
// soon continues a job.
func runWorker(ctx context.Context, url string) error {
	db, err := pg.Open(ctx, url)
	if err != nil {
		return err
	}
	f := fixture.On(db)
	f.Ledger.Now = time.Now
	s := New(&accounts.Accounts{Ledger: f.Ledger, Cursors: f.Cursors}, f.Cursors,
		"a secret of the tests", slog.Default())
	s.Jobs.LeaseTime = time.Second
	for range time.Tick(50 * time.Millisecond) {
		s.Jobs.RunQueued(ctx)
	}
	return nil
}

// startWorker starts a replica. The test kills it at its end.
func (s *server) startWorker(t *testing.T) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	worker := exec.CommandContext(t.Context(), program)
	worker.Env = append(os.Environ(), workerDatabase+"="+s.DB.Config().ConnString())
	worker.Stderr = t.Output()
	require.NoError(t, worker.Start())
	t.Cleanup(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	})
	return worker
}

// TestCommitImportKilled kills the two replicas that run a commit in turn, with SIGKILL.
// IMPORT_ROWS is the number of rows.
func TestCommitImportKilled(t *testing.T) {
	t.Parallel()
	const kills = 10
	n := rowsFromEnv(t, 20_000)
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, largeStatement(n))
	workers := []*exec.Cmd{s.startWorker(t), s.startWorker(t)}
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
	// progress waits until more rows are booked than before.
	progress := func(before int64) *ledgerv1.Import {
		for {
			resp, err := p.GetImport(p.Ctx,
				&ledgerv1.GetImportRequest{Id: m.GetId(), Wait: new(int32(8))})
			require.NoError(t, err)
			if now := resp.GetImport(); now.GetProgress().GetDone() > before ||
				now.GetStatus() != staging.Queued && now.GetStatus() != staging.Running {
				return now
			}
		}
	}
	for i := range kills {
		m = progress(m.GetProgress().GetDone())
		require.Equal(t, staging.Running, m.GetStatus(), "the commit ended before kill %d", i+1)
		w := &workers[i%len(workers)]
		require.NoError(t, (*w).Process.Kill())
		_ = (*w).Wait()
		*w = s.startWorker(t)
	}
	for m.GetStatus() == staging.Running {
		m = progress(m.GetProgress().GetDone())
	}
	require.Equal(t, staging.Done, m.GetStatus(), m.GetProgress().GetProblem())
	require.EqualValues(t, n, m.GetCounts().GetBooked())
	s.RequireConsistent(t)
	var transactions, rows int
	require.NoError(t, s.DB.QueryRow(t.Context(), `
		SELECT count(*), count(DISTINCT r.n)
		FROM transactions t
		LEFT JOIN import_rows r ON r.owner_id = t.owner_id AND r.transaction_id = t.id
		WHERE t.owner_id = $1`, p.ID).Scan(&transactions, &rows))
	require.Equal(t, n, transactions)
	require.Equal(t, n, rows)
	imported, ended := 0, 0
	for _, e := range s.Events(t) {
		switch e := e.(type) {
		case *ledgerv1.TransactionsImported:
			imported += int(e.GetCount())
		case *ledgerv1.ImportCommitted:
			ended++
		}
	}
	require.Equal(t, n, imported)
	require.Equal(t, 1, ended)
}

// TestUpdateImportSearch stops a replica after its search of duplicates has marked one side of a
// transfer. The other replica pairs the sides as if the search had not begun.
func TestUpdateImportSearch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	p.MakeWallet(p.Ctx, t, "Giro", "EUR")
	_, err := s.DB.Exec(t.Context(), `UPDATE transactions SET external_id = 'coffer:t1' WHERE id = $1`,
		p.enter(t, "-10", "To the bank", 1))
	require.NoError(t, err)
	m := p.uploadExport(t, strings.NewReplacer(`"Giro"`, `"Cash"`, `"Savings"`, `"Giro"`).
		Replace(exported))
	p.update(t, defaultsOf(m, p.Category))
	want := p.state(t, m)
	duplicates := func() (rows int) {
		for _, r := range p.rows(t, m) {
			if r.GetStatus() == staging.Duplicate {
				rows++
			}
		}
		return rows
	}
	require.Equal(t, 1, duplicates())
	s.inlineRows = 0
	p.start(t, defaultsOf(m, p.Category))
	run := func(at *Imports, until func() bool) (finished bool) {
		_, chunk := p.lease(t, at, m)
		for step := 0; !finished && !until(); step++ {
			require.Less(t, step, 50)
			finished, err = chunk()
			require.NoError(t, err)
		}
		return finished
	}
	require.False(t, run(s.Imports, func() bool { return duplicates() == 0 }))
	require.False(t, run(s.Imports, func() bool { return duplicates() == 1 }))
	require.True(t, run(s.other(), func() bool { return false }))
	require.Equal(t, want, p.state(t, m))
}

package imports

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
	"github.com/coffer-budget/coffer/services/ledger/reads"
	"github.com/coffer-budget/coffer/services/ledger/transactions"
)

// queueCommit commits an import without running its job.
func (p person) queueCommit(t testing.TB, m *ledgerv1.Import) {
	t.Helper()
	_, err := p.CommitImport(p.Ctx, &ledgerv1.CommitImportRequest{Id: m.GetId()})
	require.NoError(t, err)
}

// awaitBooked waits until a commit has booked rows.
func (p person) awaitBooked(t testing.TB, m *ledgerv1.Import) {
	t.Helper()
	for p.get(t, m).GetCounts().GetBooked() == 0 {
		require.NoError(t, t.Context().Err())
	}
}

// replica runs the jobs of a server in the background until stop is called. stop waits until the
// queue has stopped. Each replica has its own queue.
func (s *server) replica(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := New(s.Accounts, s.Service.Cursors, "a secret of the tests",
		slog.New(slog.DiscardHandler)).Jobs
	stopped := make(chan struct{})
	go func() {
		w.Run(ctx)
		close(stopped)
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// TestCommitImportTurns commits an import of 10 rows while the only replica commits one of 20 000
// rows of another user.
func TestCommitImportTurns(t *testing.T) {
	t.Parallel()
	s := setup(t)
	large, small := newPerson(t, s), newPerson(t, s)
	first := large.mustUpload(t, largeStatement(20_000))
	second := small.mustUpload(t, largeStatement(10))
	large.queueCommit(t, first)
	defer s.replica(t)()
	large.awaitBooked(t, first)
	small.queueCommit(t, second)
	for small.get(t, second).GetStatus() != staging.Done {
		require.NoError(t, t.Context().Err())
	}
	first = large.get(t, first)
	require.Equal(t, staging.Running, first.GetStatus(),
		"the small import has waited for the large one")
	require.Less(t, first.GetCounts().GetBooked(), int32(15_000))
}

// TestCommitImportHandsOver stops a replica during a commit. Another one must be able to lease the
// job at once.
func TestCommitImportHandsOver(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	m := p.mustUpload(t, largeStatement(5000))
	p.queueCommit(t, m)
	stop := s.replica(t)
	p.awaitBooked(t, m)
	stop()
	require.Equal(t, staging.Running, p.get(t, m).GetStatus())
	leased := pgtest.Value[bool](t, s.DB, `SELECT leased_until > now() FROM imports WHERE id = $1`,
		m.GetId())
	require.False(t, leased)
	require.Equal(t, staging.Done, p.finish(t, m).GetStatus())
	require.EqualValues(t, 5000, p.get(t, m).GetCounts().GetBooked())
	s.RequireConsistent(t)
}

// TestCreateTransactionDuringCommit creates single transactions at two replicas while both replicas
// run commits of the same user. None may fail: a create fails if it waits three seconds for a lock.
// IMPORT_ROWS is the number of rows of each import.
func TestCreateTransactionDuringCommit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t, s)
	rows := rowsFromEnv(t, 10_000)
	file := largeStatement(rows)
	imports := []*ledgerv1.Import{
		p.mustUpload(t, file),
		p.mustUpload(t, strings.ReplaceAll(file, "Purchase", "Order")),
	}
	for _, m := range imports {
		p.queueCommit(t, m)
	}
	ctx, stop := context.WithCancel(p.Ctx)
	defer stop()
	var writers sync.WaitGroup
	var created, slowest atomic.Int64
	var failed atomic.Value
	for range 2 {
		defer s.replica(t)()
		gates := reads.NewGates(reads.MaxRunning, reads.MaxWaiting)
		service := transactions.New(s.Service.Ledger, s.Service.Cursors, gates)
		service.Run(t.Context())
		for range 2 {
			writers.Go(func() {
				for ctx.Err() == nil {
					began := time.Now()
					if _, err := service.CreateTransaction(p.Ctx, p.Spends("1")); err != nil {
						failed.Store(err)
						return
					}
					created.Add(1)
					slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				}
			})
		}
	}
	for _, m := range imports {
		require.Equal(t, staging.Done, p.finishElsewhere(t, m).GetStatus())
	}
	stop()
	writers.Wait()
	t.Logf("%d creates, the slowest took %s", created.Load(),
		time.Duration(slowest.Load()).Round(time.Millisecond))
	require.Nil(t, failed.Load())
	require.Positive(t, created.Load())
	stored := pgtest.Value[int64](t, s.DB,
		`SELECT count(*) FROM transactions WHERE owner_id = $1 AND import_id IS NULL`, p.ID)
	require.Equal(t, created.Load(), stored)
	s.RequireConsistent(t)
}

// finishElsewhere waits until the replicas have ended the job of an import.
func (p person) finishElsewhere(t testing.TB, m *ledgerv1.Import) *ledgerv1.Import {
	t.Helper()
	for {
		req := &ledgerv1.GetImportRequest{Id: m.GetId(), Wait: new(int32(8))}
		resp, err := p.GetImport(p.Ctx, req)
		require.NoError(t, err)
		if s := resp.GetImport().GetStatus(); s != staging.Queued && s != staging.Running {
			return resp.GetImport()
		}
	}
}

package transactions

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// Transactions acknowledged before, while or after PostgreSQL ends connections exist once. Others
// exist completely or not at all.
func TestBatcherKeepsAcknowledgedTransactions(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	people := make([]person, 6)
	for i := range people {
		people[i] = newPerson(t.Context(), t, srv)
	}
	killer := srv.DB
	named := killer.Config()
	named.ConnConfig.RuntimeParams["application_name"] = t.Name()
	victim, err := pgxpool.NewWithConfig(t.Context(), named)
	require.NoError(t, err)
	defer victim.Close()
	for i := range people {
		people[i].batcher = newBatcher(victim, func() {})
		people[i].batcher.run(t.Context())
	}
	var acknowledged sync.Map
	var tried, failed atomic.Int64
	done := make(chan struct{})
	var running sync.WaitGroup
	for _, me := range people {
		running.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				tried.Add(1)
				tr, written, err := me.submit(t.Context(), -1)
				if err == nil && written {
					acknowledged.Store(tr.ID, true)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	for range 15 {
		time.Sleep(20 * time.Millisecond)
		pgtest.Exec(t, killer, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = $1 AND state = 'active'`, t.Name())
	}
	close(done)
	running.Wait()
	require.Positive(t, failed.Load())
	acknowledged.Range(func(id, _ any) bool {
		srv.Transaction(t, id.(uuid.UUID))
		return true
	})
	srv.RequireConsistent(t)
}

func TestBatcherLockTimeout(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	locked, other := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
	tx, err := srv.DB.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, `SELECT id FROM categories WHERE id = $1 FOR UPDATE`,
		locked.Category)
	srv.batcher = newBatcher(srv.DB, func() {})
	created := map[string]chan error{"locked": make(chan error, 1), "other": make(chan error, 1)}
	for name, p := range map[string]person{"locked": locked, "other": other} {
		go func() {
			_, err := p.CreateTransaction(p.Ctx, p.Spends("1"))
			created[name] <- err
		}()
	}
	require.Eventually(t, func() bool {
		return srv.batcher.length() == 2
	}, time.Minute, time.Millisecond)
	srv.batcher.run(t.Context())
	require.NoError(t, <-created["other"], "the lock is still held")
	require.True(t, pg.IsLocked(<-created["locked"]))
	require.NoError(t, tx.Rollback(t.Context()))
	locked.Create(t, locked.Spends("1"))
	srv.RequireConsistent(t)
}

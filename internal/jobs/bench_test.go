package jobs_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// BenchmarkTableLease leases jobs by simultaneous replicas, each with one connection, and queues
// each job again, so that the number of waiting jobs stays. idle is the share of leases that found
// no job.
func BenchmarkTableLease(b *testing.B) {
	for _, replicas := range []int{1, 4, 16, 64} {
		for _, waiting := range []int{100, 10_000} {
			b.Run(fmt.Sprintf("replicas=%d/waiting=%d", replicas, waiting), func(b *testing.B) {
				db := queued(b, replicas, waiting)
				var left, idle atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var running sync.WaitGroup
				for range replicas {
					running.Go(func() {
						for left.Add(-1) >= 0 {
							j, err := table.Lease(b.Context(), db, time.Hour)
							if errors.Is(err, pgx.ErrNoRows) {
								idle.Add(1)
								continue
							}
							if !assert.NoError(b, err) || !assert.NoError(b, requeue(b, db, j)) {
								return
							}
						}
					})
				}
				running.Wait()
				b.ReportMetric(float64(idle.Load())/float64(b.N), "idle/op")
			})
		}
	}
}

// queued returns a pool with a connection per replica on a database with waiting jobs of 1000
// owners.
func queued(b *testing.B, replicas, waiting int) *pgxpool.Pool {
	b.Helper()
	config := pgtest.New(b, schema).Config()
	config.MaxConns = int32(replicas)
	db, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(db.Close)
	for _, sql := range []string{
		`DROP TRIGGER set_pause ON tasks`,
		`CREATE INDEX tasks_waiting ON tasks (queued_at) WHERE status IN ('queued', 'deleting')`,
		fmt.Sprintf(`
			INSERT INTO tasks
			SELECT md5((n %% 1000)::text)::uuid, gen_random_uuid(), 'queued', now(), 0
			FROM generate_series(1, %d) AS n`, waiting),
		`ANALYZE tasks`,
	} {
		_, err := db.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	return db
}

// requeue ends a lease, and queues the job behind all others.
func requeue(b *testing.B, q pg.Querier, j jobs.Job) error {
	b.Helper()
	return pg.Exec(b.Context(), q, `
		UPDATE tasks
		SET queued_at = now(), lease = NULL, leased_until = NULL
		WHERE owner_id = $1 AND id = $2`, j.OwnerID, j.ID)
}

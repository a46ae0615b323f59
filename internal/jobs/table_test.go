package jobs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/jobs/jobstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

func TestTableLease(t *testing.T) {
	t.Parallel()
	s := setup(t)
	first, second, id := uuid.New(), uuid.New(), uuid.New()
	s.add(t, first, id, "queued", 0)
	s.add(t, second, id, "queued", 0)
	s.add(t, first, uuid.New(), "queued", 0)
	jobstest.Leases(t, s.Pool, table, s.end, first, second)
}

// TestTableLeaseConcurrently leases the jobs of several owners by simultaneous replicas, of which
// each takes another job at once. Each job must be leased once, after the earlier jobs of its
// owner.
func TestTableLeaseConcurrently(t *testing.T) {
	t.Parallel()
	const replicas, owners, perOwner = 24, 30, 10
	tasks := setup(t)
	pgtest.Exec(t, tasks, `
		INSERT INTO tasks
		SELECT md5((n % $1)::text)::uuid, gen_random_uuid(), 'queued',
			now() - make_interval(secs => 1000 - n), 0
		FROM generate_series(1, $1 * $2::integer) AS n`, owners, perOwner)
	var mu sync.Mutex
	leased := map[jobs.Job]int{}
	var running sync.WaitGroup
	for range replicas {
		running.Go(func() {
			for {
				j, err := table.Lease(t.Context(), tasks, time.Hour)
				if err != nil {
					assert.ErrorIs(t, err, pgx.ErrNoRows)
					return
				}
				mu.Lock()
				leased[jobs.Job{OwnerID: j.OwnerID, ID: j.ID}]++
				mu.Unlock()
			}
		})
	}
	running.Wait()
	require.Len(t, leased, owners*perOwner, "all replicas stopped while a job waited")
	for j, times := range leased {
		require.Equal(t, 1, times, j)
	}
	// The end of a lease follows from its beginning.
	early, err := pg.Value[int64](t.Context(), tasks, `
		SELECT count(*)
		FROM tasks a
		JOIN tasks b ON b.owner_id = a.owner_id AND b.queued_at > a.queued_at
		WHERE b.leased_until < a.leased_until`)
	require.NoError(t, err)
	require.Zero(t, early, "a job was leased before an earlier job of its owner")
}

// TestTableLeaseBehindLocks requires that a lease skips jobs whose rows are locked, also if they
// are all of those that it reads first.
func TestTableLeaseBehindLocks(t *testing.T) {
	t.Parallel()
	tasks := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tx, err := tasks.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	for range 40 {
		tasks.add(t, uuid.New(), uuid.New(), "queued", 0)
	}
	require.NoError(t, pg.Exec(ctx, tx, `SELECT FROM tasks FOR UPDATE`))
	_, err = table.Lease(ctx, tasks, time.Hour)
	require.ErrorIs(t, err, pgx.ErrNoRows)
	last := uuid.New()
	tasks.add(t, last, uuid.New(), "queued", 0)
	j, err := table.Lease(ctx, tasks, time.Hour)
	require.NoError(t, err)
	require.Equal(t, last, j.OwnerID)
}

// TestTableLeaseByOwner requires that a replica that has lost the first job takes a job of another
// owner, even if the second job is of the same owner.
func TestTableLeaseByOwner(t *testing.T) {
	t.Parallel()
	tasks := setup(t)
	first, second := uuid.New(), uuid.New()
	for _, owner := range []uuid.UUID{first, first, second} {
		tasks.add(t, owner, uuid.New(), "queued", 0)
	}
	tx, err := tasks.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = table.Lease(t.Context(), tx, time.Hour)
	require.NoError(t, err)
	for _, want := range []uuid.UUID{second, first} {
		j, err := table.Lease(t.Context(), tasks, time.Hour)
		require.NoError(t, err)
		require.Equal(t, want, j.OwnerID)
	}
}

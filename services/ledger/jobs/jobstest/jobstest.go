// Package jobstest checks the statements of a table of jobs. The tests of the tables of package
// jobs call Leases.
package jobstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/jobs"
)

// Statements are the statements of a table. Renew and End return jobs.ErrLostLease if another
// replica has taken the job.
type Statements struct {
	Lease      func(ctx context.Context, q pg.Querier, lease uuid.UUID, d time.Duration) (jobs.Job, error)
	Release    func(ctx context.Context, q pg.Querier, j jobs.Job, pause time.Duration) error
	Yield      func(ctx context.Context, q pg.Querier, j jobs.Job) (bool, error)
	Renew, End func(ctx context.Context, q pg.Querier, j jobs.Job) error
}

// Leases checks that one replica at a time holds the lease of a job. db must have three queued
// jobs: two with the same id, of owner first and of owner second, and then another one of owner
// first.
func Leases(t *testing.T, db *pgxpool.Pool, s Statements, first, second uuid.UUID) {
	t.Helper()
	ctx := t.Context()
	lease := func(q pg.Querier, id uuid.UUID, d time.Duration) jobs.Job {
		t.Helper()
		j, err := s.Lease(ctx, q, id, d)
		require.NoError(t, err)
		j.LeaseTime = time.Hour
		return j
	}
	requireNone := func(why string) {
		t.Helper()
		_, err := s.Lease(ctx, db, uuid.New(), time.Hour)
		require.ErrorIs(t, err, pgx.ErrNoRows, why)
	}

	// The same lease shows that no statement relies on its id alone.
	same := uuid.New()
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	other, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = other.Rollback(ctx) }()
	_, err = other.Exec(ctx, `SET LOCAL lock_timeout = '1s'`)
	require.NoError(t, err)
	a, b := lease(tx, same, time.Hour), lease(other, same, time.Hour)
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, other.Commit(ctx))
	c := lease(db, same, time.Hour)
	require.Equal(t, []uuid.UUID{first, second}, []uuid.UUID{a.OwnerID, b.OwnerID}, "simultaneous replicas lease different jobs")
	require.Equal(t, first, c.OwnerID)
	require.NotEqual(t, a.ID, c.ID)
	requireNone("all are leased")
	yield := func(j jobs.Job) bool {
		t.Helper()
		yielded, err := s.Yield(ctx, db, j)
		require.NoError(t, err)
		return yielded
	}
	require.False(t, yield(a), "no other job waits")
	require.NoError(t, s.Release(ctx, db, c, 0))
	require.True(t, yield(a))
	require.False(t, yield(jobs.Job{OwnerID: b.OwnerID, ID: b.ID, Lease: uuid.New()}), "a replica without the lease cannot yield the job")
	c = lease(db, same, time.Hour)
	require.Equal(t, first, c.OwnerID)
	require.NotEqual(t, a.ID, c.ID, "the job that has waited longer is next")
	a = lease(db, same, time.Hour)

	require.NoError(t, s.Release(ctx, db, a, 0))
	again := lease(db, uuid.New(), -time.Second)
	require.Equal(t, []uuid.UUID{first, a.ID}, []uuid.UUID{again.OwnerID, again.ID})
	require.Equal(t, a.Attempts+1, again.Attempts)
	require.NoError(t, s.Renew(ctx, db, again), "no replica has taken the job since the lease ended")
	requireNone("the lease is renewed")
	require.ErrorIs(t, s.Renew(ctx, db, a), jobs.ErrLostLease)
	require.ErrorIs(t, s.End(ctx, db, a), jobs.ErrLostLease)
	require.NoError(t, s.Release(ctx, db, a, 0))
	requireNone("a replica without the lease cannot release the job")
	require.NoError(t, s.Release(ctx, db, again, time.Hour))
	requireNone("the pause has not ended")

	require.NoError(t, s.End(ctx, db, again))
	require.ErrorIs(t, s.Renew(ctx, db, again), jobs.ErrLostLease)
	for _, j := range []jobs.Job{b, c} {
		require.NoError(t, s.Renew(ctx, db, j), "the other jobs go on")
		require.NoError(t, s.End(ctx, db, j))
	}
	requireNone("all have ended")
}

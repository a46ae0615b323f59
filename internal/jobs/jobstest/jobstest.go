// Package jobstest checks a table of jobs. The tests of the tables of package jobs call Leases.
package jobstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
)

// End ends a job. It returns jobs.ErrLostLease if another replica has taken the job.
type End func(ctx context.Context, q pg.Querier, j jobs.Job) error

// Leases checks that one replica at a time holds the lease of a job. db must have three queued
// jobs: two with the same id, of owner first and of owner second, and then another one of owner
// first.
func Leases(t *testing.T, db *pgxpool.Pool, table jobs.Table, end End, first, second uuid.UUID) {
	t.Helper()
	ctx := t.Context()
	renew := func(j jobs.Job) error {
		type row struct{ Attempts int }
		_, err := jobs.Renew[row](ctx, db, table, j, "attempts")
		return err
	}
	lease := func(d time.Duration) jobs.Job { return lease(t, table, db, d) }
	requireNone := func(why string) {
		t.Helper()
		_, err := table.Lease(ctx, db, time.Hour)
		require.ErrorIs(t, err, pgx.ErrNoRows, why)
	}

	leased, job := leaseBoth(t, table, db)
	c := lease(time.Hour)
	owners := []uuid.UUID{leased.OwnerID, job.OwnerID}
	want := []uuid.UUID{first, second}
	require.Equal(t, want, owners, "simultaneous replicas lease different jobs")
	require.Equal(t, first, c.OwnerID)
	require.NotEqual(t, leased.ID, c.ID)
	requireNone("all are leased")
	// The same lease shows that no statement relies on its id alone.
	shareLease := func() {
		leased.Lease, job.Lease, c.Lease = first, first, first
		_, err := db.Exec(ctx, `UPDATE `+table.Name+` SET lease = $1`, first)
		require.NoError(t, err)
	}
	shareLease()
	yield := func(j jobs.Job) bool {
		t.Helper()
		yielded, err := table.Yield(ctx, db, j)
		require.NoError(t, err)
		return yielded
	}
	require.False(t, yield(leased), "no other job waits")
	require.NoError(t, table.Release(ctx, db, c, 0))
	require.True(t, yield(leased))
	lost := jobs.Job{OwnerID: job.OwnerID, ID: job.ID, Lease: uuid.New()}
	require.False(t, yield(lost), "a replica without the lease cannot yield the job")
	c = lease(time.Hour)
	require.Equal(t, first, c.OwnerID)
	require.NotEqual(t, leased.ID, c.ID, "the job that has waited longer is next")
	leased = lease(time.Hour)
	shareLease()

	require.NoError(t, table.Release(ctx, db, leased, 0))
	again := lease(-time.Second)
	require.Equal(t, []uuid.UUID{first, leased.ID}, []uuid.UUID{again.OwnerID, again.ID})
	require.Equal(t, leased.Attempts+1, again.Attempts)
	require.NoError(t, renew(again), "no replica has taken the job since the lease ended")
	requireNone("the lease is renewed")
	require.ErrorIs(t, renew(leased), jobs.ErrLostLease)
	require.ErrorIs(t, end(ctx, db, leased), jobs.ErrLostLease)
	require.NoError(t, table.Release(ctx, db, leased, 0))
	requireNone("a replica without the lease cannot release the job")
	require.NoError(t, table.Release(ctx, db, again, time.Hour))
	requireNone("the pause has not ended")

	require.NoError(t, end(ctx, db, again))
	require.ErrorIs(t, renew(again), jobs.ErrLostLease)
	for _, j := range []jobs.Job{job, c} {
		require.NoError(t, renew(j), "the other jobs go on")
		require.NoError(t, end(ctx, db, j))
	}
	requireNone("all have ended")
}

func lease(t *testing.T, s jobs.Table, q pg.Querier, d time.Duration) jobs.Job {
	t.Helper()
	j, err := s.Lease(t.Context(), q, d)
	require.NoError(t, err)
	j.LeaseTime = time.Hour
	return j
}

// leaseBoth leases the next two jobs in simultaneous database transactions.
func leaseBoth(t *testing.T, table jobs.Table, db *pgxpool.Pool) (job, b jobs.Job) {
	t.Helper()
	ctx := t.Context()
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	other, err := db.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = other.Rollback(ctx) }()
	_, err = other.Exec(ctx, `SET LOCAL lock_timeout = '1s'`)
	require.NoError(t, err)
	job, b = lease(t, table, tx, time.Hour), lease(t, table, other, time.Hour)
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, other.Commit(ctx))
	return job, b
}

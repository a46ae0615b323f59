package booking

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/jobs/jobstest"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/imports/staging"
)

// queueJob queues an import of some rows. at is its time in seconds.
func queueJob(t *testing.T, db *pgxpool.Pool, owner, id uuid.UUID, at, rows int) {
	t.Helper()
	pgtest.Exec(t, db, `
		INSERT INTO imports (owner_id, id, status, file_name, size, sha256, format, details,
			created_at, updated_at, job_total)
		VALUES ($1, $2, 'queued', 'file', 1, '', 'csv', '{}', $3, $3, $4)`,
		owner, id, fixture.Today.Add(time.Duration(at)*time.Second), rows)
}

func TestLeaseJob(t *testing.T) {
	t.Parallel()
	f := fixture.On(pgtest.New(t, os.DirFS("../..")))
	first, second, id := f.NewID(), f.NewID(), f.NewID()
	for at, job := range [][2]uuid.UUID{{first, id}, {second, id}, {first, f.NewID()}} {
		queueJob(t, f.DB, job[0], job[1], at, 0)
	}
	// Each job ends in the database transaction that has renewed its lease.
	end := func(ctx context.Context, q pg.Querier, j jobs.Job) error {
		e, err := renewLease(ctx, q, j)
		if err != nil {
			return err
		}
		return setStatus(ctx, q, e, staging.Done, "", fixture.Today)
	}
	jobstest.Leases(t, f.DB, jobTable, end, first, second)
}

// TestLeaseJobOrder leases imports of different sizes. A small one precedes large ones that were
// queued up to 20 seconds earlier.
func TestLeaseJobOrder(t *testing.T) {
	t.Parallel()
	f := fixture.On(pgtest.New(t, os.DirFS("../..")))
	ids := map[uuid.UUID]string{}
	for name, job := range map[string]struct{ queued, rows int }{
		"oldest": {0, 200_000}, "large": {10, 200_000}, "small": {15, 10}, "medium": {14, 2000},
		"late": {25, 10},
	} {
		id := f.NewID()
		ids[id] = name
		queueJob(t, f.DB, id, id, job.queued, job.rows)
	}
	var order []string
	for range ids {
		j, err := jobTable.Lease(t.Context(), f.DB, time.Hour)
		require.NoError(t, err)
		order = append(order, ids[j.ID])
	}
	require.Equal(t, []string{"small", "medium", "oldest", "late", "large"}, order)
}

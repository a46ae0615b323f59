package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func TestJobPause(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]string{1: "1s", 2: "2s", 6: "32s", 7: "1m0s", 100: "1m0s"} {
		require.Equal(t, want, Job{Attempts: attempts}.pause().String())
	}
}

// TestRunQueued runs one job, and compares the calls that follow its lease.
func TestRunQueued(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		job  Job
		err  error
		want []string
	}{
		"succeeds":                            {Job{Attempts: 1}, nil, []string{"run"}},
		"releases after an error":             {Job{Attempts: 2}, broken, []string{"run", "release 2s"}},
		"releases after an unavailable part":  {Job{Attempts: 1}, apierr.Unavailable, []string{"run", "release 1s"}},
		"does not count a full disk":          {Job{Attempts: 8}, &pgconn.PgError{Code: "53100"}, []string{"run", "release 10s", "attempts 7"}},
		"fails with a public error":           {Job{Attempts: 1}, apierr.VersionMismatch, []string{"run", "fail VERSION_MISMATCH"}},
		"leaves a job of another replica":     {Job{Attempts: 1}, ErrLostLease, []string{"run"}},
		"runs at the last attempt":            {Job{Attempts: 8}, broken, []string{"run", "release 1m0s"}},
		"fails after the last attempt":        {Job{Attempts: 9}, broken, []string{"fail INTERNAL"}},
		"runs an endless job at each attempt": {Job{Attempts: 9, Endless: true}, broken, []string{"run", "release 1m0s"}},
		"never fails an endless job":          {Job{Attempts: 1, Endless: true}, apierr.VersionMismatch, []string{"run", "release 1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.job.OwnerID = uuid.New()
			leased := false
			var calls []string
			var warnings strings.Builder
			w := NewWorker(Table{
				Lease: func(context.Context, pg.Querier, uuid.UUID, time.Duration) (Job, error) {
					if leased {
						return Job{}, pgx.ErrNoRows
					}
					leased = true
					return c.job, nil
				},
				Release: func(_ context.Context, _ pg.Querier, j Job, pause time.Duration) error {
					calls = append(calls, "release "+pause.String())
					if j.Attempts != c.job.Attempts {
						calls = append(calls, fmt.Sprint("attempts ", j.Attempts))
					}
					return nil
				},
				Run: func(ctx context.Context, j Job) error {
					require.Equal(t, c.job.OwnerID, caller.ID(ctx))
					require.Equal(t, time.Minute, j.LeaseTime)
					calls = append(calls, "run")
					return c.err
				},
				Fail: func(_ context.Context, _ Job, reason string) error {
					calls = append(calls, "fail "+reason)
					return nil
				},
			}, &posting.Ledger{NewID: uuid.New}, slog.New(slog.NewTextHandler(&warnings, nil)))
			w.RunQueued(t.Context())
			require.Equal(t, c.want, calls)
			// An empty queue is not logged, because the worker looks for jobs every few seconds.
			released := slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "release") })
			require.Equal(t, released, warnings.Len() > 0, warnings.String())
			require.NotContains(t, warnings.String(), "failed to lease")
		})
	}
}

// TestRunQueuedAtShutdown ends the service while a job is leased. The job must wait for another replica.
func TestRunQueuedAtShutdown(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	w := NewWorker(Table{
		Lease: func(context.Context, pg.Querier, uuid.UUID, time.Duration) (Job, error) {
			stop()
			return Job{Attempts: 1}, nil
		},
		Run: func(context.Context, Job) error {
			require.Fail(t, "the job runs")
			return nil
		},
	}, &posting.Ledger{NewID: uuid.New}, slog.New(slog.DiscardHandler))
	w.RunQueued(ctx)
}

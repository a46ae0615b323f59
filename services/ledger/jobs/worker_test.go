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

// TestLeaseEnds requires that another replica continues a job within ten seconds after its replica
// was killed.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, leaseTime+pollInterval, 10*time.Second)
}

// recorder is a table with one job, which records the calls that follow its lease.
type recorder struct {
	job Job
	// waiting is set if another job waits.
	waiting bool
	// chunk runs a chunk after it was recorded.
	chunk  func() (finished bool, err error)
	leased bool
	calls  []string
}

func (r *recorder) table() Table {
	call := func(name string) { r.calls = append(r.calls, name) }
	return Table{
		Lease: func(context.Context, pg.Querier, uuid.UUID, time.Duration) (Job, error) {
			if r.leased {
				return Job{}, pgx.ErrNoRows
			}
			r.leased = true
			return r.job, nil
		},
		Release: func(ctx context.Context, _ pg.Querier, j Job, pause time.Duration) error {
			call("release " + pause.String())
			if j.Attempts != r.job.Attempts {
				call(fmt.Sprint("attempts ", j.Attempts))
			}
			return ctx.Err()
		},
		Yield: func(context.Context, pg.Querier, Job) (bool, error) {
			call("yield")
			return r.waiting, nil
		},
		Chunks: func(Job) Chunk {
			return func(context.Context, *Pace) (bool, error) {
				call("run")
				return r.chunk()
			}
		},
		Fail: func(_ context.Context, _ Job, reason string) error {
			call("fail " + reason)
			return nil
		},
	}
}

// run runs the job, and returns the warnings.
func (r *recorder) run(ctx context.Context) string {
	var warnings strings.Builder
	book := &posting.Ledger{NewID: uuid.New, Now: time.Now}
	NewWorker(r.table(), book, slog.New(slog.NewTextHandler(&warnings, nil))).RunQueued(ctx)
	return warnings.String()
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
			r := &recorder{job: c.job, chunk: func() (bool, error) { return true, c.err }}
			warnings := r.run(t.Context())
			require.Equal(t, c.want, r.calls)
			// An empty queue is not logged, because the worker looks for jobs every second.
			released := slices.ContainsFunc(r.calls, func(call string) bool { return strings.HasPrefix(call, "release") })
			require.Equal(t, released, warnings != "", warnings)
			require.NotContains(t, warnings, "failed to lease")
		})
	}
}

// TestRunQueuedIdentity requires that a chunk acts for the owner of its job, with the lease time of
// the worker.
func TestRunQueuedIdentity(t *testing.T) {
	t.Parallel()
	r := &recorder{job: Job{OwnerID: uuid.New(), Attempts: 1}}
	table := r.table()
	var owner uuid.UUID
	var lease time.Duration
	table.Chunks = func(j Job) Chunk {
		return func(ctx context.Context, _ *Pace) (bool, error) {
			owner, lease = caller.ID(ctx), j.LeaseTime
			return true, nil
		}
	}
	NewWorker(table, &posting.Ledger{NewID: uuid.New, Now: time.Now}, slog.New(slog.DiscardHandler)).RunQueued(t.Context())
	require.Equal(t, r.job.OwnerID, owner)
	require.Equal(t, leaseTime, lease)
}

// TestRunQueuedTurns runs a job of 25 chunks.
func TestRunQueuedTurns(t *testing.T) {
	t.Parallel()
	turn := append(slices.Repeat([]string{"run"}, turnChunks), "yield")
	for name, c := range map[string]struct {
		waiting bool
		want    []string
	}{
		"continues alone":                {false, slices.Concat(turn, turn, slices.Repeat([]string{"run"}, 5))},
		"lets a waiting job run instead": {true, turn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := 0
			r := &recorder{job: Job{Attempts: 1}, waiting: c.waiting, chunk: func() (bool, error) {
				chunks++
				return chunks == 25, nil
			}}
			require.Empty(t, r.run(t.Context()))
			require.Equal(t, c.want, r.calls)
		})
	}
}

// TestRunQueuedAtShutdown ends the service while a job is leased. The lease must end at once, and
// the attempt must not count.
func TestRunQueuedAtShutdown(t *testing.T) {
	t.Parallel()
	handedOver := []string{"release 0s", "attempts 0"}
	t.Run("before the first chunk", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		r := &recorder{job: Job{Attempts: 1}}
		table := r.table()
		lease := table.Lease
		table.Lease = func(ctx context.Context, q pg.Querier, id uuid.UUID, d time.Duration) (Job, error) {
			stop()
			return lease(ctx, q, id, d)
		}
		NewWorker(table, &posting.Ledger{NewID: uuid.New, Now: time.Now}, slog.New(slog.DiscardHandler)).RunQueued(ctx)
		require.Equal(t, handedOver, r.calls)
	})
	t.Run("during a chunk", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		r := &recorder{job: Job{Attempts: 1}, chunk: func() (bool, error) {
			stop()
			return false, ctx.Err()
		}}
		require.Empty(t, r.run(ctx))
		require.Equal(t, append([]string{"run"}, handedOver...), r.calls)
	})
}

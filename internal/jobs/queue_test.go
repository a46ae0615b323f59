package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/caller"
	"github.com/coffer-budget/coffer/internal/jobs"
	"github.com/coffer-budget/coffer/internal/pg"
	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// schema has a table of jobs. pause is the time in seconds for which the last statement leased a
// job.
var schema = fstest.MapFS{"migrations/0001_tasks.sql": {Data: []byte(`
	CREATE TABLE tasks (
		owner_id uuid NOT NULL, id uuid NOT NULL, status text NOT NULL,
		queued_at timestamptz NOT NULL, attempts integer NOT NULL,
		lease uuid, leased_until timestamptz, pause integer,
		PRIMARY KEY (owner_id, id));
	CREATE FUNCTION set_pause() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN NEW.pause = extract(epoch FROM NEW.leased_until - now()); RETURN NEW; END $$;
	CREATE TRIGGER set_pause BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION set_pause()`)}}

var table = jobs.Table{
	Name: "tasks", ID: "id", Unfinished: `status IN ('queued', 'deleting')`,
	QueuedAt: "queued_at", Remaining: "0", Endless: "deleting",
}

// tasks is a table of jobs with a handler, which runs chunk and records what it did.
type tasks struct {
	*pgxpool.Pool
	chunk func(ctx context.Context, j jobs.Job) (finished bool, err error)
	// ran has the owner of each chunk. failed is the reason with which a job failed.
	ran    []uuid.UUID
	failed string
	log    strings.Builder
}

func setup(t *testing.T) *tasks {
	t.Helper()
	return &tasks{Pool: pgtest.New(t, schema)}
}

// add queues a job. Jobs are queued one second after the other.
func (s *tasks) add(t *testing.T, owner, id uuid.UUID, status string, attempts int) {
	t.Helper()
	pgtest.Exec(t, s, `
		INSERT INTO tasks
		SELECT $1, $2, $3, now() + make_interval(secs => -100 + (SELECT count(*) FROM tasks)), $4`,
		owner, id, status, attempts)
}

// queue returns the queue of a replica.
func (s *tasks) queue() *jobs.Queue {
	handler := jobs.Handler{
		Chunks: func(j jobs.Job) jobs.Chunk {
			return func(ctx context.Context, _ *jobs.Pace) (bool, error) {
				s.ran = append(s.ran, j.OwnerID)
				finished, err := s.chunk(ctx, j)
				if finished && err == nil {
					err = s.end(ctx, s, j)
				}
				return finished, err
			}
		},
		Fail: func(ctx context.Context, j jobs.Job, reason string) error {
			s.failed = reason
			return s.end(ctx, s, j)
		},
	}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	return jobs.NewQueue(table, handler, s.Pool, time.Now, log)
}

func (s *tasks) end(ctx context.Context, q pg.Querier, j jobs.Job) error {
	tag, err := q.Exec(ctx, `
		UPDATE tasks
		SET status = 'done', lease = NULL, leased_until = NULL
		WHERE owner_id = $1 AND id = $2 AND lease = $3`, j.OwnerID, j.ID, j.Lease)
	if err == nil && tag.RowsAffected() == 0 {
		return jobs.ErrLostLease
	}
	return err
}

// state is the row of the only job.
type state struct {
	Status   string
	Attempts int
	Pause    *int
}

func (s *tasks) state(t *testing.T) state {
	t.Helper()
	row, err := pg.One[state](t.Context(), s, `SELECT status, attempts, pause FROM tasks`)
	require.NoError(t, err)
	return row
}

// TestRunQueued runs a job of one chunk.
func TestRunQueued(t *testing.T) {
	t.Parallel()
	const lease, last = 6, 8
	broken := errors.New("broken")
	type outcome struct {
		runs   int
		failed string
		state
	}
	for name, tc := range map[string]struct {
		status   string
		attempts int
		err      error
		want     outcome
	}{
		"succeeds": {"queued", 0, nil, outcome{1, "", state{"done", 1, nil}}},
		"releases after an error": {
			"queued", 1, broken, outcome{1, "", state{"queued", 2, new(2)}},
		},
		"releases after an unavailable part": {
			"queued", 0, apierr.Unavailable, outcome{1, "", state{"queued", 1, new(1)}},
		},
		"does not count a full disk": {
			"queued", 7, &pgconn.PgError{Code: "53100"},
			outcome{1, "", state{"queued", 7, new(10)}},
		},
		"fails with a public error": {
			"queued", 0, apierr.VersionMismatch,
			outcome{1, "VERSION_MISMATCH", state{"done", 1, nil}},
		},
		"leaves a job of another replica": {
			"queued", 0, jobs.ErrLostLease, outcome{1, "", state{"queued", 1, new(lease)}},
		},
		"runs at the last attempt": {
			"queued", last - 1, broken, outcome{1, "", state{"queued", last, new(60)}},
		},
		"fails after the last attempt": {
			"queued", last, broken, outcome{0, "INTERNAL", state{"done", last + 1, nil}},
		},
		"runs an endless job at each attempt": {
			"deleting", last, broken, outcome{1, "", state{"deleting", last + 1, new(60)}},
		},
		"never fails an endless job": {
			"deleting", 0, apierr.VersionMismatch, outcome{1, "", state{"deleting", 1, new(1)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.chunk = func(context.Context, jobs.Job) (bool, error) { return true, tc.err }
			s.add(t, uuid.New(), uuid.New(), tc.status, tc.attempts)
			s.queue().RunQueued(t.Context())
			require.Equal(t, tc.want, outcome{len(s.ran), s.failed, s.state(t)})
			// An empty queue is not logged, because the worker looks for jobs every second.
			released := tc.want.Pause != nil && *tc.want.Pause != lease
			require.Equal(t, released, s.log.Len() > 0, s.log.String())
			require.NotContains(t, s.log.String(), "failed to lease")
		})
	}
}

// TestRunQueuedIdentity requires that a chunk acts for the owner of its job, with the lease time of
// the queue.
func TestRunQueuedIdentity(t *testing.T) {
	t.Parallel()
	tasks := setup(t)
	want, got := uuid.New(), uuid.Nil
	tasks.chunk = func(ctx context.Context, j jobs.Job) (bool, error) {
		got = caller.ID(ctx)
		require.Equal(t, 6*time.Second, j.LeaseTime)
		return true, nil
	}
	tasks.add(t, want, uuid.New(), "queued", 0)
	tasks.queue().RunQueued(t.Context())
	require.Equal(t, want, got)
}

// TestRunQueuedTurns runs jobs of 25 chunks, in turns of 10 chunks if several owners wait.
func TestRunQueuedTurns(t *testing.T) {
	t.Parallel()
	first, second := uuid.New(), uuid.New()
	for name, tc := range map[string]struct{ owners, want []uuid.UUID }{
		"continues alone": {[]uuid.UUID{first}, slices.Repeat([]uuid.UUID{first}, 25)},
		"lets a waiting job run instead": {[]uuid.UUID{first, second}, slices.Concat(
			slices.Repeat([]uuid.UUID{first}, 10), slices.Repeat([]uuid.UUID{second}, 10),
			slices.Repeat([]uuid.UUID{first}, 10), slices.Repeat([]uuid.UUID{second}, 10),
			slices.Repeat([]uuid.UUID{first}, 5), slices.Repeat([]uuid.UUID{second}, 5))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := setup(t)
			chunks := map[uuid.UUID]int{}
			tasks.chunk = func(_ context.Context, j jobs.Job) (bool, error) {
				chunks[j.OwnerID]++
				return chunks[j.OwnerID] == 25, nil
			}
			for _, owner := range tc.owners {
				tasks.add(t, owner, uuid.New(), "queued", 0)
			}
			tasks.queue().RunQueued(t.Context())
			require.Equal(t, tc.want, tasks.ran)
			require.Zero(t, tasks.log.Len(), tasks.log.String())
			attempts, err := pg.All[struct{ Attempts int }](t.Context(),
				tasks, `SELECT attempts FROM tasks`)
			require.NoError(t, err)
			for _, row := range attempts {
				require.Equal(t, 1, row.Attempts, "a turn without an error is no attempt")
			}
		})
	}
}

// TestRunQueuedAtShutdown ends the replica while a job is leased. The lease must end at once, the
// attempt must not count, and another replica must continue.
func TestRunQueuedAtShutdown(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]int{"before the first chunk": 0, "during a chunk": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			tasks := setup(t)
			tasks.chunk = func(ctx context.Context, _ jobs.Job) (bool, error) {
				stop()
				return false, ctx.Err()
			}
			tasks.add(t, uuid.New(), uuid.New(), "queued", 0)
			queue := tasks.queue()
			if runs == 0 {
				chunks := queue.Chunks
				queue.Chunks = func(j jobs.Job) jobs.Chunk { stop(); return chunks(j) }
			}
			queue.RunQueued(ctx)
			require.Len(t, tasks.ran, runs)
			require.Equal(t, state{"queued", 0, new(0)}, tasks.state(t))
			require.Zero(t, tasks.log.Len(), tasks.log.String())
			tasks.chunk = func(context.Context, jobs.Job) (bool, error) { return true, nil }
			tasks.queue().RunQueued(t.Context())
			require.Equal(t, state{"done", 1, nil}, tasks.state(t))
		})
	}
}

// TestRunQueuedAfterKill leases a job for replicas that are killed, whose leases have ended.
func TestRunQueuedAfterKill(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kills  int
		failed string
	}{"continues the job": {1, ""}, "fails a job that kills its replicas": {8, "INTERNAL"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := setup(t)
			tasks.chunk = func(context.Context, jobs.Job) (bool, error) { return true, nil }
			tasks.add(t, uuid.New(), uuid.New(), "queued", 0)
			var killed jobs.Job
			for range tc.kills {
				var err error
				killed, err = table.Lease(t.Context(), tasks, -time.Second)
				require.NoError(t, err)
			}
			tasks.queue().RunQueued(t.Context())
			require.Equal(t, tc.failed, tasks.failed)
			require.Equal(t, state{"done", tc.kills + 1, nil}, tasks.state(t))
			require.ErrorIs(t, tasks.end(t.Context(), tasks, killed), jobs.ErrLostLease)
		})
	}
}

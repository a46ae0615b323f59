package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]string{1: "1s", 2: "2s", 6: "32s", 7: "1m0s", 100: "1m0s"} {
		require.Equal(t, want, Backoff(attempt, firstPause, lastPause).String())
	}
}

// TestLeaseEnds requires that another replica continues a job within ten seconds after its replica
// was killed.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, leaseTime+leasePoll, 10*time.Second)
}

func TestWorkerRunQueued(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err   error
		calls int
	}{"works while more is due": {nil, 3}, "stops after an error": {errors.New("broken"), 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			work := func(context.Context) (bool, error) {
				calls++
				return calls < 3, tc.err
			}
			log := slog.New(slog.DiscardHandler)
			NewWorker(time.Hour, log, "failed", work).RunQueued(t.Context())
			require.Equal(t, tc.calls, calls)
		})
	}
}

func TestWorkerRun(t *testing.T) {
	t.Parallel()
	// run runs a worker in goroutines until the test ends. do waits until one of them works, and
	// gives it the work.
	run := func(t *testing.T, poll time.Duration, goroutines int) (worker *Worker,
		do func(func()),
	) {
		t.Helper()
		due := make(chan func())
		ctx, stop := context.WithCancel(t.Context())
		log := slog.New(slog.DiscardHandler)
		worker = NewWorker(poll, log, "failed", func(context.Context) (bool, error) {
			select {
			case work := <-due:
				work()
			case <-ctx.Done():
			}
			return false, nil
		})
		var running sync.WaitGroup
		for range goroutines {
			running.Go(func() { worker.Run(ctx) })
		}
		t.Cleanup(func() {
			stop()
			running.Wait()
		})
		return worker, func(work func()) {
			t.Helper()
			select {
			case due <- work:
			case <-time.After(time.Minute):
				require.Fail(t, "no goroutine looks for work")
			}
		}
	}
	nothing := func() {}
	t.Run("polls", func(t *testing.T) {
		t.Parallel()
		_, do := run(t, time.Millisecond, 1)
		for range 3 {
			do(nothing)
		}
	})
	t.Run("starts with a wake, also one during work", func(t *testing.T) {
		t.Parallel()
		w, do := run(t, time.Hour, 1)
		do(nothing)
		w.Wake()
		do(w.Wake)
		do(nothing)
	})
	t.Run("wakes an idle goroutine while another one works", func(t *testing.T) {
		t.Parallel()
		w, do := run(t, time.Hour, 2)
		end := make(chan struct{})
		defer close(end)
		do(func() { <-end })
		do(nothing)
		w.Wake()
		do(nothing)
	})
}

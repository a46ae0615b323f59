package pg_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg"
)

func TestSweepRunsImmediatelyAndHourlyDespiteErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		times, ended := 0, false
		go func() {
			pg.Sweep(ctx, slog.New(slog.DiscardHandler), func(context.Context) error {
				times++
				return errors.New("the database is away")
			})
			ended = true
		}()
		synctest.Wait()
		require.Equal(t, 1, times)
		time.Sleep(2*time.Hour + time.Minute)
		require.Equal(t, 3, times)
		stop()
		synctest.Wait()
		require.True(t, ended)
	})
}

// TestSweepOwners has rows of two owners, of which each statement reads or deletes two.
func TestSweepOwners(t *testing.T) {
	t.Parallel()
	first, second := uuid.UUID{1}, uuid.UUID{2}
	broken := errors.New("broken")
	all := []uuid.UUID{first, second, first, second, second}
	for name, tc := range map[string]struct {
		next, sweep error
		left        []uuid.UUID
	}{
		"deletes all rows":             {},
		"returns the error of a read":  {next: broken, left: all},
		"returns the error of a sweep": {sweep: broken, left: all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := []uuid.UUID{first, second, first, second, second}
			next := func() ([]uuid.UUID, error) {
				return slices.Clone(rows[:min(2, len(rows))]), tc.next
			}
			err := pg.SweepOwners(next, func(owner uuid.UUID) (bool, error) {
				if tc.sweep != nil {
					return false, tc.sweep
				}
				before := len(rows)
				for range 2 {
					if i := slices.Index(rows, owner); i >= 0 {
						rows = slices.Delete(rows, i, i+1)
					}
				}
				return len(rows) < before, nil
			})
			require.Equal(t, cmp.Or(tc.next, tc.sweep), err)
			require.Equal(t, tc.left, append([]uuid.UUID(nil), rows...))
		})
	}
	t.Run("ends if no row can be deleted", func(t *testing.T) {
		t.Parallel()
		var swept []uuid.UUID
		next := func() ([]uuid.UUID, error) { return []uuid.UUID{second, first, second}, nil }
		require.NoError(t, pg.SweepOwners(next, func(owner uuid.UUID) (bool, error) {
			swept = append(swept, owner)
			return false, nil
		}))
		require.ElementsMatch(t, []uuid.UUID{first, second}, swept, "once for each owner")
	})
}

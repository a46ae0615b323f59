package pg_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

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

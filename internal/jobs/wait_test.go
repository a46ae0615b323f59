package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWait waits until a number, which increases with each read, reaches a goal.
func TestWait(t *testing.T) {
	t.Parallel()
	const never = 1000
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		wait, deadline time.Duration
		goal           int
		err            error
		took           time.Duration
	}{
		"returns at once":              {wait: maxWait, deadline: time.Minute},
		"returns at the goal":          {maxWait, time.Minute, 2, nil, 2 * waitStep},
		"returns after the time":       {maxWait, time.Minute, never, nil, maxWait},
		"returns before the deadline":  {maxWait, 3 * time.Second, never, nil, 2 * time.Second},
		"does not wait without time":   {maxWait, answerTime / 2, never, nil, 0},
		"does not wait without a wait": {0, time.Minute, never, nil, 0},
		"returns an error of a read":   {maxWait, time.Minute, never, broken, waitStep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
				defer cancel()
				began, reads := time.Now(), 0
				_, err := Wait(ctx, tc.wait, 0, func() (int, error) {
					reads++
					return reads, tc.err
				}, func(now int) bool { return now >= tc.goal })
				require.ErrorIs(t, err, tc.err)
				require.Equal(t, tc.took, time.Since(began))
			})
		})
	}
	t.Run("ends with the request", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(waitStep/2, cancel)
			_, err := Wait(ctx, maxWait, 0, func() (int, error) { return 0, nil },
				func(int) bool { return false })
			require.ErrorIs(t, err, context.Canceled)
		})
	})
}

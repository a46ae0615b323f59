package admission

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
)

func TestRateLimitBurstAndRate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	limits, err := newRateLimit(2, func() time.Time { return now })
	require.NoError(t, err)
	for left := 9; left >= 0; left-- {
		h := http.Header{}
		require.NoError(t, limits.take("ada", 1, h))
		require.Equal(t, "10", h.Get("RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(left), h.Get("RateLimit-Remaining"))
		require.Equal(t, strconv.Itoa((10-left+1)/2), h.Get("RateLimit-Reset"))
	}
	h := http.Header{}
	e := apierr.From(limits.take("ada", 1, h))
	require.Equal(t, "RATE_LIMITED", e.Reason)
	require.Equal(t, time.Second/2, e.RetryAfter)
	require.Equal(t, "0", h.Get("RateLimit-Remaining"))
	require.NoError(t, limits.take("bob", 1, http.Header{}), "each user has a bucket")

	now = now.Add(time.Second / 2)
	require.NoError(t, limits.take("ada", 1, http.Header{}))
	require.Error(t, limits.take("ada", 1, http.Header{}),
		"a rejected request costs nothing, and half a second brings one")
}

func TestRateLimitWeight(t *testing.T) {
	t.Parallel()
	limits, err := newRateLimit(2, func() time.Time { return time.Unix(1, 0) })
	require.NoError(t, err)
	h := http.Header{}
	require.NoError(t, limits.take("ada", 7, h))
	require.Equal(t, "3", h.Get("RateLimit-Remaining"))
	e := apierr.From(limits.take("ada", 7, h))
	require.Equal(t, "RATE_LIMITED", e.Reason)
	require.Equal(t, 2*time.Second, e.RetryAfter)
	require.Equal(t, "3", h.Get("RateLimit-Remaining"))
	require.NoError(t, limits.take("ada", 3, h))
	require.NoError(t, limits.take("bob", 50, h), "a weight above the burst takes the whole burst")
}

func TestRateLimitSharesBucket(t *testing.T) {
	t.Parallel()
	limits, err := newRateLimit(2, func() time.Time { return time.Unix(1, 0) })
	require.NoError(t, err)
	var allowed atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if limits.take("ada", 1, http.Header{}) == nil {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int32(10), allowed.Load())
}

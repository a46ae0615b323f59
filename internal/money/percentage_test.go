package money

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		amount, total int64
		want          float64
	}{
		{0, 300, 0},
		{29, 100, 29},
		{1, 3, 33.33},
		{2, 3, 66.67},
		{99_996, 100_000, 99.99},
		{99_999_999_999_998, 99_999_999_999_999, 99.99},
		{100_000, 100_000, 100},
		{100_001, 100_000, 100},
		{1000, 300, 333.33},
		{-50, 300, -16.67},
		{-1, 30_000, 0},
		{math.MaxInt64 - 1, math.MaxInt64, 99.99},
		{math.MinInt64, math.MaxInt64, -100},
	} {
		got := Percentage(tc.amount, tc.total)
		require.InDelta(t, tc.want, got, 0, "%d of %d", tc.amount, tc.total)
		require.Equal(t, tc.want < 0, math.Signbit(got), "%d of %d", tc.amount, tc.total)
	}
}

package calibration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfidences(t *testing.T) {
	t.Parallel()
	require.Len(t, curves, 5, "merchant, date, currency, total and lines")
	for field, c := range curves {
		require.NotEmpty(t, c, field)
		for i, p := range c {
			require.Positive(t, p.Confidence, field)
			require.Less(t, p.Confidence, 1.0, field)
			if i > 0 {
				require.Greater(t, p.Score, c[i-1].Score, field)
				require.Greater(t, p.Confidence, c[i-1].Confidence, field)
			}
		}
	}
	got := Confidences(map[string]float64{"total": 0.99, "tip": 0.6})
	require.GreaterOrEqual(t, got["total"], 0.9)
	require.InDelta(t, 0.6, got["tip"], 0, "tips have no labels")
}

func TestFit(t *testing.T) {
	t.Parallel()
	var results []Result
	for i := range 100 {
		// Half of the results with low scores are right, and all with high scores.
		results = append(results, Result{Score: 0.3, Right: i%2 == 0}, Result{0.8, true})
	}
	c := Fit(results)
	require.Equal(t, Curve{{0.3, 0.5}, {0.8, 0.99}}, c)
	require.InDelta(t, 0.99, c.At(0.9), 0)
	require.Greater(t, c.At(0.5), c.At(0.3))
	require.Less(t, c.At(0.1), c.At(0.3))
	require.Equal(t, c, parse("total: " + c.String())["total"])
	require.Len(t, Fit(results[:3]), 1)
	for i := range results {
		results[i].Right = !results[i].Right
	}
	require.Len(t, Fit(results), 1, "a higher score does not mean less")
}

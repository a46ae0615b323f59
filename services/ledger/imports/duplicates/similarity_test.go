package duplicates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimilarity(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1.0, similarity("Café Müller", "CAFE MULLER!"), 0)
	require.InDelta(t, 0.363636, similarity("word", "two words"), 0.00001)
	require.Zero(t, similarity("abc", "xyz"))
	require.Zero(t, similarity("", ""))
}

package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	pace := NewPace(func() time.Time { return now })
	// chunk runs a chunk that needs a time per row, and returns its rows and its duration.
	chunk := func(perRow time.Duration) (int, time.Duration) {
		now = now.Add(time.Second) // the chunk waits for its locks
		rows := pace.Rows()
		took := time.Duration(rows) * perRow
		now = now.Add(took)
		pace.end()
		return rows, took
	}
	for _, tc := range []struct {
		perRow time.Duration
		rows   int
	}{
		{500 * time.Microsecond, 300},
		{3 * time.Millisecond, 50},
		{time.Second, minRows},
		{0, maxRows},
	} {
		for range 10 {
			chunk(tc.perRow)
		}
		rows, took := chunk(tc.perRow)
		require.Equal(t, tc.rows, rows, tc.perRow)
		if rows > minRows {
			require.LessOrEqual(t, took, chunkTime)
		}
	}
	before, _ := chunk(time.Second)
	after, _ := chunk(0)
	require.Equal(t, before/2, after, "one slow chunk halves the rows at most")
	pace.end()
	require.Equal(t, 2*after, pace.Rows(), "a chunk that asked for no rows changes nothing")
}

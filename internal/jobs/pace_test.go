package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	p := NewPace(func() time.Time { return now })
	// chunk runs a chunk that needs a time per row, and returns its rows and its duration.
	chunk := func(perRow time.Duration) (int, time.Duration) {
		now = now.Add(time.Second) // the chunk waits for its locks
		rows := p.Rows()
		took := time.Duration(rows) * perRow
		now = now.Add(took)
		p.end()
		return rows, took
	}
	for _, c := range []struct {
		perRow time.Duration
		rows   int
	}{
		{500 * time.Microsecond, 300},
		{3 * time.Millisecond, 50},
		{time.Second, minRows},
		{0, maxRows},
	} {
		for range 10 {
			chunk(c.perRow)
		}
		rows, took := chunk(c.perRow)
		require.Equal(t, c.rows, rows, c.perRow)
		if rows > minRows {
			require.LessOrEqual(t, took, chunkTime)
		}
	}
	before, _ := chunk(time.Second)
	after, _ := chunk(0)
	require.Equal(t, before/2, after, "one slow chunk halves the rows at most")
	p.end()
	require.Equal(t, 2*after, p.Rows(), "a chunk that asked for no rows changes nothing")
}

package duplicates

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestMatchWorstCase matches many payments of one amount, or of a few days and some amounts. The
// number of comparisons is limited, each row finds its equal text, and all others name one
// transaction each. Without the limit, the last cases take minutes.
func TestMatchWorstCase(t *testing.T) {
	t.Parallel()
	different := func(name string) func(i int) facts {
		return func(i int) facts { return on(5, fmt.Sprintf("%s%d", name, i), "") }
	}
	// small returns payments of groups that are too small for a limit of their own.
	small := func(name string) func(i int) facts {
		return func(i int) facts {
			p := on(5, fmt.Sprintf("%s%d", name, i), "")
			p.AmountMinor = int64(-i / 100)
			return p
		}
	}
	for name, c := range map[string]struct {
		n                int
		row, transaction func(i int) facts
		matched          bool
	}{
		"different texts": {20_000, different("Other"), different("Shop"), false},
		"their texts":     {20_000, different("Shop"), different("Shop"), true},
		"equal texts": {
			20_000, func(int) facts { return on(5, "Shop", "Lunch") },
			func(int) facts { return on(5, "Shop", "Lunch") }, true,
		},
		"many rows":                   {60_000, different("Other"), different("Shop"), false},
		"small groups":                {60_000, small("Other"), small("Shop"), false},
		"their texts in small groups": {60_000, small("Shop"), small("Shop"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, found := make([]wanted, c.n), map[key][]existing{}
			for i := range c.n {
				e := stored(i, c.transaction(i))
				e.ID[13] = byte(i >> 16)
				e.Parts[0] = e.ID
				found[e.key()] = append(found[e.key()], e)
				rows[i] = wanted{facts: c.row(i), N: int32(i)}
			}
			m := matching{used: map[uuid.UUID]bool{}, done: map[int32]bool{}}
			began := time.Now()
			m.match(rows, found)
			require.Less(t, time.Since(began), time.Minute)
			require.LessOrEqual(t, m.compared, maxComparisons)
			require.Len(t, m.results, c.n)
			named := map[uuid.UUID]bool{}
			for _, r := range m.results {
				named[r.transaction] = true
				require.Equal(t, c.matched, r.status == matched)
			}
			require.Len(t, named, c.n)
		})
	}
}

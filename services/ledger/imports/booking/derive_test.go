package booking

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestDerivationsPut derives large imports in turn, twice as many as a replica remembers. A turn
// replays or derives the rows of a step. All imports must be finished, although other replicas have
// left derivations of more rows.
func TestDerivationsPut(t *testing.T) {
	t.Parallel()
	const last = 30
	x := derivations{open: map[uuid.UUID]kept{}}
	now := time.Now()
	for range maxDerivations {
		x.put(uuid.New(), kept{nil, last, now})
	}
	imports := make([]uuid.UUID, 2*maxDerivations)
	for i := range imports {
		imports[i] = uuid.New()
	}
	for round := 0; len(imports) > 0; round++ {
		require.Less(t, round, 200, "the imports evict the derivations of one another")
		imports = slices.DeleteFunc(imports, func(id uuid.UUID) (finished bool) {
			now = now.Add(time.Second)
			position := x.open[id].rows + 1
			delete(x.open, id)
			if position == last {
				return true
			}
			x.put(id, kept{nil, position, now})
			require.LessOrEqual(t, len(x.open), maxDerivations)
			return false
		})
	}
}

package booking

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestDerivationsPut derives large imports in turn, ten times as many as a replica remembers. A
// turn replays or derives the rows of a step. All imports must be finished, although derivations of
// more rows have ended on other replicas.
func TestDerivationsPut(t *testing.T) {
	t.Parallel()
	const last = 30
	x := derivations{open: map[uuid.UUID]kept{}}
	for range maxDerivations {
		x.put(uuid.New(), kept{&derivation{id: uuid.New()}, last})
	}
	imports := make([]uuid.UUID, 10*maxDerivations)
	active := map[uuid.UUID]bool{}
	for i := range imports {
		imports[i] = uuid.New()
		active[imports[i]] = true
	}
	for round := 0; len(imports) > 0; round++ {
		require.Less(t, round, 1000, "the imports evict the derivations of one another")
		imports = slices.DeleteFunc(imports, func(id uuid.UUID) (finished bool) {
			position := x.open[id].rows + 1
			delete(x.open, id)
			if active[id] = position < last; !active[id] {
				return true
			}
			x.retain(active)
			x.put(id, kept{&derivation{id: id}, position})
			require.LessOrEqual(t, len(x.open), maxDerivations)
			return false
		})
	}
}

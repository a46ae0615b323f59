package booking

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestDerivationsPut derives one import more than a replica remembers, in turn. Each must find its
// derivation in some of its turns, because otherwise it would only replay rows and then fail.
func TestDerivationsPut(t *testing.T) {
	t.Parallel()
	x := derivations{open: map[uuid.UUID]*derivation{}}
	ids := make([]uuid.UUID, maxDerivations+1)
	for i := range ids {
		ids[i] = uuid.New()
	}
	found := map[uuid.UUID]int{}
	for range 1000 {
		for _, id := range ids {
			if x.open[id] != nil {
				found[id]++
			}
			delete(x.open, id)
			x.put(id, &derivation{id: id})
			require.LessOrEqual(t, len(x.open), maxDerivations)
		}
	}
	for _, id := range ids {
		require.Positive(t, found[id])
	}
}

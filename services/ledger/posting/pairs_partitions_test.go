package posting_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestConcurrentWritesOnPartitions runs some of the pairs of TestConcurrentWrites on tables of 16
// partitions by owner: each write is stopped as late as possible, and meets itself, the next one of
// the list, a create and a merge. A merge changes the rows of most other writes.
func TestConcurrentWritesOnPartitions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, fixture.Partitioned(t, os.DirFS("..")))
	p := newPausedServer(t, serve(t.Context(), fixture.On(db)), "partitions")
	installPauses(t, p.DB, pauses...)
	named := func(name string) request {
		i := slices.IndexFunc(writes, func(r request) bool { return r.name == name })
		return writes[i]
	}
	create, merge := named("create"), named("merge")
	for i, first := range writes {
		reached := p.reached(t, first)
		require.NotEmpty(t, reached, "%s does not stop", first.name)
		p.runPairs(t, reached[len(reached)-1], first,
			[]request{first, writes[(i+1)%len(writes)], create, merge})
	}
}

package posting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/verify"
)

// TestRepairOwnerDuringWrites stops each write at each point and repairs the owner meanwhile. The
// repair waits, so the repaired sums include the write.
func TestRepairOwnerDuringWrites(t *testing.T) {
	t.Parallel()
	s := setup(t)
	installPauses(t, s.DB, "BEFORE outbox")
	p := newPausedServer(t, s, "repair")
	for _, first := range writes {
		h := p.newHoldings(t, 1)[0]
		first.setUp(t, &h)
		pgtest.Exec(t, s.DB,
			`UPDATE monthly_totals SET expense_minor = expense_minor + 1 WHERE owner_id = $1`, h.ID)
		release := p.hold(t, "BEFORE outbox", h.ID)
		written := p.start(t, 1, func() error { return first.write(h) })
		repaired := p.start(t, 2, func() error {
			_, err := verify.RepairOwner(t.Context(), p.DB, h.ID)
			return err
		})
		release()
		require.NoError(t, <-written, first.name)
		require.NoError(t, <-repaired, first.name)
		require.Zero(t, p.deadlocks.Load(), first.name)
		require.Empty(t, s.Differences(t)[h.ID], first.name)
	}
}

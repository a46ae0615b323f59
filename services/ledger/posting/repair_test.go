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
	service := setup(t)
	installPauses(t, service.DB, "BEFORE outbox")
	server := newPausedServer(t, service, "repair")
	for _, first := range writes {
		holdings := server.newHoldings(t, 1)[0]
		first.setUp(t, &holdings)
		pgtest.Exec(t, service.DB,
			`UPDATE monthly_totals SET expense_minor = expense_minor + 1 WHERE owner_id = $1`,
			holdings.ID)
		release := server.hold(t, "BEFORE outbox", holdings.ID)
		written := server.start(t, 1, func() error { return first.write(holdings) })
		repaired := server.start(t, 2, func() error {
			_, err := verify.RepairOwner(t.Context(), server.DB, holdings.ID)
			return err
		})
		release()
		require.NoError(t, <-written, first.name)
		require.NoError(t, <-repaired, first.name)
		require.Zero(t, server.deadlocks.Load(), first.name)
		require.Empty(t, service.Differences(t)[holdings.ID], first.name)
	}
}

package posting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
)

// TestConcurrentUpdates stops an update that is based on a version right before it writes, and
// starts another one of the same version on another replica. Only one of them may succeed: the
// second must wait for the first before it reads the version.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	service := setup(t)
	installPauses(t, service.DB, "BEFORE categories", "BEFORE wallets", "BEFORE transactions")
	for name, test := range map[string]struct {
		pause  string
		update func(h holdings) error
	}{
		"category": {"BEFORE categories", func(h holdings) error {
			_, err := h.UpdateCategory(h.Ctx, &ledgerv1.UpdateCategoryRequest{
				Id: h.Category.String(), Name: new("Groceries"), IfMatch: `"1"`,
			})
			return err
		}},
		"wallet": {"BEFORE wallets", func(h holdings) error {
			_, err := h.UpdateWallet(h.Ctx, &ledgerv1.UpdateWalletRequest{
				Id: h.Wallet.String(), Name: new("Purse"), IfMatch: `"1"`,
			})
			return err
		}},
		"transaction": {"BEFORE transactions", func(h holdings) error {
			_, err := h.UpdateTransaction(h.Ctx,
				&updateRequest{Id: h.food, Amount: new("9"), IfMatch: `"1"`})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newPausedServer(t, service, name)
			h := server.newHoldings(t, 1)[0]
			replica := h
			replica.service = server.replica
			release := server.hold(t, test.pause, h.ID)
			first := server.start(t, 1, func() error { return test.update(h) })
			second := server.start(t, 2, func() error { return test.update(replica) })
			release()
			require.NoError(t, <-first)
			require.ErrorIs(t, <-second, apierr.VersionMismatch)
		})
	}
}

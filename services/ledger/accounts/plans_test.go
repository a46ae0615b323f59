package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestGetWalletClearedPlans requires that the comparison of a wallet with the bank reads the
// uncleared transactions only, in a wallet of which the bank has booked all but the newest.
func TestGetWalletClearedPlans(t *testing.T) {
	t.Parallel()
	s, u := fixture.NewRich(t)
	pgtest.Exec(t, s.DB, `
		UPDATE transactions SET cleared = true
		WHERE owner_id = $1 AND wallet_id = $2 AND date < $3`,
		u.ID, u.Wallet, fixture.Today.AddDate(0, 0, -7))
	pgtest.Exec(t, s.DB, `VACUUM ANALYZE transactions`)
	pool, plans := fixture.Explained(t, s.DB)
	on := fixture.On(pool)
	// From the sixth time on, PostgreSQL may use one plan for all values.
	for range 7 {
		resp, err := (&Accounts{Ledger: on.Ledger, Gates: on.Reads}).GetWallet(u.Ctx,
			&ledgerv1.GetWalletRequest{Id: u.Wallet.String(), Include: []string{"cleared"}})
		require.NoError(t, err)
		require.Positive(t, resp.GetCleared()[0].GetUncleared().GetCount())
		plans.RequireCheap(t, 2000, 1000)
	}
}

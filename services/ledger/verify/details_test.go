package verify

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// recordDetails records a split transaction with an attachment, and a transfer within the wallet.
func (p person) recordDetails(t require.TestingT) {
	transfer := p.NewID()
	at := fixture.Today.UTC()
	ts := []posting.Transaction{
		{WalletID: p.Wallet, AmountMinor: -1000, Currency: "EUR", Date: at, Splits: []posting.Split{
			{CategoryID: p.Category, AmountMinor: -1200},
			{CategoryID: p.Category, AmountMinor: 200},
		}},
		{WalletID: p.Wallet, AmountMinor: -300, Currency: "EUR", Date: at, TransferID: &transfer},
		{WalletID: p.Wallet, AmountMinor: 300, Currency: "EUR", Date: at, TransferID: &transfer},
		{WalletID: p.Wallet, AmountMinor: 50, Currency: "EUR", Date: at, Adjustment: true},
	}
	p.Record(p.Ctx, t, ts...)
	_, err := p.DB.Exec(p.Ctx, `
		WITH attached AS (
			INSERT INTO attachments (owner_id, id, transaction_id, status, name, created_at)
				VALUES ($1, $2, $2, 'ready', 'a.pdf', now())
		)
		UPDATE transactions SET attachment_count = 1 WHERE id = $2`, p.ID, ts[0].ID)
	require.NoError(t, err)
}

// TestVerifyDetails corrupts values that follow from other rows of a transaction. A repair replaces
// copies and counts. It cannot know which of the rows is wrong if parts or legs are missing, so
// these remain.
func TestVerifyDetails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		corruption, difference string
		remains                bool
	}{
		"wallet of the parts": {
			corruption: `UPDATE splits SET wallet_id = owner_id WHERE owner_id = $1`,
			difference: "wallet, currency and date of the parts",
		},
		"currency of a part": {
			corruption: `UPDATE splits SET currency = 'USD' WHERE owner_id = $1 AND position = 0`,
			difference: "wallet, currency and date of the parts",
		},
		"month of the parts": {
			corruption: `UPDATE splits SET date = date + interval '1 month' WHERE owner_id = $1`,
			difference: "wallet, currency and date of the parts",
		},
		"amount of a part": {
			corruption: `
				UPDATE splits
				SET amount_minor = -1300
				WHERE owner_id = $1 AND position = 0`,
			difference: "parts of transaction", remains: true,
		},
		"part is missing": {
			corruption: `DELETE FROM splits WHERE owner_id = $1 AND position = 1`,
			difference: "parts of transaction", remains: true,
		},
		"count of parts": {
			corruption: `
				UPDATE transactions
				SET split_count = 1
				WHERE owner_id = $1 AND split_count > 0`,
			difference: "parts of transaction", remains: true,
		},
		"all parts are missing": {
			corruption: `DELETE FROM splits WHERE owner_id = $1`,
			difference: "parts of transaction", remains: true,
		},
		"count of attachments": {
			corruption: `
				UPDATE transactions
				SET attachment_count = 2
				WHERE owner_id = $1 AND attachment_count > 0`,
			difference: "number of attachments",
		},
		"counted attachments without one": {
			corruption: `DELETE FROM attachments WHERE owner_id = $1`,
			difference: "number of attachments",
		},
		"attachments without a count": {
			corruption: `UPDATE transactions SET attachment_count = 0 WHERE owner_id = $1`,
			difference: "number of attachments",
		},
		"leg is missing": {
			corruption: `
				DELETE FROM transactions
				WHERE owner_id = $1 AND transfer_id IS NOT NULL AND amount_minor > 0`,
			difference: "legs of the transfer", remains: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := setup(t)
			sound, damaged := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
			sound.recordDetails(t)
			damaged.recordDetails(t)
			totals := `SELECT string_agg(m::text, ';' ORDER BY m::text) FROM monthly_totals m`
			var before, after string
			require.NoError(t, srv.DB.QueryRow(t.Context(), totals).Scan(&before))
			pgtest.Exec(t, srv.DB, tc.corruption, damaged.ID)
			var out bytes.Buffer
			require.ErrorContains(t, verifyAll(t.Context(), srv.DB, false, &out),
				"of 1 owners differ")
			require.Contains(t, out.String(), "owner "+damaged.ID.String()+": ")
			require.Contains(t, out.String(), tc.difference)
			require.NotContains(t, out.String(), sound.ID.String())

			out.Reset()
			err := verifyAll(t.Context(), srv.DB, true, &out)
			require.Contains(t, out.String(), tc.difference)
			if tc.remains {
				require.ErrorContains(t, err, "of 1 owners must be corrected by hand")
				require.Contains(t, out.String(), "not repaired: "+tc.difference)
				return
			}
			require.NoError(t, err)
			require.NotContains(t, out.String(), "not repaired")
			srv.RequireConsistent(t)
			require.NoError(t, srv.DB.QueryRow(t.Context(), totals).Scan(&after))
			require.Equal(t, before, after, "a wrong copy must not change the totals")
			require.NoError(t, verifyAll(t.Context(), srv.DB, false, &out))
		})
	}
}

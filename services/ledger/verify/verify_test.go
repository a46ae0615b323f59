package verify

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// corruptions change a person's stored rows directly, without the service.
var corruptions = map[string]string{
	"balance differs":           `UPDATE wallet_balances SET amount_minor = amount_minor + 100 WHERE owner_id = $1`,
	"balance is missing":        `DELETE FROM wallet_balances WHERE owner_id = $1`,
	"balance is surplus":        `INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor) SELECT owner_id, id, 'JPY', 5 FROM wallets WHERE owner_id = $1`,
	"total's income differs":    `UPDATE monthly_totals SET income_minor = income_minor + 1 WHERE owner_id = $1`,
	"total's expense differs":   `UPDATE monthly_totals SET expense_minor = expense_minor + 1 WHERE owner_id = $1`,
	"total's count differs":     `UPDATE monthly_totals SET transaction_count = -1 WHERE owner_id = $1`,
	"total's refunds differ":    `UPDATE monthly_totals SET refund_minor = refund_minor + 1 WHERE owner_id = $1`,
	"total's parts differ":      `UPDATE monthly_totals SET further_parts = 0 WHERE owner_id = $1`,
	"total is missing":          `DELETE FROM monthly_totals WHERE owner_id = $1`,
	"total is of another month": `UPDATE monthly_totals SET month = '2026-02-01' WHERE owner_id = $1`,
	"transfers differ":          `UPDATE monthly_transfers SET out_minor = out_minor + 1 WHERE owner_id = $1 AND out_minor > 0`,
	"transfers' count differs":  `UPDATE monthly_transfers SET transfer_count = 0 WHERE owner_id = $1`,
	"transfers are missing":     `DELETE FROM monthly_transfers WHERE owner_id = $1`,
	"transfers are surplus":     `INSERT INTO monthly_transfers (owner_id, month, wallet_id, currency, in_minor, out_minor, transfer_count) SELECT owner_id, '2026-02-01', id, 'EUR', 1, 0, 1 FROM wallets WHERE owner_id = $1`,
	"total without a wallet":    `INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor, expense_minor, transaction_count) VALUES ($1, '2026-03-01', $1, $1, 'EUR', 1, 0, 1)`,
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, corruption := range corruptions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			sound, damaged := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
			for _, p := range []person{sound, damaged} {
				p.Create(t, p.Spends("12.50"))
				p.recordDetails(t)
			}
			before := s.Stored(t)
			verify := func(repair bool) (string, error) {
				var out bytes.Buffer
				err := verifyAll(t.Context(), s.DB, repair, &out)
				return out.String(), err
			}
			out, err := verify(false)
			require.NoError(t, err)
			require.Equal(t, "2 owners checked, 0 differ\n", out)

			_, err = s.DB.Exec(t.Context(), corruption, damaged.ID)
			require.NoError(t, err)
			corrupt := s.Stored(t)
			out, err = verify(false)
			require.ErrorContains(t, err, "of 1 owners differ")
			require.Contains(t, out, "owner "+damaged.ID.String()+": ")
			require.NotContains(t, out, sound.ID.String())
			require.Equal(t, corrupt, s.Stored(t), "nothing is repaired without -repair")

			repaired, err := verify(true)
			require.NoError(t, err)
			require.Contains(t, repaired, "2 owners checked, 1 repaired\n")
			// Devices receive a repaired balance with the wallet's new number.
			renumbered, err := s.DB.Exec(t.Context(),
				`UPDATE wallets SET seq = 1 WHERE owner_id = $1 AND seq > 1`, damaged.ID)
			require.NoError(t, err)
			require.Equal(t, strings.HasPrefix(name, "balance"), renumbered.RowsAffected() == 1)
			require.Equal(t, before, s.Stored(t))
		})
	}
}

// recordDetails records a split transaction with an attachment, and a transfer within the wallet.
func (p person) recordDetails(t require.TestingT) {
	transfer := p.NewID()
	at := fixture.Today.UTC()
	ts := []posting.Transaction{
		{WalletID: p.Wallet, AmountMinor: -1000, Currency: "EUR", Date: at, Splits: []posting.Split{
			{CategoryID: p.Category, AmountMinor: -1200}, {CategoryID: p.Category, AmountMinor: 200},
		}},
		{WalletID: p.Wallet, AmountMinor: -300, Currency: "EUR", Date: at, TransferID: &transfer},
		{WalletID: p.Wallet, AmountMinor: 300, Currency: "EUR", Date: at, TransferID: &transfer},
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
	for name, c := range map[string]struct {
		corruption, difference string
		remains                bool
	}{
		"wallet of the parts":             {corruption: `UPDATE splits SET wallet_id = owner_id WHERE owner_id = $1`, difference: "wallet, currency and date of the parts"},
		"currency of a part":              {corruption: `UPDATE splits SET currency = 'USD' WHERE owner_id = $1 AND position = 0`, difference: "wallet, currency and date of the parts"},
		"month of the parts":              {corruption: `UPDATE splits SET date = date + interval '1 month' WHERE owner_id = $1`, difference: "wallet, currency and date of the parts"},
		"amount of a part":                {corruption: `UPDATE splits SET amount_minor = -1300 WHERE owner_id = $1 AND position = 0`, difference: "parts of transaction", remains: true},
		"part is missing":                 {corruption: `DELETE FROM splits WHERE owner_id = $1 AND position = 1`, difference: "parts of transaction", remains: true},
		"count of parts":                  {corruption: `UPDATE transactions SET split_count = 1 WHERE owner_id = $1 AND split_count > 0`, difference: "parts of transaction", remains: true},
		"all parts are missing":           {corruption: `DELETE FROM splits WHERE owner_id = $1`, difference: "parts of transaction", remains: true},
		"count of attachments":            {corruption: `UPDATE transactions SET attachment_count = 2 WHERE owner_id = $1 AND attachment_count > 0`, difference: "number of attachments"},
		"counted attachments without one": {corruption: `DELETE FROM attachments WHERE owner_id = $1`, difference: "number of attachments"},
		"attachments without a count":     {corruption: `UPDATE transactions SET attachment_count = 0 WHERE owner_id = $1`, difference: "number of attachments"},
		"leg is missing":                  {corruption: `DELETE FROM transactions WHERE owner_id = $1 AND transfer_id IS NOT NULL AND amount_minor > 0`, difference: "legs of the transfer", remains: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			sound, damaged := newPerson(t.Context(), t, s), newPerson(t.Context(), t, s)
			sound.recordDetails(t)
			damaged.recordDetails(t)
			totals := `SELECT string_agg(m::text, ';' ORDER BY m::text) FROM monthly_totals m`
			var before, after string
			require.NoError(t, s.DB.QueryRow(t.Context(), totals).Scan(&before))
			_, err := s.DB.Exec(t.Context(), c.corruption, damaged.ID)
			require.NoError(t, err)
			var out bytes.Buffer
			require.ErrorContains(t, verifyAll(t.Context(), s.DB, false, &out),
				"of 1 owners differ")
			require.Contains(t, out.String(), "owner "+damaged.ID.String()+": ")
			require.Contains(t, out.String(), c.difference)
			require.NotContains(t, out.String(), sound.ID.String())

			out.Reset()
			err = verifyAll(t.Context(), s.DB, true, &out)
			require.Contains(t, out.String(), c.difference)
			if c.remains {
				require.ErrorContains(t, err, "of 1 owners must be corrected by hand")
				require.Contains(t, out.String(), "not repaired: "+c.difference)
				return
			}
			require.NoError(t, err)
			require.NotContains(t, out.String(), "not repaired")
			s.RequireConsistent(t)
			require.NoError(t, s.DB.QueryRow(t.Context(), totals).Scan(&after))
			require.Equal(t, before, after, "a wrong copy must not change the totals")
			require.NoError(t, verifyAll(t.Context(), s.DB, false, &out))
		})
	}
}

func TestVerifyWithoutWallets(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, err := s.DB.Exec(t.Context(), `
		INSERT INTO monthly_transfers (owner_id, month, wallet_id, currency, in_minor, out_minor,
			transfer_count)
		VALUES ($1, '2026-02-01', $1, 'EUR', 1, 0, 1)`, s.NewID())
	require.NoError(t, err)
	var out bytes.Buffer
	require.ErrorContains(t, verifyAll(t.Context(), s.DB, false, &out), "of 1 owners differ")
	require.NoError(t, verifyAll(t.Context(), s.DB, true, &out))
	require.NoError(t, verifyAll(t.Context(), s.DB, false, &out))
}

func TestVerifyOutput(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	p.Create(t, p.Spends("12.50"))
	for _, sql := range []string{
		corruptions["balance differs"],
		corruptions["total's count differs"],
	} {
		_, err := s.DB.Exec(t.Context(), sql, p.ID)
		require.NoError(t, err)
	}
	var out bytes.Buffer
	require.Error(t, verifyAll(t.Context(), s.DB, false, &out))
	require.Equal(t, fmt.Sprintf(`owner %[1]s: balance of wallet %[2]s is -11.50 EUR, its transactions add up to -12.50
owner %[1]s: total of 2026-03 in wallet %[2]s and category %[3]s is +0.00 -12.50 EUR of -1 transactions, they add up to +0.00 -12.50 of 1
1 owners checked, 1 differ
`, p.ID, p.Wallet, p.Category), out.String())
}

func TestVerifyArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-unknown"}, {"all"}} {
		err := Command(os.DirFS(".."))(
			t.Context(), "postgres://nobody@127.0.0.1:1/none", args, &bytes.Buffer{})
		require.Error(t, err)
	}
}

func TestScrubber(t *testing.T) {
	t.Parallel()
	s := setup(t)
	people := []person{
		newPerson(t.Context(), t, s), newPerson(t.Context(), t, s),
		newPerson(t.Context(), t, s),
	}
	var logged bytes.Buffer
	scrub := &Scrubber{DB: s.DB, Log: slog.New(slog.NewTextHandler(&logged, nil))}
	pass := func() {
		// Without time left, a step checks a single owner.
		for range len(people) + 1 {
			require.NoError(t, scrub.step(t.Context(), 0))
		}
		require.Equal(t, uuid.Nil, scrub.last)
	}
	pass()
	require.Zero(t, scrub.differing.Load())

	_, err := s.DB.Exec(t.Context(),
		`UPDATE wallet_balances SET amount_minor = 1 WHERE owner_id <> $1`, people[0].ID)
	require.NoError(t, err)
	require.NoError(t, scrub.step(t.Context(), time.Minute))
	require.EqualValues(t, 2, scrub.differing.Load())
	require.Contains(t, logged.String(), people[2].ID.String())
	require.NotContains(t, logged.String(), people[0].ID.String())

	require.NoError(t, verifyAll(t.Context(), s.DB, true, &bytes.Buffer{}))
	pass()
	require.Zero(t, scrub.differing.Load())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, scrub.step(ended, time.Minute), context.Canceled)
}

func TestVerifyWithoutOwners(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, verifyAll(t.Context(), setup(t).DB, false, &out))
	require.Equal(t, "0 owners checked, 0 differ\n", out.String())
}

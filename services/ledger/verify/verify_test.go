package verify

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
)

// corruptions change a person's stored rows directly, without the service.
var corruptions = map[string]string{
	"balance differs": `
		UPDATE wallet_balances
		SET amount_minor = amount_minor + 100
		WHERE owner_id = $1`,
	"balance is missing": `DELETE FROM wallet_balances WHERE owner_id = $1`,
	"balance is surplus": `
		INSERT INTO wallet_balances (owner_id, wallet_id, currency, amount_minor)
		SELECT owner_id, id, 'JPY', 5
		FROM wallets
		WHERE owner_id = $1`,
	"total's income differs": `
		UPDATE monthly_totals
		SET income_minor = income_minor + 1
		WHERE owner_id = $1`,
	"total's expense differs": `
		UPDATE monthly_totals
		SET expense_minor = expense_minor + 1
		WHERE owner_id = $1`,
	"total's count differs": `
		UPDATE monthly_totals
		SET transaction_count = -1
		WHERE owner_id = $1`,
	"total's refunds differ": `
		UPDATE monthly_totals
		SET refund_minor = refund_minor + 1
		WHERE owner_id = $1`,
	"total's parts differ": `UPDATE monthly_totals SET further_parts = 0 WHERE owner_id = $1`,
	"total is missing":     `DELETE FROM monthly_totals WHERE owner_id = $1`,
	"total is of another month": `
		UPDATE monthly_totals
		SET month = '2026-02-01'
		WHERE owner_id = $1`,
	"transfers differ": `
		UPDATE monthly_transfers
		SET out_minor = out_minor + 1
		WHERE owner_id = $1 AND out_minor > 0`,
	"transfers' count differs": `
		UPDATE monthly_transfers
		SET transfer_count = 0
		WHERE owner_id = $1`,
	"transfers are missing": `DELETE FROM monthly_transfers WHERE owner_id = $1`,
	"transfers are surplus": `
		INSERT INTO monthly_transfers (owner_id, month, wallet_id, currency, in_minor, out_minor,
			transfer_count)
		SELECT owner_id, '2026-02-01', id, 'EUR', 1, 0, 1
		FROM wallets
		WHERE owner_id = $1`,
	"total without a wallet": `
		INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency, income_minor,
			expense_minor, transaction_count)
		VALUES ($1, '2026-03-01', $1, $1, 'EUR', 1, 0, 1)`,
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for name, corruption := range corruptions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := setup(t)
			sound, damaged := newPerson(t.Context(), t, srv), newPerson(t.Context(), t, srv)
			for _, p := range []person{sound, damaged} {
				p.Create(t, p.Spends("12.50"))
				p.recordDetails(t)
			}
			before := srv.Stored(t)
			verify := func(repair bool) (string, error) {
				var out bytes.Buffer
				err := verifyAll(t.Context(), srv.DB, repair, &out)
				return out.String(), err
			}
			out, err := verify(false)
			require.NoError(t, err)
			require.Equal(t, "2 owners checked, 0 differ\n", out)

			pgtest.Exec(t, srv.DB, corruption, damaged.ID)
			corrupt := srv.Stored(t)
			out, err = verify(false)
			require.ErrorContains(t, err, "of 1 owners differ")
			require.Contains(t, out, "owner "+damaged.ID.String()+": ")
			require.NotContains(t, out, sound.ID.String())
			require.Equal(t, corrupt, srv.Stored(t), "nothing is repaired without -repair")

			repaired, err := verify(true)
			require.NoError(t, err)
			require.Contains(t, repaired, "2 owners checked, 1 repaired\n")
			// Devices receive a repaired balance with the wallet's new number.
			renumbered, err := srv.DB.Exec(t.Context(),
				`UPDATE wallets SET seq = 1 WHERE owner_id = $1 AND seq > 1`, damaged.ID)
			require.NoError(t, err)
			require.Equal(t, strings.HasPrefix(name, "balance"), renumbered.RowsAffected() == 1)
			require.Equal(t, before, srv.Stored(t))
		})
	}
}

// TestVerifyErasures requires that the partly deleted rows of an erasure are no differences.
func TestVerifyErasures(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	user := newPerson(t.Context(), t, srv)
	user.Create(t, user.Spends("12.50"))
	user.recordDetails(t)
	pgtest.Exec(t, srv.DB, corruptions["balance differs"], user.ID)
	pgtest.Exec(t, srv.DB, `DELETE FROM splits WHERE owner_id = $1`, user.ID)
	differences, err := compare(t.Context(), srv.DB, user.ID)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(differences), 2)
	pgtest.Exec(t, srv.DB,
		`INSERT INTO erasures (owner_id, deletion_id) VALUES ($1, $1)`, user.ID)
	differences, err = compare(t.Context(), srv.DB, user.ID)
	require.NoError(t, err)
	require.Empty(t, differences)
}

func TestVerifyWithoutWallets(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	pgtest.Exec(t, srv.DB, `
		INSERT INTO monthly_transfers (owner_id, month, wallet_id, currency, in_minor, out_minor,
			transfer_count)
		VALUES ($1, '2026-02-01', $1, 'EUR', 1, 0, 1)`, srv.NewID())
	var out bytes.Buffer
	require.ErrorContains(t, verifyAll(t.Context(), srv.DB, false, &out), "of 1 owners differ")
	require.NoError(t, verifyAll(t.Context(), srv.DB, true, &out))
	require.NoError(t, verifyAll(t.Context(), srv.DB, false, &out))
}

func TestVerifyOutput(t *testing.T) {
	t.Parallel()
	srv := setup(t)
	me := newPerson(t.Context(), t, srv)
	me.Create(t, me.Spends("12.50"))
	for _, sql := range []string{
		corruptions["balance differs"],
		corruptions["total's count differs"],
	} {
		pgtest.Exec(t, srv.DB, sql, me.ID)
	}
	var out bytes.Buffer
	require.Error(t, verifyAll(t.Context(), srv.DB, false, &out))
	require.Equal(t, fmt.Sprintf("owner %[1]s: balance of wallet %[2]s is -11.50 EUR, "+
		"its transactions add up to -12.50\n"+
		"owner %[1]s: total of 2026-03 in wallet %[2]s and category %[3]s is "+
		"+0.00 -12.50 EUR of -1 transactions, they add up to +0.00 -12.50 of 1\n"+
		"1 owners checked, 1 differ\n", me.ID, me.Wallet, me.Category), out.String())
}

func TestVerifyArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-unknown"}, {"all"}} {
		err := Command(os.DirFS(".."))(
			t.Context(), "postgres://nobody@127.0.0.1:1/none", args, &bytes.Buffer{})
		require.Error(t, err)
	}
}

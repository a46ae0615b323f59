package reconciliations

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/pg/pgtest"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// copied inserts cleared copies of a transaction with an amount. The kept sums do not contain them.
func (b books) copied(t *testing.T, of posting.Transaction, count int, minor int64) {
	t.Helper()
	pgtest.Exec(t, b.DB, `
		INSERT INTO transactions (id, owner_id, wallet_id, category_id, currency, amount_minor,
			amount_e4, description, date, cleared, created_at, updated_at)
		SELECT gen_random_uuid(), owner_id, wallet_id, category_id, currency, $3, $3, '', date,
			true, created_at, updated_at
		FROM transactions, generate_series(1, $2)
		WHERE id = $1`, of.ID, count, minor)
}

// TestReconcileWalletOfManyTransactions reconciles a wallet with one transaction more than the
// limit, and then with as many as the limit.
func TestReconcileWalletOfManyTransactions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := newBooks(t, s)
	b.copied(t, b.cleared, maxLocked-2, -1)
	rejected := func(balance string, adjust bool) {
		req := statementOf(b.Wallet, balance)
		req.Adjust = adjust
		e := s.RequireRejected(t, codes.AlreadyExists, "LIMIT_REACHED", func() error {
			_, err := s.ReconcileWallet(b.Ctx, req)
			return err
		})
		require.Equal(t, []string{"date"}, fixture.FieldNames(e))
	}
	rejected("0", true)
	resp, err := s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "-212.98"))
	require.NoError(t, err)
	require.EqualValues(t, maxLocked, resp.GetReconciliation().GetLocked())
	_, err = s.DeleteReconciliation(b.Ctx, &ledgerv1.DeleteReconciliationRequest{
		WalletId: b.Wallet.String(), ReconciliationId: resp.GetReconciliation().GetId(),
	})
	require.NoError(t, err)

	b.copied(t, b.cleared, 1, -1)
	rejected("-212.99", false)
	earlier := statementOf(b.Wallet, "0")
	earlier.Date = "2026-03-14"
	_, err = s.ReconcileWallet(b.Ctx, earlier)
	require.NoError(t, err)
}

// TestClearedOfLargeSums requires an error if a sum of transactions exceeds an int64.
func TestClearedOfLargeSums(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := newBooks(t, s)
	b.copied(t, b.cleared, 2, 5e18)
	rejected := func(to *string) {
		_, err := s.GetWallet(b.Ctx, &ledgerv1.GetWalletRequest{
			Id: b.Wallet.String(), Include: []string{"cleared"}, To: to,
		})
		e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, []string{"include"}, fixture.FieldNames(e))
	}
	rejected(new("2026-03-15"))
	_, err := s.ReconcileWallet(b.Ctx, statementOf(b.Wallet, "1"))
	e := fixture.RequireReason(t, err, codes.InvalidArgument, "VALIDATION_ERROR")
	require.Equal(t, []string{"date"}, fixture.FieldNames(e))
	pgtest.Exec(t, b.DB, `UPDATE transactions SET cleared = false WHERE amount_minor > 1000000`)
	rejected(nil)
}

// TestCreateAdjustmentTooLarge requires errors with the field date if the balance of the day cannot
// be computed.
func TestCreateAdjustmentTooLarge(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b := newBooks(t, s)
	b.copied(t, b.later, 100_000, -1)
	rejected := func(reason string) {
		e := s.RequireRejected(t, codes.InvalidArgument, reason, func() error {
			_, err := s.CreateAdjustment(b.Ctx, adjustment(b.Wallet, "2026-03-01", "1"))
			return err
		})
		require.Equal(t, []string{"date"}, fixture.FieldNames(e))
	}
	rejected("REPORT_TOO_LARGE")
	_, err := s.CreateAdjustment(b.Ctx, adjustment(b.Wallet, "2026-03-31", "1"))
	require.NoError(t, err)

	pgtest.Exec(t, s.DB, `DELETE FROM transactions`)
	pgtest.Exec(t, s.DB, `
		INSERT INTO monthly_totals (owner_id, month, wallet_id, category_id, currency,
			income_minor, expense_minor, transaction_count)
		SELECT $1, make_date(2030, month, 1), $2, $3, 'EUR', 1000000000000000000, 0, 1
		FROM generate_series(1, 10) AS month`, b.ID, b.Wallet, b.Category)
	rejected("VALIDATION_ERROR")
}

// TestUpdateWalletAfterReconciliation changes the opening balance of a reconciled wallet, which
// reconciliations of the days from its opening day on contain.
func TestUpdateWalletAfterReconciliation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, tc := range map[string]struct {
		changes []*ledgerv1.UpdateWalletRequest
		differs bool
	}{
		"name":    {changes: []*ledgerv1.UpdateWalletRequest{{Name: new("Cash")}}},
		"balance": {[]*ledgerv1.UpdateWalletRequest{{InitialBalance: new("5")}}, true},
		"balance of a later day": {changes: []*ledgerv1.UpdateWalletRequest{
			{InitialBalance: new("5"), OpeningDate: new("2026-03-16")},
			{InitialBalance: new("6")},
			{OpeningDate: new("2026-03-17")},
		}},
		"earlier day": {[]*ledgerv1.UpdateWalletRequest{
			{InitialBalance: new("5"), OpeningDate: new("2026-03-16")},
			{OpeningDate: new("2026-03-15")},
		}, true},
		"no day": {[]*ledgerv1.UpdateWalletRequest{
			{InitialBalance: new("5"), OpeningDate: new("2026-03-16")}, {OpeningDate: new("")},
		}, true},
		"day of nothing": {changes: []*ledgerv1.UpdateWalletRequest{
			{OpeningDate: new("2026-03-16")}, {OpeningDate: new("2026-03-01")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := reconciled(t, s)
			inYen, ofOther := statementOf(b.Wallet, "0"), statementOf(b.other, "0")
			inYen.Currency = new("JPY")
			for _, req := range []*ledgerv1.ReconcileWalletRequest{inYen, ofOther} {
				_, err := s.ReconcileWallet(b.Ctx, req)
				require.NoError(t, err)
			}
			for _, change := range tc.changes {
				change.Id = b.Wallet.String()
				_, err := s.UpdateWallet(b.Ctx, change)
				require.NoError(t, err)
			}
			require.False(t, b.history(t)[0].GetDiffers(), "another currency")
			require.Equal(t, tc.differs, b.history(t)[1].GetDiffers())
			list, err := s.ListReconciliations(b.Ctx,
				&ledgerv1.ListReconciliationsRequest{WalletId: b.other.String()})
			require.NoError(t, err)
			require.False(t, list.GetReconciliations()[0].GetDiffers(), "another wallet")
		})
	}
}

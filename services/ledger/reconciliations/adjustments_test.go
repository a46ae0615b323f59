package reconciliations

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

func adjustment(wallet uuid.UUID, date, balance string) *ledgerv1.CreateAdjustmentRequest {
	return &ledgerv1.CreateAdjustmentRequest{
		WalletId: wallet.String(), Date: date, Balance: balance,
	}
}

func TestCreateAdjustment(t *testing.T) {
	t.Parallel()
	s := setup(t)
	user := s.NewUser(t.Context(), t)
	category := user.Category
	s.Record(user.Ctx, t,
		posting.Transaction{
			WalletID: user.Wallet, CategoryID: &category, AmountMinor: -700, Currency: "EUR",
			Date: fixture.Today,
		},
		posting.Transaction{
			WalletID: user.Wallet, CategoryID: &category, AmountMinor: -200, Currency: "EUR",
			Date: fixture.Today.AddDate(0, 0, 2),
		},
		posting.Transaction{
			WalletID: user.Wallet, CategoryID: &category, AmountMinor: -50, Currency: "EUR",
			Date: fixture.Today.AddDate(0, 2, 0),
		})
	day := fixture.Today.Format("2006-01-02")

	req := adjustment(user.Wallet, day, "10")
	req.Description = "House"
	resp, err := s.CreateAdjustment(user.Ctx, req)
	require.NoError(t, err)
	created := resp.GetTransaction()
	require.Equal(t, posting.Adjustment, created.GetType())
	require.Equal(t, day+"T00:00:00.000Z", created.GetDate())
	require.Equal(t, "House", created.GetDescription())
	require.Empty(t, created.GetCategoryId())
	require.False(t, created.GetCleared())
	s.RequireConsistent(t)
	event := s.LastEvent(t).(*ledgerv1.TransactionCreated)
	require.Equal(t, created.GetId(), event.GetTransaction().GetId())

	t.Run("equal balance creates nothing", func(t *testing.T) {
		before := s.Stored(t)
		resp, err := s.CreateAdjustment(user.Ctx, adjustment(user.Wallet, day, "10.00"))
		require.NoError(t, err)
		require.Equal(t, codeUnnecessary, resp.GetCode())
		require.Nil(t, resp.GetTransaction())
		require.Equal(t, before, s.Stored(t))
	})
	t.Run("balances of later days follow", func(t *testing.T) {
		require.Equal(t, "7.50", user.Balances(t, user.Wallet)["EUR"])
		later := fixture.Today.AddDate(0, 0, 2).Format("2006-01-02")
		resp, err := s.CreateAdjustment(user.Ctx, adjustment(user.Wallet, later, "8"))
		require.NoError(t, err)
		require.Equal(t, codeUnnecessary, resp.GetCode())
	})
	t.Run("other currency", func(t *testing.T) {
		req := adjustment(user.Wallet, day, "-1200")
		req.Currency = new("jpy")
		resp, err := s.CreateAdjustment(user.Ctx, req)
		require.NoError(t, err)
		require.Equal(t, "-1200", resp.GetTransaction().GetAmount())
		require.Equal(t, "-1200", user.Balances(t, user.Wallet)["JPY"])
	})
	t.Run("same key", func(t *testing.T) {
		req := adjustment(user.Wallet, day, "90")
		req.IdempotencyKey = "key"
		first, err := s.CreateAdjustment(user.Ctx, req)
		require.NoError(t, err)
		again, err := s.CreateAdjustment(user.Ctx, req)
		require.NoError(t, err)
		require.True(t, again.GetReplayed())
		require.Equal(t, first.GetTransaction().GetId(), again.GetTransaction().GetId())
	})
}

func TestCreateAdjustmentRejects(t *testing.T) {
	t.Parallel()
	s := setup(t)
	user, other := s.NewUser(t.Context(), t), s.NewUser(t.Context(), t)
	s.Record(user.Ctx, t, posting.Transaction{
		WalletID: user.Wallet, CategoryID: &user.Category, AmountMinor: -1, Currency: "EUR",
		Date: fixture.Today.AddDate(0, -1, 0),
	})
	for name, tc := range map[string]struct {
		req    *ledgerv1.CreateAdjustmentRequest
		code   codes.Code
		reason string
	}{
		"malformed wallet": {
			&ledgerv1.CreateAdjustmentRequest{WalletId: "x", Date: "2026-03-01", Balance: "1"},
			codes.InvalidArgument, "WALLET_NOT_FOUND",
		},
		"unknown wallet": {
			adjustment(other.Wallet, "2026-03-01", "1"), codes.NotFound, "WALLET_NOT_FOUND",
		},
		"time of day": {
			adjustment(user.Wallet, "2026-03-01T10:00:00Z", "1"), codes.InvalidArgument,
			"INVALID_TRANSACTION_DATE",
		},
		"no balance": {
			adjustment(user.Wallet, "2026-03-01", ""), codes.InvalidArgument, "VALIDATION_ERROR",
		},
		"amount that no transaction may have": {
			adjustment(user.Wallet, "2026-03-01", "999999999999.99"), codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
		"decimals": {
			adjustment(user.Wallet, "2026-03-01", "1.234"), codes.InvalidArgument,
			"VALIDATION_ERROR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.Stored(t)
			_, err := s.CreateAdjustment(user.Ctx, tc.req)
			fixture.RequireReason(t, err, tc.code, tc.reason)
			require.Equal(t, before, s.Stored(t))
		})
	}
}

// TestUpdateAdjustment changes an adjustment like any transaction, except for fields that it does
// not have.
func TestUpdateAdjustment(t *testing.T) {
	t.Parallel()
	s := setup(t)
	user := s.NewUser(t.Context(), t)
	resp, err := s.CreateAdjustment(user.Ctx, adjustment(user.Wallet, "2026-03-01", "-500"))
	require.NoError(t, err)
	id := resp.GetTransaction().GetId()
	update := &ledgerv1.UpdateTransactionRequest{
		Id: id, Amount: new("20"), Date: new("2026-04-01"), Cleared: new(true),
		Payee: new("Fund"),
	}
	changed, err := s.UpdateTransaction(user.Ctx, update)
	require.NoError(t, err)
	require.Equal(t, "-20.00", changed.GetTransaction().GetAmount())
	require.Equal(t, posting.Adjustment, changed.GetTransaction().GetType())
	require.True(t, changed.GetTransaction().GetCleared())
	s.RequireConsistent(t)

	before := s.Stored(t)
	_, err = s.UpdateTransaction(user.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: id, CategoryId: new(user.Category.String()), Type: new(posting.Income),
		Splits: &ledgerv1.Splits{},
	})
	e := fixture.RequireReason(t, err, codes.FailedPrecondition, "TRANSACTION_IS_ADJUSTMENT")
	require.Equal(t, []string{"categoryId", "type", "splits"}, fixture.FieldNames(e))
	require.Equal(t, before, s.Stored(t))

	_, err = s.DeleteTransaction(user.Ctx, &ledgerv1.DeleteTransactionRequest{Id: id})
	require.NoError(t, err)
	s.RequireConsistent(t)
}

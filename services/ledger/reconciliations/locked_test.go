package reconciliations

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// TestReconciledTransactions changes and deletes locked transactions.
func TestReconciledTransactions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	type request = ledgerv1.UpdateTransactionRequest
	breaks := map[string]func(b books, unlock bool) error{
		"amount": func(b books, unlock bool) error {
			_, err := s.UpdateTransaction(b.Ctx,
				&request{Id: b.cleared.ID.String(), Amount: new("9"), Unlock: unlock})
			return err
		},
		"day": func(b books, unlock bool) error {
			_, err := s.UpdateTransaction(b.Ctx,
				&request{Id: b.cleared.ID.String(), Date: new("2026-03-01"), Unlock: unlock})
			return err
		},
		"wallet": func(b books, unlock bool) error {
			_, err := s.UpdateTransaction(b.Ctx, &request{
				Id: b.cleared.ID.String(), WalletId: new(b.other.String()), Unlock: unlock,
			})
			return err
		},
		"not cleared": func(b books, unlock bool) error {
			_, err := s.UpdateTransaction(b.Ctx,
				&request{Id: b.cleared.ID.String(), Cleared: new(false), Unlock: unlock})
			return err
		},
		"day of the other leg": func(b books, unlock bool) error {
			_, err := s.UpdateTransaction(b.Ctx,
				&request{Id: b.in.ID.String(), Date: new("2026-03-01"), Unlock: unlock})
			return err
		},
		"batch": func(b books, unlock bool) error {
			_, err := s.UpdateTransactions(b.Ctx, &ledgerv1.UpdateTransactionsRequest{
				Items: []*ledgerv1.TransactionChange{
					{Id: b.uncleared.ID.String(), Amount: new("8")},
					{Id: b.cleared.ID.String(), Amount: new("9")},
				},
				Unlock: unlock,
			})
			return err
		},
		"deletion": func(b books, unlock bool) error {
			_, err := s.DeleteTransaction(b.Ctx, &ledgerv1.DeleteTransactionRequest{
				Id: b.cleared.ID.String(), Unlock: unlock,
			})
			return err
		},
		"deletion of the other leg": func(b books, unlock bool) error {
			_, err := s.DeleteTransaction(b.Ctx,
				&ledgerv1.DeleteTransactionRequest{Id: b.in.ID.String(), Unlock: unlock})
			return err
		},
		"batch of deletions": func(b books, unlock bool) error {
			_, err := s.DeleteTransactions(b.Ctx, &ledgerv1.DeleteTransactionsRequest{
				Ids: []string{b.uncleared.ID.String(), b.cleared.ID.String()}, Unlock: unlock,
			})
			return err
		},
		"transfer's amount": func(b books, unlock bool) error {
			_, err := s.transfers.UpdateTransfer(b.Ctx, &ledgerv1.UpdateTransferRequest{
				Id: b.out.TransferID.String(), Amount: new("9"), Unlock: unlock,
			})
			return err
		},
		"transfer deleted": func(b books, unlock bool) error {
			_, err := s.transfers.DeleteTransfer(b.Ctx, &ledgerv1.DeleteTransferRequest{
				Id: b.out.TransferID.String(), Unlock: unlock,
			})
			return err
		},
	}
	for name, change := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := reconciled(t, s)
			fixture.RequireReason(t, change(b, false), codes.FailedPrecondition,
				"TRANSACTION_RECONCILED")
			require.True(t, b.isLocked(t, b.cleared))
			require.True(t, b.isLocked(t, b.out))
			require.False(t, b.history(t)[0].GetDiffers())

			require.NoError(t, change(b, true))
			require.True(t, b.history(t)[0].GetDiffers())
			require.Empty(t, s.Differences(t)[b.ID])
		})
	}
	t.Run("unlocked transactions change without unlock", func(t *testing.T) {
		t.Parallel()
		b, _ := reconciled(t, s)
		id := b.cleared.ID.String()
		for i, unlock := range []bool{true, false} {
			resp, err := s.UpdateTransaction(b.Ctx,
				&request{Id: id, Amount: new([]string{"8", "9"}[i]), Unlock: unlock})
			require.NoError(t, err)
			require.False(t, resp.GetTransaction().GetReconciled())
		}
	})
}

// TestReconciledTransactionsKeepTheirDetails changes what a reconciliation does not lock.
func TestReconciledTransactionsKeepTheirDetails(t *testing.T) {
	t.Parallel()
	s := setup(t)
	b, reconciliation := reconciled(t, s)
	fun := s.MakeCategory(b.Ctx, t, "Fun").String()
	_, err := s.UpdateTransaction(b.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: b.cleared.ID.String(), CategoryId: &fun, Payee: new("Shop"), Notes: new("x"),
		Description: new("y"), Tags: &ledgerv1.Tags{Values: []string{"Trip"}},
		Amount: new("3"), Cleared: new(true),
	})
	require.NoError(t, err)
	_, err = s.UpdateTransaction(b.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: b.cleared.ID.String(), Splits: &ledgerv1.Splits{Values: []*ledgerv1.Split{
			{CategoryId: fun, Amount: "1"}, {CategoryId: b.Category.String(), Amount: "2"},
		}},
	})
	require.NoError(t, err)
	_, err = s.DeleteCategory(b.Ctx, &ledgerv1.DeleteCategoryRequest{
		Id: fun, ReassignTo: new(b.Category.String()),
	})
	require.NoError(t, err)
	_, err = s.transfers.UnlinkTransfer(b.Ctx, &ledgerv1.UnlinkTransferRequest{
		Id: b.out.TransferID.String(), CategoryId: b.Category.String(),
	})
	require.NoError(t, err)
	_, err = s.transfers.MatchTransfer(b.Ctx, &ledgerv1.MatchTransferRequest{
		OutTransactionId: b.out.ID.String(), InTransactionId: b.in.ID.String(),
	})
	require.NoError(t, err)
	_, err = s.UpdateTransaction(b.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: b.in.ID.String(), Cleared: new(true),
	})
	require.NoError(t, err)
	require.True(t, b.isLocked(t, b.cleared))
	require.True(t, b.isLocked(t, b.out))
	require.False(t, b.history(t)[0].GetDiffers())
	require.Equal(t, reconciliation.GetId(), b.history(t)[0].GetId())
	s.RequireConsistent(t)
}

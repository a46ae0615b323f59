package posting_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// balanceWrites are the requests that state balances of wallets.
var balanceWrites = []request{
	{name: "adjustment", write: func(h holdings) error { return h.adjust(h.Wallet) }},
	{name: "adjustment's amount, month and wallet", write: func(h holdings) error {
		return h.update(h.adjustment, func(r *updateRequest) {
			r.Amount, r.Date = new("9"), new("2026-04-02")
			r.WalletId = new(h.unusedWallet.String())
		})
	}},
	{name: "reconciliation", write: func(h holdings) error { return h.reconcile() }},
	{name: "reconciled amount", write: func(h holdings) error {
		return h.update(h.locked, func(r *updateRequest) { r.Amount, r.Unlock = new("9"), true })
	}, prepare: lock},
	{name: "reconciliation deleted", write: func(h holdings) error {
		_, err := h.reconciling.DeleteReconciliation(h.Ctx, &ledgerv1.DeleteReconciliationRequest{
			WalletId: h.otherWallet.String(), ReconciliationId: h.reconciliation,
		})
		return err
	}, prepare: lock},
}

// lock reconciles a transaction in another currency of otherWallet, which no other request changes.
func lock(t require.TestingT, h *holdings) {
	if h.locked != "" {
		return
	}
	expense := h.expense(h.otherWallet, h.otherCategory, "2026-03-01")
	expense.Currency = "USD"
	created, err := h.CreateTransaction(h.Ctx, expense)
	require.NoError(t, err)
	h.locked = created.GetTransaction().GetId()
	require.NoError(t, h.update(h.locked, func(r *updateRequest) { r.Cleared = new(true) }))
	reconciled, err := h.reconciling.ReconcileWallet(h.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: h.otherWallet.String(), Currency: new("USD"), Date: "2026-03-31",
		Balance: "12.34", Adjust: true,
	})
	require.NoError(t, err)
	h.reconciliation = reconciled.GetReconciliation().GetId()
}

// reconcile locks the cleared transactions of the wallet.
func (h holdings) reconcile() error {
	_, err := h.reconciling.ReconcileWallet(h.Ctx, &ledgerv1.ReconcileWalletRequest{
		WalletId: h.Wallet.String(), Date: "2026-03-31", Balance: "12.34", Adjust: true,
	})
	return err
}

func (h holdings) adjust(wallet uuid.UUID) error {
	_, err := h.reconciling.CreateAdjustment(h.Ctx, &ledgerv1.CreateAdjustmentRequest{
		WalletId: wallet.String(), Date: "2026-03-31", Balance: "12.34",
	})
	return err
}

// TestCreateAdjustmentConcurrently states one balance in simultaneous requests. Only the first one
// may create an adjustment.
func TestCreateAdjustmentConcurrently(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := newPerson(t.Context(), t, s)
	fixture.Simultaneous(t, 8, "", func(int) error { return holdings{person: p}.adjust(p.Wallet) })
	require.Equal(t, "12.34", p.Balances(t, p.Wallet)["EUR"])
	list, err := s.ListTransactions(p.Ctx, &ledgerv1.ListTransactionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetTransactions(), 1)
	s.RequireConsistent(t)
}

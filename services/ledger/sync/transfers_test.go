package sync

import (
	"testing"

	"github.com/stretchr/testify/require"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/posting"
)

// TestListChangesOfTransfers follows transfers through each of their writes, with pages of one and
// of 1000 objects.
func TestListChangesOfTransfers(t *testing.T) {
	t.Parallel()
	s := setup(t)
	u := s.NewUser(t.Context(), t)
	bank, savings := s.MakeWallet(u.Ctx, t, "Bank", "EUR"), s.MakeWallet(u.Ctx, t, "Savings", "EUR")
	mirrors := []*mirror{newMirror(s), newMirror(s)}
	follow := func(err error) {
		t.Helper()
		require.NoError(t, err)
		for i, m := range append(mirrors, newMirror(s)) {
			m.follow(u.Ctx, t, []int32{1, 1000, 2}[i])
			m.requireEqual(u.Ctx, t)
		}
	}
	for range 2 {
		_, err := s.transfers.CreateTransfer(u.Ctx, &ledgerv1.CreateTransferRequest{
			FromWalletId: u.Wallet.String(), ToWalletId: bank.String(), Amount: "7",
			Date: "2026-03-14", Tags: []string{"Card"},
		})
		follow(err)
	}
	list, err := s.transfers.ListTransfers(u.Ctx, &ledgerv1.ListTransfersRequest{})
	follow(err)
	first, second := list.GetTransfers()[0], list.GetTransfers()[1]
	_, err = s.transfers.UpdateTransfer(u.Ctx, &ledgerv1.UpdateTransferRequest{
		Id: first.GetId(), Amount: new("8"), ToWalletId: new(savings.String()),
	})
	follow(err)
	_, err = s.UpdateTransaction(u.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: first.GetInTransactionId(), Description: new("both"),
	})
	follow(err)
	_, err = s.transfers.UnlinkTransfer(u.Ctx,
		&ledgerv1.UnlinkTransferRequest{Id: first.GetId(), CategoryId: u.Category.String()})
	follow(err)
	_, err = s.DeleteTransaction(u.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: second.GetInTransactionId()})
	follow(err)
	spends, receives := u.Spends("3"), u.Spends("3")
	receives.Type, receives.WalletId = new(posting.Income), bank.String()
	out, in := u.Create(t, spends), u.Create(t, receives)
	matched, err := s.transfers.MatchTransfer(u.Ctx,
		&ledgerv1.MatchTransferRequest{OutTransactionId: out.GetId(), InTransactionId: in.GetId()})
	follow(err)
	_, err = s.transfers.DeleteTransfer(u.Ctx,
		&ledgerv1.DeleteTransferRequest{Id: matched.GetTransfer().GetId()})
	follow(err)
}

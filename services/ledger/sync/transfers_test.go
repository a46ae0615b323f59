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
	srv := setup(t)
	user := srv.NewUser(t.Context(), t)
	bank, savings := srv.MakeWallet(user.Ctx, t, "Bank", "EUR"), srv.MakeWallet(user.Ctx, t,
		"Savings", "EUR")
	mirrors := []*mirror{newMirror(srv), newMirror(srv)}
	follow := func(err error) {
		t.Helper()
		require.NoError(t, err)
		for i, m := range append(mirrors, newMirror(srv)) {
			m.follow(user.Ctx, t, []int32{1, 1000, 2}[i])
			m.requireEqual(user.Ctx, t)
		}
	}
	for range 2 {
		_, err := srv.transfers.CreateTransfer(user.Ctx, &ledgerv1.CreateTransferRequest{
			FromWalletId: user.Wallet.String(), ToWalletId: bank.String(), Amount: "7",
			Date: "2026-03-14", Tags: []string{"Card"},
		})
		follow(err)
	}
	list, err := srv.transfers.ListTransfers(user.Ctx, &ledgerv1.ListTransfersRequest{})
	follow(err)
	first, second := list.GetTransfers()[0], list.GetTransfers()[1]
	_, err = srv.transfers.UpdateTransfer(user.Ctx, &ledgerv1.UpdateTransferRequest{
		Id: first.GetId(), Amount: new("8"), ToWalletId: new(savings.String()),
	})
	follow(err)
	_, err = srv.UpdateTransaction(user.Ctx, &ledgerv1.UpdateTransactionRequest{
		Id: first.GetInTransactionId(), Description: new("both"),
	})
	follow(err)
	_, err = srv.transfers.UnlinkTransfer(user.Ctx,
		&ledgerv1.UnlinkTransferRequest{Id: first.GetId(), CategoryId: user.Category.String()})
	follow(err)
	_, err = srv.DeleteTransaction(user.Ctx,
		&ledgerv1.DeleteTransactionRequest{Id: second.GetInTransactionId()})
	follow(err)
	spends, receives := user.Spends("3"), user.Spends("3")
	receives.Type, receives.WalletId = new(posting.Income), bank.String()
	out, in := user.Create(t, spends), user.Create(t, receives)
	matched, err := srv.transfers.MatchTransfer(user.Ctx,
		&ledgerv1.MatchTransferRequest{OutTransactionId: out.GetId(), InTransactionId: in.GetId()})
	follow(err)
	_, err = srv.transfers.DeleteTransfer(user.Ctx,
		&ledgerv1.DeleteTransferRequest{Id: matched.GetTransfer().GetId()})
	follow(err)
}

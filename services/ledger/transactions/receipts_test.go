package transactions

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestDeleteTransactionDeletesUnusedReceipt(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.OCR = &fixture.OCR{Receipt: fixture.Groceries(), Pictures: [][]byte{[]byte("page one")}}
	me := newPerson(t.Context(), t, s)
	upload := func(keepImage bool) *ledgerv1.CreateTransactionsFromReceiptResponse {
		req := &ledgerv1.CreateTransactionsFromReceiptRequest{
			Receipt: []byte("a photograph"), WalletId: me.Wallet.String(),
			CategoryId: me.Category.String(), KeepImage: keepImage,
		}
		resp, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.NoError(t, err)
		return resp
	}
	resp := upload(true)
	transactions := resp.GetTransactions()
	receipts, images := 0, 0
	count := func() {
		require.NoError(t, me.DB.QueryRow(t.Context(),
			`SELECT (SELECT count(*) FROM receipts), (SELECT count(*) FROM receipt_images)`,
		).Scan(&receipts, &images))
	}
	_, err := me.DeleteTransaction(me.Ctx, &deleteRequest{Id: transactions[0].GetId()})
	require.NoError(t, err)
	count()
	require.Equal(t, []int{1, 1}, []int{receipts, images})

	var racing sync.WaitGroup
	for _, tr := range transactions[1:] {
		racing.Go(func() {
			if _, err := me.DeleteTransaction(me.Ctx, &deleteRequest{Id: tr.GetId()}); err != nil {
				t.Error(err)
			}
		})
	}
	racing.Wait()
	count()
	require.Equal(t, []int{0, 0}, []int{receipts, images})
	_, err = me.GetReceipt(me.Ctx, &ledgerv1.GetReceiptRequest{Id: resp.GetReceipt().GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_NOT_FOUND")
	require.Empty(t, upload(false).GetReceipt().GetWarnings(), "a deleted receipt has no duplicate")
}

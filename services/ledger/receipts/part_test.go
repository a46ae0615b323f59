package receipts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionsFromReceiptOfSeveral(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	cafe := &ocrv1.Receipt{Merchant: "Cafe", Date: "2026-03-15", Currency: "USD", Total: "8.00"}
	me.fake.Receipts = []*ocrv1.Receipt{fixture.Groceries(), cafe}
	me.fake.Pages = []*ocrv1.ReceiptPage{{Image: "data:image/jpeg;base64,", Width: 10, Height: 20}}

	draft := me.upload(t, func(req *form) { req.DryRun = true })
	require.Equal(t, "Corner Shop", draft.GetReceipt().GetMerchant())
	require.Len(t, draft.GetReceipts(), 2)
	require.Equal(t, "Cafe", draft.GetReceipts()[1].GetMerchant())

	draft = me.upload(t, func(req *form) {
		req.DryRun, req.Part, req.Include = true, new(int32(2)), new("image")
	})
	require.Equal(t, "Cafe", draft.GetReceipt().GetMerchant())
	require.Equal(t, "-8.00", draft.GetTransactions()[0].GetAmount())
	require.Len(t, draft.GetReceipt().GetPages(), 1, "the pages of the file")

	// Each receipt is booked once.
	for _, part := range []int32{1, 2} {
		req := me.request()
		req.Part, req.OnDuplicate = &part, new("reject")
		booked, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.NoError(t, err)
		require.Empty(t, booked.GetReceipts())
		me.refusesUpload(t, req, codes.AlreadyExists, errReceiptDuplicate.Reason)
	}
	for _, part := range []int32{-1, 0, 3, 9} {
		req := me.request()
		req.Part = &part
		e := me.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, "part", e.Fields[0].Name)
	}
}

package receipts

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestGetReceiptImage(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.Pictures = [][]byte{[]byte("page one"), []byte("page two")}
	keep := func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage = true }
	kept := p.upload(t, keep).GetReceipt()
	require.EqualValues(t, 2, kept.GetImagePages())
	for page, want := range map[int32]string{0: "page one", 1: "page one", 2: "page two"} {
		got, err := p.GetReceiptImage(p.Ctx, &ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		require.NoError(t, err)
		require.Equal(t, want, string(got.GetImage()))
	}
	for _, page := range []int32{-1, 3, 1 << 20, -1 << 31} {
		_, err := p.GetReceiptImage(p.Ctx, &ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")
	}
	without := p.upload(t, asItIs).GetReceipt()
	require.Zero(t, without.GetImagePages())
	_, err := p.GetReceiptImage(p.Ctx, &ledgerv1.GetReceiptImageRequest{Id: without.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")

	before := p.Stored(t)
	dry := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage, req.DryRun = true, true })
	require.Zero(t, dry.GetReceipt().GetImagePages())
	require.Equal(t, before, p.Stored(t))
}

func TestGetReceiptOfAnotherUser(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.Pictures = [][]byte{[]byte("page one")}
	id := p.upload(t, func(req *ledgerv1.CreateTransactionsFromReceiptRequest) { req.KeepImage = true }).GetReceipt().GetId()
	for name, c := range map[string]struct {
		ctx    context.Context
		id     string
		code   codes.Code
		reason string
	}{
		"a malformed id":         {p.Ctx, "receipt", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an id in braces":        {p.Ctx, "{" + id + "}", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an unknown id":          {p.Ctx, uuid.Nil.String(), codes.NotFound, "RECEIPT_NOT_FOUND"},
		"another user's receipt": {fixture.ActAs(t.Context(), p.NewID()), id, codes.NotFound, "RECEIPT_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.GetReceipt(c.ctx, &ledgerv1.GetReceiptRequest{Id: c.id})
			fixture.RequireReason(t, err, c.code, c.reason)
			_, err = p.GetReceiptImage(c.ctx, &ledgerv1.GetReceiptImageRequest{Id: c.id})
			fixture.RequireReason(t, err, c.code, c.reason)
		})
	}
}

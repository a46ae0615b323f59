package receipts

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestGetReceiptImage(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Pictures = [][]byte{[]byte("page one"), []byte("page two")}
	keep := func(req *form) { req.KeepImage = true }
	kept := me.upload(t, keep).GetReceipt()
	require.EqualValues(t, 2, kept.GetImagePages())
	for page, want := range map[int32]string{0: "page one", 1: "page one", 2: "page two"} {
		got, err := me.GetReceiptImage(me.Ctx,
			&ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		require.NoError(t, err)
		require.Equal(t, want, string(got.GetImage()))
	}
	for _, page := range []int32{-1, 3, 1 << 20, -1 << 31} {
		_, err := me.GetReceiptImage(me.Ctx,
			&ledgerv1.GetReceiptImageRequest{Id: kept.GetId(), Page: page})
		fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")
	}
	without := me.upload(t, asItIs).GetReceipt()
	require.Zero(t, without.GetImagePages())
	_, err := me.GetReceiptImage(me.Ctx, &ledgerv1.GetReceiptImageRequest{Id: without.GetId()})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_IMAGE_NOT_FOUND")

	before := me.Stored(t)
	dry := me.upload(t, func(req *form) { req.KeepImage, req.DryRun = true, true })
	require.Zero(t, dry.GetReceipt().GetImagePages())
	require.Equal(t, before, me.Stored(t))
}

func TestGetReceiptOfAnotherUser(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Pictures = [][]byte{[]byte("page one")}
	id := me.upload(t, func(req *form) { req.KeepImage = true }).GetReceipt().GetId()
	for name, tc := range map[string]struct {
		ctx    context.Context
		id     string
		code   codes.Code
		reason string
	}{
		"a malformed id":  {me.Ctx, "receipt", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an id in braces": {me.Ctx, "{" + id + "}", codes.InvalidArgument, "INVALID_RECEIPT_ID"},
		"an unknown id":   {me.Ctx, uuid.Nil.String(), codes.NotFound, "RECEIPT_NOT_FOUND"},
		"another user's receipt": {
			fixture.ActAs(t.Context(), me.NewID()), id, codes.NotFound, "RECEIPT_NOT_FOUND",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := me.GetReceipt(tc.ctx, &ledgerv1.GetReceiptRequest{Id: tc.id})
			fixture.RequireReason(t, err, tc.code, tc.reason)
			_, err = me.GetReceiptImage(tc.ctx, &ledgerv1.GetReceiptImageRequest{Id: tc.id})
			fixture.RequireReason(t, err, tc.code, tc.reason)
			_, err = me.DeleteReceipt(tc.ctx, &ledgerv1.DeleteReceiptRequest{Id: tc.id})
			fixture.RequireReason(t, err, tc.code, tc.reason)
		})
	}
}

func TestListReceipts(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	stranger := newPerson(t.Context(), t, me.server)
	var want []string
	for range 5 {
		want = append([]string{me.upload(t, asItIs).GetReceipt().GetId()}, want...)
	}
	var got []string
	req := &ledgerv1.ListReceiptsRequest{Limit: new(int32(2))}
	for more := true; more; {
		resp, err := me.ListReceipts(me.Ctx, req)
		require.NoError(t, err)
		for _, r := range resp.GetReceipts() {
			single, err := me.GetReceipt(me.Ctx, &ledgerv1.GetReceiptRequest{Id: r.GetId()})
			require.NoError(t, err)
			require.True(t, proto.Equal(single.GetReceipt(), r))
			got = append(got, r.GetId())
		}
		req.Cursor, more = resp.GetPagination().GetNextCursor(), resp.GetPagination().GetHasMore()
	}
	require.Equal(t, want, got)
	resp, err := me.ListReceipts(stranger.Ctx, &ledgerv1.ListReceiptsRequest{})
	require.NoError(t, err)
	require.Empty(t, resp.GetReceipts())
}

// TestDeleteReceipt deletes a receipt with its image. Its transactions stay with a new version and
// an event.
func TestDeleteReceipt(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Pictures = [][]byte{[]byte("page one")}
	keep := func(req *form) { req.KeepImage = true }
	deleted, other := me.upload(t, keep), me.upload(t, keep)
	id := deleted.GetReceipt().GetId()
	_, err := me.DeleteReceipt(fixture.ActAs(t.Context(), me.NewID()),
		&ledgerv1.DeleteReceiptRequest{Id: id})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_NOT_FOUND")
	resp, err := me.DeleteReceipt(me.Ctx, &ledgerv1.DeleteReceiptRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, id, resp.GetId())
	_, err = me.GetReceipt(me.Ctx, &ledgerv1.GetReceiptRequest{Id: id})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_NOT_FOUND")
	var images, changed, kept int
	require.NoError(t, me.DB.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM receipt_images),
			count(*) FILTER (WHERE receipt_id IS NULL AND version = 2),
			count(*) FILTER (WHERE receipt_id = $1 AND version = 1)
		FROM transactions`, other.GetReceipt().GetId()).Scan(&images, &changed, &kept))
	require.Equal(t, 1, images)
	require.Equal(t, len(deleted.GetTransactions()), changed)
	require.Equal(t, len(other.GetTransactions()), kept)
	event, ok := me.LastEvent(t).(*ledgerv1.TransactionUpdated)
	require.True(t, ok)
	require.Equal(t, id, event.GetBefore().GetReceiptId())
	require.Empty(t, event.GetAfter().GetReceiptId())
	_, err = me.DeleteReceipt(me.Ctx, &ledgerv1.DeleteReceiptRequest{Id: id})
	fixture.RequireReason(t, err, codes.NotFound, "RECEIPT_NOT_FOUND")
	me.RequireConsistent(t)
}

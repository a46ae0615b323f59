package receipts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func TestCreateTransactionsFromReceiptInclude(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Pages = []*ocrv1.ReceiptPage{{
		Image: "data:image/jpeg;base64,AAAA", Width: 600, Height: 900,
	}}
	shown := me.upload(t, func(req *form) {
		req.DryRun, req.Include = true, new("image")
	})
	require.Len(t, shown.GetReceipt().GetPages(), 1)
	require.Empty(t, me.upload(t, func(req *form) { req.DryRun = true }).GetReceipt().GetPages())
	for message, change := range map[string]func(*form){
		"is only possible with dryRun=true": func(req *form) { req.Include = new("image") },
		"must be image": func(req *form) {
			req.DryRun, req.Include = true, new("pages")
		},
	} {
		req := me.request()
		change(req)
		e := me.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Equal(t, []apierr.Field{{Name: "include", Message: message}}, e.Fields)
	}
}

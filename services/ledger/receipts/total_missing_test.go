package receipts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func TestCreateTransactionsFromReceiptWithoutTotal(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Receipt.Total, me.fake.Receipt.Currency = "", ""
	me.fake.Receipt.Warnings = []*ocrv1.Warning{{Code: "TOTAL_MISSING"}}
	t.Run("is a draft in a dry run", func(t *testing.T) {
		t.Parallel()
		req := me.request()
		req.DryRun = true
		resp, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.NoError(t, err)
		require.Empty(t, resp.GetTransactions())
		require.Equal(t, "Corner Shop", resp.GetReceipt().GetMerchant())
		require.Equal(t, "2026-03-14", resp.GetReceipt().GetDate())
		require.Empty(t, resp.GetReceipt().GetTotal())
		require.Len(t, resp.GetReceipt().GetLines(), 3)
		var codes []string
		for _, w := range resp.GetReceipt().GetWarnings() {
			codes = append(codes, w.GetCode())
		}
		require.Equal(t, []string{"TOTAL_MISSING", "CURRENCY_ASSUMED"}, codes)
	})
	t.Run("has corrections in a dry run", func(t *testing.T) {
		t.Parallel()
		req := me.request()
		req.DryRun = true
		req.Corrections = &ledgerv1.ReceiptCorrections{
			Tax: new("1.5"),
			Lines: &ledgerv1.CorrectedLines{
				Values: []*ledgerv1.CorrectedLine{{Description: "Tea", Amount: "4"}},
			},
		}
		resp, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.NoError(t, err)
		require.Empty(t, resp.GetTransactions())
		require.Equal(t, "1.50", resp.GetReceipt().GetTax())
		require.Len(t, resp.GetReceipt().GetLines(), 1)
		require.Equal(t, "4.00", resp.GetReceipt().GetLines()[0].GetAmount())
		require.Len(t, resp.GetReceipt().GetRecognized().GetLines(), 3)

		req.Corrections = &ledgerv1.ReceiptCorrections{Tax: new("1.505")}
		_, err = me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.Equal(t, "corrections.tax", apierr.From(err).Fields[0].Name)
	})
	t.Run("is rejected otherwise, and names what was read", func(t *testing.T) {
		t.Parallel()
		_, err := me.CreateTransactionsFromReceipt(me.Ctx, me.request())
		require.ErrorIs(t, err, errOCRParse)
		require.Equal(t, []apierr.Field{{
			Name: "corrections.total",
			Message: "is required: the total was not found, " +
				"only merchant Corner Shop, date 2026-03-14, 3 lines",
		}}, apierr.From(err).Fields)
	})
	t.Run("is booked with the user's total", func(t *testing.T) {
		t.Parallel()
		req := me.request()
		req.Corrections = &ledgerv1.ReceiptCorrections{Total: new("4.90")}
		resp, err := me.CreateTransactionsFromReceipt(me.Ctx, req)
		require.NoError(t, err)
		require.NotEmpty(t, resp.GetTransactions())
		for _, w := range resp.GetReceipt().GetWarnings() {
			require.NotEqual(t, "TOTAL_MISSING", w.GetCode())
		}
	})
}

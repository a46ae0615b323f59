package receipts

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/protobuf/proto"

	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

// correcting returns a change of a request that adds corrections.
func correcting(c *ledgerv1.ReceiptCorrections) func(*form) {
	return func(req *form) { req.Corrections = c }
}

// lines returns corrected lines from descriptions and amounts.
func lines(texts ...string) *ledgerv1.CorrectedLines {
	out := &ledgerv1.CorrectedLines{}
	for pair := range slices.Chunk(texts, 2) {
		out.Values = append(out.Values,
			&ledgerv1.CorrectedLine{Description: pair[0], Amount: pair[1]})
	}
	return out
}

// counter is a metric that remembers its counts by field.
type counter struct {
	noop.Int64Counter
	mu     sync.Mutex
	counts map[string]int64
}

func (c *counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	c.mu.Lock()
	defer c.mu.Unlock()
	attributes := metric.NewAddConfig(options).Attributes()
	field, _ := attributes.Value(attribute.Key("field"))
	c.counts[field.AsString()] += n
}

func TestCreateTransactionsFromReceiptCorrections(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	me.corrected = counted
	me.fake.Receipt.Warnings = []*ocrv1.Warning{
		{Code: "DATE_AMBIGUOUS"}, {Code: "LINES_NOT_RECONCILED"}, {Code: "PAGES_SKIPPED"},
	}
	household := me.MakeCategory(me.Ctx, t, "Household").String()
	corrected := lines("Milk", "3", "Rye bread", "2.75", "Soap", "1.15")
	corrected.Values[2].CategoryId = &household
	corrections := &ledgerv1.ReceiptCorrections{
		Merchant: new("  Green Grocer "), Date: new("2026-03-15"), Currency: new("eur"),
		Total: new("7.2"), Tax: new("0.3"), Lines: corrected,
	}
	dry := me.upload(t, func(req *form) {
		req.Corrections, req.DryRun = corrections, true
	})
	require.Empty(t, counted.counts)
	resp := me.upload(t, correcting(corrections))
	require.Equal(t, map[string]string{
		"Milk": "-3.00", "Rye bread": "-2.75", "Soap": "-1.15", "Tax": "-0.30",
	}, amounts(resp))
	require.Equal(t, amounts(dry), amounts(resp))
	for _, tr := range resp.GetTransactions() {
		require.Equal(t, "2026-03-15T00:00:00.000Z", tr.GetDate())
		require.Equal(t, "EUR", tr.GetCurrency())
		require.Equal(t, tr.GetDescription() == "Soap", tr.GetCategoryId() == household)
	}
	recognized := resp.GetReceipt()
	require.Equal(t, "Green Grocer", recognized.GetMerchant())
	require.Equal(t, "7.20", recognized.GetTotal())
	require.Equal(t, "2", recognized.GetLines()[0].GetQuantity(),
		"an unchanged line stays as it was read")
	require.Empty(t, recognized.GetLines()[1].GetQuantity())
	require.Equal(t, []string{"PAGES_SKIPPED"}, warnings(resp))
	read := fixture.Groceries()
	require.True(t, proto.Equal(&ocrv1.RecognizedFields{
		Merchant: "Corner Shop", Date: "2026-03-14", Currency: "USD", Tax: "0.40", Total: "4.90",
		Lines: read.GetLines(),
	}, recognized.GetRecognized()), recognized.GetRecognized())
	require.Equal(t, read.GetConfidence(), recognized.GetConfidence())
	require.Equal(t, map[string]int64{
		"merchant": 1, "date": 1, "currency": 1, "total": 1, "tax": 1, "lines": 1,
	}, counted.counts)

	got, err := me.GetReceipt(me.Ctx, &ledgerv1.GetReceiptRequest{Id: recognized.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(recognized, got.GetReceipt()))
}

func TestCreateTransactionsFromReceiptCorrectionsThatChangeNothing(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	me.corrected = counted
	food := me.Category.String()
	same := lines("Milk", "3.0", " Bread ", "2.5", "Deposit returned", "-1")
	same.Values[0].CategoryId = &food
	resp := me.upload(t, correcting(&ledgerv1.ReceiptCorrections{
		Merchant: new("Corner Shop"), Date: new("2026-03-14"), Currency: new("USD"),
		Total: new("4.9"), Tax: new("4e-1"), Lines: same,
	}))
	require.Nil(t, resp.GetReceipt().GetRecognized())
	require.Empty(t, counted.counts)
	resp.Receipt.Id = ""
	require.True(t, proto.Equal(fixture.Groceries(), resp.GetReceipt()), resp.GetReceipt())
	require.Nil(t,
		me.upload(t, correcting(&ledgerv1.ReceiptCorrections{})).GetReceipt().GetRecognized())
}

func TestCreateTransactionsFromReceiptCorrectsWhatWasNotFound(t *testing.T) {
	t.Parallel()
	me := newShopper(t)
	me.fake.Receipt.Date, me.fake.Receipt.Currency, me.fake.Receipt.Total = "", "", "4.91"
	resp := me.upload(t, correcting(&ledgerv1.ReceiptCorrections{
		Date: new("2026-03-13"), Currency: new("USD"), Rounding: new("0.01"),
	}))
	require.Empty(t, warnings(resp))
	require.Len(t, resp.GetTransactions(), 5)
	require.True(t, proto.Equal(&ocrv1.RecognizedFields{
		Merchant: "Corner Shop", Tax: "0.40", Total: "4.91", Lines: fixture.Groceries().GetLines(),
	},
		resp.GetReceipt().GetRecognized()))

	single := me.upload(t, correcting(&ledgerv1.ReceiptCorrections{Total: new("6")}))
	require.Equal(t, map[string]string{"Corner Shop": "-6.00"}, amounts(single),
		"the lines that were read do not add up to the corrected total")
	require.Equal(t, []string{
		"CURRENCY_ASSUMED", "DATE_ASSUMED", "LINES_NOT_RECONCILED", "DUPLICATE_OF",
	}, warnings(single))
}

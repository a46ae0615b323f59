package receipts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/coffer-budget/coffer/internal/apierr"
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
	p := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	p.corrected = counted
	p.fake.Receipt.Warnings = []*ocrv1.Warning{
		{Code: "DATE_AMBIGUOUS"}, {Code: "LINES_NOT_RECONCILED"}, {Code: "PAGES_SKIPPED"},
	}
	household := p.MakeCategory(p.Ctx, t, "Household").String()
	corrected := lines("Milk", "3", "Rye bread", "2.75", "Soap", "1.15")
	corrected.Values[2].CategoryId = &household
	corrections := &ledgerv1.ReceiptCorrections{
		Merchant: new("  Green Grocer "), Date: new("2026-03-15"), Currency: new("eur"),
		Total: new("7.2"), Tax: new("0.3"), Lines: corrected,
	}
	dry := p.upload(t, func(req *form) {
		req.Corrections, req.DryRun = corrections, true
	})
	require.Empty(t, counted.counts)
	resp := p.upload(t, correcting(corrections))
	require.Equal(t, map[string]string{
		"Milk": "-3.00", "Rye bread": "-2.75", "Soap": "-1.15", "Tax": "-0.30",
	}, amounts(resp))
	require.Equal(t, amounts(dry), amounts(resp))
	for _, tr := range resp.GetTransactions() {
		require.Equal(t, "2026-03-15T00:00:00.000Z", tr.GetDate())
		require.Equal(t, "EUR", tr.GetCurrency())
		require.Equal(t, tr.GetDescription() == "Soap", tr.GetCategoryId() == household)
	}
	r := resp.GetReceipt()
	require.Equal(t, "Green Grocer", r.GetMerchant())
	require.Equal(t, "7.20", r.GetTotal())
	require.Equal(t, "2", r.GetLines()[0].GetQuantity(), "an unchanged line stays as it was read")
	require.Empty(t, r.GetLines()[1].GetQuantity())
	require.Equal(t, []string{"PAGES_SKIPPED"}, warnings(resp))
	read := fixture.Groceries()
	require.True(t, proto.Equal(&ocrv1.RecognizedFields{
		Merchant: "Corner Shop", Date: "2026-03-14", Currency: "USD", Tax: "0.40", Total: "4.90",
		Lines: read.GetLines(),
	}, r.GetRecognized()), r.GetRecognized())
	require.Equal(t, read.GetConfidence(), r.GetConfidence())
	require.Equal(t, map[string]int64{
		"merchant": 1, "date": 1, "currency": 1, "total": 1, "tax": 1, "lines": 1,
	}, counted.counts)

	got, err := p.GetReceipt(p.Ctx, &ledgerv1.GetReceiptRequest{Id: r.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(r, got.GetReceipt()))
}

func TestCreateTransactionsFromReceiptCorrectionsThatChangeNothing(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	counted := &counter{counts: map[string]int64{}}
	p.corrected = counted
	food := p.Category.String()
	same := lines("Milk", "3.0", " Bread ", "2.5", "Deposit returned", "-1")
	same.Values[0].CategoryId = &food
	resp := p.upload(t, correcting(&ledgerv1.ReceiptCorrections{
		Merchant: new("Corner Shop"), Date: new("2026-03-14"), Currency: new("USD"),
		Total: new("4.9"), Tax: new("4e-1"), Lines: same,
	}))
	require.Nil(t, resp.GetReceipt().GetRecognized())
	require.Empty(t, counted.counts)
	resp.Receipt.Id = ""
	require.True(t, proto.Equal(fixture.Groceries(), resp.GetReceipt()), resp.GetReceipt())
	require.Nil(t,
		p.upload(t, correcting(&ledgerv1.ReceiptCorrections{})).GetReceipt().GetRecognized())
}

func TestCreateTransactionsFromReceiptCorrectsWhatWasNotFound(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	p.fake.Receipt.Date, p.fake.Receipt.Currency, p.fake.Receipt.Total = "", "", "4.91"
	resp := p.upload(t, correcting(&ledgerv1.ReceiptCorrections{
		Date: new("2026-03-13"), Currency: new("USD"), Rounding: new("0.01"),
	}))
	require.Empty(t, warnings(resp))
	require.Len(t, resp.GetTransactions(), 5)
	require.True(t, proto.Equal(&ocrv1.RecognizedFields{
		Merchant: "Corner Shop", Tax: "0.40", Total: "4.91", Lines: fixture.Groceries().GetLines(),
	},
		resp.GetReceipt().GetRecognized()))

	single := p.upload(t, correcting(&ledgerv1.ReceiptCorrections{Total: new("6")}))
	require.Equal(t, map[string]string{"Corner Shop": "-6.00"}, amounts(single),
		"the lines that were read do not add up to the corrected total")
	require.Equal(t, []string{
		"CURRENCY_ASSUMED", "DATE_ASSUMED", "LINES_NOT_RECONCILED", "DUPLICATE_OF",
	}, warnings(single))
}

func TestCreateTransactionsFromReceiptSumMismatch(t *testing.T) {
	t.Parallel()
	const sums = "must add up to the total %s: with tax, tip, discount and rounding the sum is %s, the difference is %s"
	for name, c := range map[string]struct {
		corrections *ledgerv1.ReceiptCorrections
		message     string
	}{
		"too little":          {&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00")}, fmt.Sprintf(sums, "4.90", "4.40", "0.50")},
		"too much":            {&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00", "Tea", "1")}, fmt.Sprintf(sums, "4.90", "5.40", "-0.50")},
		"another total":       {&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.50"), Total: new("5.5")}, fmt.Sprintf(sums, "5.50", "4.90", "0.60")},
		"with all adjustment": {&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "1"), Tax: new("1"), Tip: new("1"), Discount: new("0.5"), Rounding: new("-0.01")}, fmt.Sprintf(sums, "4.90", "2.49", "2.41")},
	} {
		for _, mode := range []string{"", "items", "single"} {
			t.Run(fmt.Sprint(name, ", mode ", mode), func(t *testing.T) {
				t.Parallel()
				p := newShopper(t)
				req := p.request()
				req.Corrections, req.Mode = c.corrections, &mode
				e := p.refusesUpload(t, req, codes.InvalidArgument, "RECEIPT_SUM_MISMATCH")
				require.Equal(t,
					[]apierr.Field{{Name: "corrections.lines", Message: c.message}}, e.Fields)
			})
		}
	}
	t.Run("tax that cannot be added", func(t *testing.T) {
		t.Parallel()
		p := newShopper(t)
		p.fake.Receipt.Tax = "0.401"
		req := p.request()
		req.Corrections = &ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.50")}
		p.refusesUpload(t, req, codes.InvalidArgument, "RECEIPT_SUM_MISMATCH")
		req.Corrections.Tax = new("0.4")
		_, err := p.CreateTransactionsFromReceipt(p.Ctx, req)
		require.NoError(t, err)
	})
}

func TestCreateTransactionsFromReceiptInvalidCorrections(t *testing.T) {
	t.Parallel()
	p := newShopper(t)
	stranger := fixture.ActAs(t.Context(), p.NewID())
	theirs := p.MakeCategory(stranger, t, "Food").String()
	categorized := func(id string) *ledgerv1.ReceiptCorrections {
		c := &ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00", "Tea", "0.50")}
		c.Lines.Values[1].CategoryId = &id
		return c
	}
	many := &ledgerv1.CorrectedLines{Values: slices.Repeat(lines("", "x").GetValues(), 30)}
	for name, c := range map[string]struct {
		corrections *ledgerv1.ReceiptCorrections
		code        codes.Code
		reason      string
		fields      []string
	}{
		"texts": {
			&ledgerv1.ReceiptCorrections{
				Merchant: new(" "), Date: new("14.03.2026"), Currency: new("XXX"),
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.merchant", "corrections.date", "corrections.currency"},
		},
		"amounts": {
			&ledgerv1.ReceiptCorrections{
				Total: new("1e13"), Tax: new(""), Tip: new("1,00"), Discount: new("-1"),
				Rounding: new("0.00001"),
			},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{
				"corrections.total", "corrections.tax", "corrections.tip", "corrections.discount",
				"corrections.rounding",
			},
		},
		"decimals of the currency": {
			&ledgerv1.ReceiptCorrections{Total: new("4.901"), Lines: lines("Milk", "4.501")},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.total", "corrections.lines[0].amount"},
		},
		"a currency that the total does not fit": {
			&ledgerv1.ReceiptCorrections{Currency: new("JPY")},
			codes.InvalidArgument, "RECEIPT_CURRENCY_MISMATCH",
			[]string{"corrections.currency"},
		},
		"a long text": {
			&ledgerv1.ReceiptCorrections{Merchant: new(strings.Repeat("x", 1001))},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.merchant"},
		},
		"a total of zero": {
			&ledgerv1.ReceiptCorrections{Total: new("0")},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.total"},
		},
		"no lines": {
			&ledgerv1.ReceiptCorrections{Lines: &ledgerv1.CorrectedLines{}},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.lines"},
		},
		"more than 500 lines": {
			&ledgerv1.ReceiptCorrections{Lines: &ledgerv1.CorrectedLines{
				Values: slices.Repeat(lines("Milk", "1").GetValues(), maxLines+1),
			}},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.lines"},
		},
		"an incomplete line": {
			&ledgerv1.ReceiptCorrections{Lines: lines("", "")},
			codes.InvalidArgument, "VALIDATION_ERROR",
			[]string{"corrections.lines[0].description", "corrections.lines[0].amount"},
		},
		"malformed category": {
			categorized("x"),
			codes.InvalidArgument, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"corrections.lines[1].categoryId"},
		},
		"unknown category": {
			categorized(uuid.NewString()),
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"corrections.lines[1].categoryId"},
		},
		"another user's category": {
			categorized(theirs),
			codes.NotFound, "INVALID_CATEGORY_EXIST_PARAMS",
			[]string{"corrections.lines[1].categoryId"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := p.request()
			req.Corrections = c.corrections
			require.Equal(t, c.fields,
				fixture.FieldNames(p.refusesUpload(t, req, c.code, c.reason)))
		})
	}
	t.Run("many invalid lines", func(t *testing.T) {
		req := p.request()
		req.Corrections = &ledgerv1.ReceiptCorrections{Lines: many}
		invalid := p.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Len(t, invalid.Fields, 2*maxBadLines)
	})
}

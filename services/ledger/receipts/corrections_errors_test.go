package receipts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/coffer-budget/coffer/internal/apierr"
	ledgerv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ledger/v1"
	"github.com/coffer-budget/coffer/services/ledger/fixture"
)

func TestCreateTransactionsFromReceiptSumMismatch(t *testing.T) {
	t.Parallel()
	const sums = "must add up to the total %s: with tax, tip, discount and rounding the sum is " +
		"%s, the difference is %s"
	for name, tc := range map[string]struct {
		corrections *ledgerv1.ReceiptCorrections
		message     string
	}{
		"too little": {
			&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00")},
			fmt.Sprintf(sums, "4.90", "4.40", "0.50"),
		},
		"too much": {
			&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00", "Tea", "1")},
			fmt.Sprintf(sums, "4.90", "5.40", "-0.50"),
		},
		"another total": {
			&ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.50"), Total: new("5.5")},
			fmt.Sprintf(sums, "5.50", "4.90", "0.60"),
		},
		"with all adjustment": {
			&ledgerv1.ReceiptCorrections{
				Lines: lines("Milk", "1"), Tax: new("1"), Tip: new("1"), Discount: new("0.5"),
				Rounding: new("-0.01"),
			},
			fmt.Sprintf(sums, "4.90", "2.49", "2.41"),
		},
	} {
		for _, mode := range []string{"", "items", "single"} {
			t.Run(fmt.Sprint(name, ", mode ", mode), func(t *testing.T) {
				t.Parallel()
				p := newShopper(t)
				req := p.request()
				req.Corrections, req.Mode = tc.corrections, &mode
				e := p.refusesUpload(t, req, codes.InvalidArgument, "RECEIPT_SUM_MISMATCH")
				require.Equal(t,
					[]apierr.Field{{Name: "corrections.lines", Message: tc.message}}, e.Fields)
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
	me := newShopper(t)
	stranger := fixture.ActAs(t.Context(), me.NewID())
	theirs := me.MakeCategory(stranger, t, "Food").String()
	categorized := func(id string) *ledgerv1.ReceiptCorrections {
		c := &ledgerv1.ReceiptCorrections{Lines: lines("Milk", "4.00", "Tea", "0.50")}
		c.Lines.Values[1].CategoryId = &id
		return c
	}
	many := &ledgerv1.CorrectedLines{Values: slices.Repeat(lines("", "x").GetValues(), 30)}
	for name, tc := range map[string]struct {
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
			req := me.request()
			req.Corrections = tc.corrections
			require.Equal(t, tc.fields,
				fixture.FieldNames(me.refusesUpload(t, req, tc.code, tc.reason)))
		})
	}
	t.Run("many invalid lines", func(t *testing.T) {
		req := me.request()
		req.Corrections = &ledgerv1.ReceiptCorrections{Lines: many}
		invalid := me.refusesUpload(t, req, codes.InvalidArgument, "VALIDATION_ERROR")
		require.Len(t, invalid.Fields, 2*maxBadLines)
	})
}

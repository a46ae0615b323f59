package receipts

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/apierr"
	"github.com/coffer-budget/coffer/internal/money"
	ocrv1 "github.com/coffer-budget/coffer/proto/gen/coffer/ocr/v1"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	lines := func(amounts ...int64) (out []billLine) {
		for _, a := range amounts {
			out = append(out, billLine{description: "Item", amount: a})
		}
		return out
	}
	total := func(amount int64) []share {
		return []share{{description: "Corner Shop", amount: amount}}
	}
	household := uuid.New()
	for name, tc := range map[string]struct {
		bill bill
		mode string
		want []share
	}{
		"lines that add up become one transaction each": {
			bill: bill{lines: lines(300, 200), total: 500},
			want: []share{{description: "Item", amount: -300}, {description: "Item", amount: -200}},
		},
		"tax, tip, discount and rounding are transactions of their own": {
			bill: bill{
				lines: lines(1000), tax: 80, tip: 100, discount: 50, rounding: -3, total: 1127,
			},
			want: []share{{description: "Item", amount: -1000}, {description: "Tax", amount: -80}, {
				description: "Tip", amount: -100,
			}, {description: "Discount", amount: 50}, {description: "Rounding", amount: 3}},
		},
		"a line of another category keeps it": {
			bill: bill{lines: []billLine{{
				description: "Soap", amount: 300, category: household,
			}, {description: "Item", amount: 200}}, tax: 10, total: 510},
			want: []share{
				{description: "Soap", amount: -300, category: household},
				{description: "Item", amount: -200},
				{description: "Tax", amount: -10},
			},
		},
		"a refund line is positive": {
			bill: bill{lines: lines(1000, -250), total: 750},
			want: []share{{description: "Item", amount: -1000}, {description: "Item", amount: 250}},
		},
		"a free line is left out": {
			bill: bill{lines: lines(1000, 0), total: 1000},
			want: []share{{description: "Item", amount: -1000}},
		},
		"lines one cent off become one transaction for the total": {
			bill: bill{merchant: "Corner Shop", lines: lines(300, 200), total: 501},
			want: total(-501),
		},
		"lines that cannot all be read become one transaction for the total": {
			bill: bill{merchant: "Corner Shop", lines: lines(500), unreadable: true, total: 500},
			want: total(-500),
		},
		"more lines than a transaction takes become one for the total": {
			bill: bill{
				merchant: "Corner Shop", lines: lines(make([]int64, maxLines+1)...), total: 500,
			},
			want: total(-500),
		},
		"no lines become one transaction for the total": {
			bill: bill{merchant: "Corner Shop", total: 500},
			want: total(-500),
		},
		"tax without lines is no item": {
			bill: bill{merchant: "Corner Shop", tax: 500, total: 500},
			want: total(-500),
		},
		"a refund's total is positive": {
			bill: bill{merchant: "Corner Shop", total: -500},
			want: total(500),
		},
		"single is one transaction also when the lines add up": {
			bill: bill{merchant: "Corner Shop", lines: lines(300, 200), total: 500},
			mode: modeSingle, want: total(-500),
		},
		"items are refused when they do not add up": {
			bill: bill{lines: lines(300), total: 500}, mode: modeItems,
		},
		"items are refused when there are none": {
			bill: bill{total: 500}, mode: modeItems,
		},
		"a full discount is split into the items and the discount": {
			bill: bill{lines: lines(500), discount: 500},
			want: []share{
				{description: "Item", amount: -500}, {description: "Discount", amount: 500},
			},
		},
		"a total of zero is no single transaction": {
			bill: bill{lines: lines(500), discount: 500}, mode: modeSingle,
		},
		"a total of zero without lines is nothing":         {bill: bill{}},
		"a total of zero with nothing but free lines, too": {bill: bill{lines: lines(0, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := tc.bill.split(tc.mode)
			require.Equal(t, tc.want != nil, ok)
			require.Equal(t, tc.want, got)
		})
	}
}

// anyBill reconciles about half of the time.
func anyBill(t *rapid.T) bill {
	amount := rapid.OneOf(rapid.Int64Range(-20, 20),
		rapid.Int64Range(-9_999_999_999_999_900, 9_999_999_999_999_900))
	bill := bill{
		merchant: "Corner Shop",
		tax:      amount.Draw(t, "tax"), tip: amount.Draw(t, "tip"),
		discount: amount.Draw(t, "discount"), rounding: amount.Draw(t, "rounding"),
		unreadable: rapid.IntRange(0, 9).Draw(t, "unreadable") == 0,
	}
	bill.total = bill.tax + bill.tip - bill.discount + bill.rounding
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		l := billLine{description: "Item", amount: amount.Draw(t, "line")}
		bill.lines = append(bill.lines, l)
		bill.total += l.amount
	}
	if rapid.Bool().Draw(t, "wrong total") {
		bill.total = amount.Draw(t, "total")
	}
	return bill
}

func TestSplitSumsToMinusTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := anyBill(t)
		mode := rapid.SampledFrom([]string{modeAuto, modeItems, modeSingle}).Draw(t, "mode")
		requireExact(t, b, mode)
	})
}

func requireExact(t require.TestingT, bill bill, mode string) {
	shares, ok := bill.split(mode)
	if !ok {
		require.Empty(t, shares)
		require.True(t, mode == modeItems && !bill.reconciles() || bill.total == 0)
		return
	}
	var sum int64
	for _, s := range shares {
		require.NotZero(t, s.amount)
		require.NotEmpty(t, s.description)
		sum += s.amount
	}
	require.Equal(t, -bill.total, sum)
	require.NotEmpty(t, shares)
	require.LessOrEqual(t, len(shares), maxLines+4)
	if !bill.reconciles() || mode == modeSingle {
		require.Len(t, shares, 1)
	}
}

// FuzzBill feeds the split with whatever a recogniser may say.
func FuzzBill(f *testing.F) {
	f.Add("EUR", "4.90", "0.40", "", "3.00|2.50|-1.00", "")
	f.Add("JPY", "490", "", "10", "500", "items")
	f.Add("BHD", "0", "0.001", "0.001", "0|0", "single")
	f.Add("CLF", "1e11", "-1E-4", "", "999999999999.99|", "")
	f.Fuzz(func(t *testing.T, code, total, tax, discount, lines, mode string) {
		currency, ok := money.ParseCurrency(code)
		if !ok {
			return
		}
		r := &ocrv1.Receipt{Merchant: lines, Total: total, Tax: tax, Discount: discount}
		for amount := range strings.SplitSeq(lines, "|") {
			r.Lines = append(r.Lines, &ocrv1.Line{Description: discount, Amount: amount})
		}
		b, err := parseBill(r, currency)
		if err != nil {
			require.True(t, apierr.From(err) != nil || errors.Is(err, money.ErrDecimals), err)
			return
		}
		printed, err := currency.Parse(total)
		require.NoError(t, err)
		require.Equal(t, printed, b.total)
		requireExact(t, b, mode)
	})
}

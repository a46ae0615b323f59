package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReconcileChoosesLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text    string
		amounts []string
	}{
		"name that ends in figures": {
			"SHOP\nPLUG TOP 08.00\nX12 3 8.00 24.00\nPLUG LOW 04.00\nX13 3 4.00 12.00\nTotal 36.00",
			[]string{"24.00", "12.00"},
		},
		"unit price beside the name": {"SHOP\nGreens 1.00\n*2 2.00 Z\nApples 1.00\n*3 3.00 Z\n" +
			"Leeks 1.60\n*1 1.60 Z\nTotal 6.60", []string{"2.00", "3.00", "1.60"}},
		"discount within the line": {
			"SHOP\nSoap\n1 x 11.50 (Disc: 1.60) 9.90\nTea\n2 x 2.00 4.00\nTotal 13.90",
			[]string{"9.90", "4.00"},
		},
		"total before the discount": {"SHOP\nEggs 3.20\nTea 4.00\nQty: 2 Total Amount: 7.20\n" +
			"Discount: 0.00\nAfter Discount: 7.20\nTotal Sales: 7.20", []string{"3.20", "4.00"}},
		"number of articles with decimals": {
			"SHOP\nEggs 3.20\nTea 4.00\nItem Count: 2 Item Qty: 2.00\nTotal 7.20",
			[]string{"3.20", "4.00"},
		},
		"misread product of quantity and price": {
			"SHOP\nEggs\n4x 2.20 RNB.\nTea\n1x 7.80 7.80\nTotal 16.60", []string{"8.80", "7.80"},
		},
		"two digits that are often confused": {
			"SHOP\nTea 15.00\nBread 16.00\nTotal 30.00", []string{"15.00", "15.00"},
		},
		"rounding that is not printed": {
			"SHOP\nTea 3.02\nBread 10.00\nSubtotal 13.02\nTotal due 13.00\nCash 20.00\nChange 7.00",
			[]string{"3.02", "10.00"},
		},
		"line with the amount zero": {
			"SHOP\nTea 15.00\nas ever 0.00\nBread 15.00\nTotal 30.00", []string{"15.00", "15.00"},
		},
		"minus before the amount": {
			"SHOP\nTea 4.00\nBread 6.00\nDeposit -1.50\nTotal 8.50",
			[]string{"4.00", "6.00", "-1.50"},
		},
		"amount saved": {
			"SHOP\nTea 4.00\nBread 6.60\nTotal Saving 3.10\nTotal 10.60\nCash 20.00\nChange 9.40",
			[]string{"4.00", "6.60"},
		},
		"tax without a space": {
			"SHOP\nTea 4.00\nBread 6.00\nTotalGST: 0.60\nTotal 10.60", []string{"4.00", "6.00"},
		},
		"article with the name of a sum": {
			"SHOP\nBalance Bread 0.99 A\nTea 4.00 A\nTotal 4.99", []string{"0.99", "4.00"},
		},
		"payment below its label": {
			"SHOP\nEggs 3.20\nTea 4.00\nCASH\nRM 7.20", []string{"3.20", "4.00"},
		},
		"house number": {
			"SHOP\nN0.19 & 21\nMill Road\nEggs 3.20\nTea 4.00\nTotal 7.20",
			[]string{"3.20", "4.00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
			require.Equal(t, tc.amounts, amountsOf(r))
		})
	}
}

func TestReconcileRejectsTaxAboveGoods(t *testing.T) {
	t.Parallel()
	r := readText("SHOP\nDirt 0.50\nTax 26.30\nTotal 26.80")
	require.Contains(t, r.Warnings, LinesNotReconciled)
	require.Empty(t, r.Tax)
}

func TestReconcileUsesOtherReadings(t *testing.T) {
	t.Parallel()
	const head, sums = "SHOP\n", "\nTotal 9.10\nCash 20.00\nChange 10.90"
	r := Join(today, Read(recognized(head+"Bread 2.58\nCheese 5.40\nMilk 4.20"+sums)),
		Read(recognized(head+"Bread 2.50\nCheese 6.40\nMilk 1.20"+sums)))
	require.Equal(t, []string{"2.50", "5.40", "1.20"}, amountsOf(r))
	require.NotContains(t, r.Warnings, LinesNotReconciled)

	r = Join(today, Read(recognized(head+"Bread 2.50\nCheese\nMilk 1.20"+sums)),
		Read(recognized(head+"Bread\nCheese 5.40\nMilk 1.20"+sums)))
	require.Equal(t, []string{"2.50", "5.40", "1.20"}, amountsOf(r))
	require.NotContains(t, r.Warnings, LinesNotReconciled)
}

func amountsOf(r Receipt) []string {
	var out []string
	for _, it := range r.Items {
		out = append(out, it.Amount)
	}
	return out
}

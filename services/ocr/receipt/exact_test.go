package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestJoinTextWithoutRepairs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, total string
		amounts     []string
		reconciled  bool
	}{
		"lines that add up": {
			"SHOP\nBread 5.00\nMilk 3.00\nTotal EUR 8.00", "8.00", []string{"5.00", "3.00"}, true,
		},
		"lines one digit off": {
			"SHOP\nBread 5.00\nMilk 3.00\nTotal EUR 9.00", "9.00", []string{"5.00", "3.00"}, false,
		},
		"price that is not the product": {
			"SHOP\nBread 2 x 2.50 6.80\nMilk 1.20\nTotal EUR 6.20", "6.20",
			[]string{"6.80", "1.20"},
			false,
		},
		"a refund among the goods": {
			"SHOP\nBread 5.00\nReturned milk -2.00\nTotal EUR 3.00", "3.00",
			[]string{"5.00", "-2.00"},
			true,
		},
		"a refund in a currency": {
			"SHOP\nBread 5.00\nReturned milk -€2.00\nTotal €3.00", "3.00",
			[]string{"5.00", "-2.00"},
			true,
		},
		"a minus at the end": {
			"SHOP\nBread 5.00\nReturned milk 2.00-\nTotal EUR 3.00", "3.00",
			[]string{"5.00", "-2.00"},
			true,
		},
		"dash that is not a minus": {
			"SHOP\nBread - 5.00\nMilk 3.00\nTotal EUR 8.00", "8.00", []string{"5.00", "3.00"}, true,
		},
		"nothing but a refund": {
			"SHOP\nMilk -2.00\nBread -1.00\nTotal EUR -3.00", "-3.00",
			[]string{"-2.00", "-1.00"},
			true,
		},
		"yen": {
			"SHOP\nTea 500\n2 x Cake 350 700\nTotal JPY 1200", "1200.00",
			[]string{"500.00", "700.00"},
			true,
		},
		"yen in groups of thousands": {
			"SHOP\nTea 500\nKettle 12,000\nTotal JPY 12,500", "12500.00",
			[]string{"500.00", "12000.00"},
			true,
		},
		"a total in whole units":   {"SHOP\nBread\nTotal EUR 500", "500.00", nil, true},
		"a total with one decimal": {"SHOP\nBread\nTotal EUR 12.5", "12.50", nil, true},
		"whole dollars": {
			"SHOP\nBread $3\nMilk $2.50\nTotal $5.50", "5.50", []string{"3.00", "2.50"}, true,
		},
		"one decimal": {
			"SHOP\nBread 3.5\nMilk 2.5\nTotal 6.0", "6.00", []string{"3.50", "2.50"}, true,
		},
		"thousands of dollars": {
			"OFFICE\nRent $1,250\nTotal $1,250", "1250.00", []string{"1250.00"}, true,
		},
		"thousands beside cents": {
			"OFFICE\nRent $1,250\nTotal $1,250.00", "1250.00", []string{"1250.00"}, true,
		},
		"thousands of euros": {
			"SHOP\nPress €45.000\nTotal €45.000", "45000.00", []string{"45000.00"}, true,
		},
		"thousands behind a code": {
			"SHOP\nDesk USD 1,299\nTotal USD 1,299", "1299.00", []string{"1299.00"}, true,
		},
		"thousands of rupiah": {
			"WARUNG\nNasi Rp 53.000\nTotal Rp 53.000", "53000.00", []string{"53000.00"}, true,
		},
		"price of a gallon": {
			"FUEL\nRegular at $3.599\nFuel 36.00\nTotal $36.00", "36.00", []string{"36.00"}, true,
		},
		"an exchange": {
			"SHOP\nJacket blue 50.00\nJacket red -50.00\nTotal $0.00", "0.00",
			[]string{"50.00", "-50.00"},
			true,
		},
		"coupon for everything": {
			"SHOP\nPaper 12.00\nSubtotal 12.00\nCoupon -12.00\nTotal USD 0.00", "0.00",
			[]string{"12.00"},
			true,
		},
		"nothing left to pay": {
			"SHOP\nPaper 12.00\nTotal 12.00\nBalance due 0.00", "12.00", []string{"12.00"}, true,
		},
		"dinars": {
			"SHOP\nTea 0.500\nCake 1.250\nTotal BHD 1.750", "1.75", []string{"0.50", "1.25"}, true,
		},
		"dinars that have thousandths": {
			"SHOP\nTea 0.505\nCake 1.250\nTotal BHD 1.755", "1.755",
			[]string{"0.505", "1.25"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receipt := Join(today, Read(printed.FromText(tc.text)))
			require.Equal(t, tc.total, receipt.Total)
			var amounts []string
			for _, it := range receipt.Items {
				amounts = append(amounts, it.Amount)
			}
			require.Equal(t, tc.amounts, amounts)
			if tc.reconciled {
				require.NotContains(t, receipt.Warnings, LinesNotReconciled)
			} else {
				require.Contains(t, receipt.Warnings, LinesNotReconciled)
			}
		})
	}
}

func TestFindCurrencyByCodeBesideTotal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Total BHD 1.750":            "BHD",
		"TOTAL 12.50 RON":            "RON",
		"Total COP $45.00":           "COP",
		"Lunch $9\nTotal $45.00 CLP": "CLP",
		"Total VND 50000":            "VND",
		"ALL TOP 5.00\nTotal 5.00":   "",
	} {
		require.Equal(t, want, Join(today, Read(printed.FromText("SHOP\n"+text))).Currency, text)
	}
}

func TestReadItemsTrimsNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Widget ........ 5.00":   "Widget",
		"Ramen ¥ 5.00":           "Ramen",
		"Thing CHF 5.00":         "Thing",
		"Gadget (return) (5.00)": "Gadget (return)",
		"Apple x2 5.00":          "Apple",
		"Kleenex 5.00":           "Kleenex",
		"Alarm 5.00":             "Alarm",
		"Milk - $5.00":           "Milk",
		"Apple 2x 5.00":          "Apple",
		"Item 1   $5.00":         "Item 1",
		"Vitamin B12 5.00":       "Vitamin B12",
		"Apple 2 x 2.50 5.00":    "Apple",
		"2 x Apple 2.50 5.00":    "Apple",
	} {
		draft := readItems(printed.Lines(printed.FromText(text)))
		require.Len(t, draft, 1, text)
		require.Equal(t, want, draft[0].name, text)
	}
}

func TestFindMerchantsIgnoresTotals(t *testing.T) {
	t.Parallel()
	require.Empty(t, readText("Total: $42.50").Merchant)
	require.Equal(t, "TOTAL TANKSTELLE 24",
		readText("TOTAL TANKSTELLE 24\nDiesel 42.50\nSumme 42.50").Merchant)
}

package receipt

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestPickDateDayMonthOrder(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, date string
		open       bool
	}{
		"euros imply the day first": {"Summe 5,00 EUR\n03/04/2023", "2023-04-03", false},
		"American address implies the month first": {
			"Portland, OR 97201\n03/04/2023\nTotal $5.00", "2023-03-04", false,
		},
		"another date shows the order": {
			"Member since 01/31/2020\nDate 03/04/2023", "2023-03-04", false,
		},
		"dollars alone are ambiguous": {
			"Date 03/04/2023\nTotal $5.00", "2023-03-04", true,
		},
		"no evidence is ambiguous": {"Date 03/04/2023", "2023-04-03", true},
		"weekday shows the order": {
			"Tue 03/04/2018\nTotal $5.00", "2018-04-03", false,
		},
		"equal day and month are not ambiguous": {"Date 04/04/2023", "2023-04-04", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text + "\nTotal 5.00")
			require.Equal(t, tc.date, r.Date)
			if tc.open {
				require.Contains(t, r.Warnings, DateAmbiguous)
			} else {
				require.NotContains(t, r.Warnings, DateAmbiguous)
			}
		})
	}
}

func TestFindCurrencyMisreadRinggit(t *testing.T) {
	t.Parallel()
	require.Equal(t, "MYR", readText("SHOP SDN BHD\nTea $5.00\nTotal $5.00\nCash $5.00").Currency,
		"RM is misread as a dollar sign")
	require.Equal(t, "MYR", readText("SHOP\nTea RN5.00\nTotal RH 5.00").Currency)
	require.Equal(t, "MYR", readText("SHOP\nGST ID: 000123456789\nTea 5.00\nTotal 5.00").Currency)
}

func TestReconcileRepairsMisreadAmounts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, total string
		amounts     []string
	}{
		"one digit of one line": {
			"SHOP\nBread 2.50\nCheese 9.40\nMilk 1.20\nTotal 9.10\nCash 20.00\nChange 10.90",
			"9.10",
			[]string{"2.50", "5.40", "1.20"},
		},
		"quantity times price": {
			"SHOP\nBread 2 x 2.50 6.80\nMilk 1.20\nTotal 6.20\nCash 10.00\nChange 3.80", "6.20",
			[]string{"5.00", "1.20"},
		},
		"dirt that reads as a minus": {
			"SHOP\nBread -2.50\nMilk 1.20\nTotal 3.70\nCash 5.00\nChange 1.30", "3.70",
			[]string{"2.50", "1.20"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			require.Equal(t, tc.total, r.Total)
			var got []string
			for _, it := range r.Items {
				got = append(got, it.Amount)
			}
			require.Equal(t, tc.amounts, got)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
		})
	}
}

func TestJoinCombinesReadings(t *testing.T) {
	t.Parallel()
	first := Read(
		recognized("CORNER SHOP LTD\nDate 05/O?/2O2\nBread 2.50\nMilk 1.20\nTotal 3.7\nCash 5.00"),
	)
	second := Read(recognized("C0RN SH0P\nDate 05/06/2023 10:00\nBread 2.50\nTotal 3.70\n" +
		"Cash 5.00\nChange 1.30"))
	r := Join(today, first, second)
	require.Equal(t, "CORNER SHOP LTD", r.Merchant)
	require.Equal(t, "2023-06-05", r.Date)
	require.Equal(t, "3.70", r.Total)
	require.Len(t, r.Items, 2)
	require.Greater(t, r.Confidence["total"], Join(today, first).Confidence["total"])
}

func TestAdjustmentsDeriveTaxFromRate(t *testing.T) {
	t.Parallel()
	r := readText("SHOP\nBread 12.90\nCheese 5.61\nSub Total 18.51\nService Charge 10% 1.85\n" +
		"GST 6% L22\nTotal 21.58")
	require.Equal(t, "21.58", r.Total)
	require.Equal(t, "3.07", r.Tax, "the service charge, and 6 % of the amount with it")
	require.NotContains(t, r.Warnings, LinesNotReconciled)

	r = readText("SHOP\nBread 12.90\nCheese 5.61\nSub Total 18.51\nGST 6% L22\nTotal 24.90")
	require.Empty(t, r.Tax, "no rate makes this difference")
}

func TestBestTotalDerivedFromSubtotalAndTax(t *testing.T) {
	t.Parallel()
	require.Equal(t, "14.85", readText("CAFE\nNoodles 14.00\nSUB TOTAL 14.00\nGST 6% 0.84\n"+
		"ROUNDING ADJ 0.01\nT0TL ,\nCHANGE").Total)
}

func TestBestTotalIgnoresTotalsOfTaxRates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Total 0% suppires: 3.70\nSoap 4.00\nTotal 6% supplies: 4.24\nTotal 0% supplies: 3.70\n" +
			"Total Payable: 7.94": "7.94",
		"Total 0% supplies: 3.70\nReturned soap -1.00\nTotal 6% supplies: -1.06\n" +
			"Total Payable: 2.64": "2.64",
	} {
		require.Equal(t, want, readText("SHOP\nBread 2.50\nMilk 1.20\n"+text).Total)
	}
}

func TestBestTotalFindsNoneInOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "Dear Sir or Madam", "1 2 3", strings.Repeat("lorem ipsum ", 500),
	} {
		require.Empty(t, readText(text).Total, text)
	}
}

func FuzzReadText(f *testing.F) {
	f.Add("SHOP\nBread 2.50\nTotal 2.50\nCash 5.00\nChange 2.50\n03/04/2023")
	f.Add("Summe EUR 1.234,56-\nMwSt 19% 1,00\n\f(1,00)")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		receipt := readText(text)
		Split(printed.FromText(text))
		for field, c := range receipt.Confidence {
			if c < 0 || c > 1 {
				t.Fatalf("confidence of %s is %f", field, c)
			}
		}
		for _, e := range receipt.Evidence {
			if e.Page < 1 || !strings.Contains(text, "\f") && e.Page != 1 {
				t.Fatalf("evidence on page %d", e.Page)
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %s", took)
		}
	})
}

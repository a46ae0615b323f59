package printed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindAmounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int64{
		"Total 12.30":         {12_300},
		"Summe 12,30":         {12_300},
		"1.234,56":            {1_234_560},
		"1,234.56":            {1_234_560},
		"1'234.50":            {1_234_500},
		"RM41, 75":            {41_750},
		"RM41 .75":            {41_750},
		"4,.60":               {4_600},
		"RMO.02":              {20},
		"@.02":                {20},
		"@12.50":              {12_500},
		"1S.5O":               {15_500},
		"-5.00":               {-5_000},
		"5.00-":               {-5_000},
		"-RM 0.02":            {-20},
		"(1.00)":              {-1_000},
		"CHEESE - 5.00":       {5_000},
		"2 x 1.50 3.00":       {2_000, 1_500, 3_000},
		"0,532 kg":            {532},
		"12/03/2024":          nil,
		"13:45:10":            nil,
		"N0.19 & 21":          {21_000},
		"4111 1111 1111 1111": {4_111_000, 1_111_000, 1_111_000, 1_111_000},
		"123456789012345":     nil,
	} {
		var got []int64
		for _, a := range newLine(FromText(text)[0].Words, false).Amounts {
			got = append(got, a.Value)
		}
		require.Equal(t, want, got, text)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Kind{
		"TOTAL 5.00":                   KindTotal,
		"TOTA1 5.00":                   KindTotal,
		"T O T A L 5.00":               KindTotal,
		"Total incl. GST 5.00":         KindTotal,
		"Total excl. GST 5.00":         KindSubtotal,
		"Total GST 0.30":               KindTax,
		"Total GST (6%) 0.30":          KindTax,
		"TOTAL (GST INGL) 5.00":        KindTotal,
		"TOTAL <G8T INCL) 5.00":        KindTotal,
		"TOTALCINCL GST) 5.00":         KindTotal,
		"Total 6% supplies 5.00":       KindSubtotal,
		"Total @& supplies: 5.00":      KindSubtotal,
		"Pay 5.00":                     KindCash,
		"Total includes VAT 0.40":      KindTax,
		"Total 7% goods 5.00":          KindSubtotal,
		"Total Rounded 5.00":           KindTotal,
		"Rounding Adj 0.03":            KindRounding,
		"Sub Total 5.00":               KindSubtotal,
		"Total items 4":                KindCount,
		"Total paid 5.00":              KindCash,
		"Amount to be paid 5.00":       KindTotal,
		"Zu bezahlen 5,00":             KindTotal,
		"Gesamtbetrag 5,00":            KindTotal,
		"Zwischensumme 5,00":           KindSubtotal,
		"Zu zahlen 5,00":               KindTotal,
		"Rückgeld 5,00":                KindChange,
		"Montant à payer 5,00":         KindTotal,
		"Rendu monnaie 5,00":           KindChange,
		"Importe total 5,00":           KindTotal,
		"Totale complessivo 5,00":      KindTotal,
		"Serv Charge 10% 2.00":         KindTax,
		"10% Srv Chg 4.25":             KindTax,
		"TTL AFT RND 46.90":            KindTotal,
		"Total Rounding 0.01":          KindRounding,
		"After Discount 5.00":          KindSubtotal,
		"Total After Discount 5.00":    KindTotal,
		"Qty: 6 Total Amount 5.00":     KindTotal,
		"Item Count: 5 Item Qty: 5.00": KindCount,
		"Qty Description Price Amount": KindHeader,
		"Chicken rice 5.00":            KindNone,
	} {
		require.Equal(t, want, kindOf(newLine(FromText(text)[0].Words, false)), text)
	}
}

func TestLayoutWithOverlappingBoxes(t *testing.T) {
	t.Parallel()
	word := func(text string, x, y, w, h int) Word {
		return Word{Text: text, Box: Box{X: x, Y: y, W: w, H: h}, Confidence: 0.9}
	}
	lines := Lines([]Page{{Width: 800, Height: 800, Words: []Word{
		word("Change", 330, 927, 84, 29), word("RM6.", 513, 928, 83, 25),
		word("10", 572, 924, 26, 38),
		word("Thank", 330, 980, 84, 29), word("you", 430, 980, 60, 29),
	}}})
	require.Len(t, lines, 2)
	require.Equal(t, "Change RM6. 10", lines[0].Text)
}

package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinRefund(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, total string
		amounts     []string
	}{
		"minus before the amounts": {
			"FERN MARKET\nREFUND\nTea -4.00\nBread -6.00\nTotal -10.00\nCash -10.00", "-10.00",
			[]string{"-4.00", "-6.00"},
		},
		"minus after the amounts": {
			"FERN MARKET\nRETURN\nTea 4.00-\nBread 6.00-\nTotal 10.00-\nVISA 10.00-", "-10.00",
			[]string{"-4.00", "-6.00"},
		},
		"brackets around the amounts": {
			"FERN MARKET\nTea (4.00)\nTotal (4.00)", "-4.00", []string{"-4.00"},
		},
		"amount that is paid out": {
			"FERN MARKT\nTee -4,00\nBrot -6,00\nSumme EUR -10,00\nAuszahlung bar EUR 10,00",
			"-10.00",
			[]string{"-4.00", "-6.00"},
		},
		"more returned than bought": {
			"FERN MARKET\nTea -4.00\nBread 1.50\nTotal -2.50\nRefund to card 2.50", "-2.50",
			[]string{"-4.00", "1.50"},
		},
		"dirt before the total": {
			"FERN MARKET\nTea 4.00\nBread 6.00\nTotal -10.00\nCash 10.00", "10.00",
			[]string{"4.00", "6.00"},
		},
		"dirt before an amount": {
			"FERN MARKET\nTea -4.00\nBread 6.00\nTotal 10.00\nCash 10.00", "10.00",
			[]string{"4.00", "6.00"},
		},
		"dashes between name and price": {
			"FERN MARKET\nTea - 4.00\nBread - 6.00\nTotal - 10.00\nCash 10.00", "10.00",
			[]string{"4.00", "6.00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			require.Equal(t, tc.total, r.Total)
			var amounts []string
			for _, it := range r.Items {
				amounts = append(amounts, it.Amount)
			}
			require.Equal(t, tc.amounts, amounts)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
		})
	}
}

// TestJoinRefundKeepsSignOfRereadRows has a reading of single rows, which alone does not show that
// the receipt is a refund.
func TestJoinRefundKeepsSignOfRereadRows(t *testing.T) {
	t.Parallel()
	rows := ReadSumRows(recognized("Total -10.00"))
	r := Join(today, Read(recognized("FERN MARKET\nTea -4.00\nBread -6.00\nTotal -10.00")),
		rows, rows, rows)
	require.Equal(t, "-10.00", r.Total)
}

func TestJoinKeepsFreeArticles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text    string
		amounts []string
	}{
		"parts of a menu": {
			"FERN GRILL\n1 Menu Large 9.50\n1 M Fries 0.00\n2 Cola 0.00\nTotal 9.50",
			[]string{"9.50", "0.00", "0.00"},
		},
		"quantity with a sign": {
			"FERN GRILL\n1x Menu Large 9.50\n1x Fries 0.00\nTotal 9.50", []string{"9.50", "0.00"},
		},
		"quantity and price below": {
			"FERN GRILL\nMenu Large\n1 x 9.50 9.50\nCola\n1 x 0.00 0.00\nTotal 9.50",
			[]string{"9.50", "0.00"},
		},
		"exchanged articles": {
			"FERN BAKERY\n2 WHOLEMEAL 2.70 0.00\n3 JUMBO 2.50 7.50\nTotal 7.50",
			[]string{"0.00", "7.50"},
		},
		"zero without a name": {
			"FERN GRILL\n1 Menu Large 9.50\n0.00\nTotal 9.50", []string{"9.50"},
		},
		"discount of zero and no points": {
			"FERN GRILL\n1 Menu Large 9.50\nDiscount 0.00\nPoints 0.00\nTotal 9.50",
			[]string{"9.50"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			var amounts []string
			for _, it := range r.Items {
				amounts = append(amounts, it.Amount)
			}
			require.Equal(t, tc.amounts, amounts)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
		})
	}
}

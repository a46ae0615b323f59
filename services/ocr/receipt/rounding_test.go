package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinAddsChargesBelowTotal(t *testing.T) {
	t.Parallel()
	const lines = "SHOP LTD\nTea 4.00\nBread 6.00\n"
	for name, tc := range map[string]struct{ text, total string }{
		"service charge and card": {
			lines + "Total 10.00\nService Charge 0.60\nVISA 10.60", "10.60",
		},
		"tip and card":                  {lines + "Amount 10.00\nTip 2.00\nVISA 12.00", "12.00"},
		"included tax and exact amount": {lines + "Total 10.00\nTax 0.60\nVISA 10.00", "10.00"},
		"cash with change": {
			lines + "Total 10.00\nTax 0.60\nCash 10.60\nChange 0.60", "10.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			require.Equal(t, tc.total, r.Total)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
		})
	}
}

func TestJoinFollowsRounding(t *testing.T) {
	t.Parallel()
	const lines = "GREEN SDN BHD\nTea 3.02\nBread 4.70\n"
	for name, tc := range map[string]struct{ text, total, rounding string }{
		"printed rounding and rounded total": {
			lines + "Total RM 7.72\nRounding -0.02\nNett Total RM 7.70", "7.70", "-0.02",
		},
		"printed rounding without its result": {
			lines + "Total RM 7.72\nRounding Adj -0.02\nThank you", "7.72", "",
		},
		"rounding of the payment": {
			lines + "Total RM 7.72\nCash RM 10.00\nRounding Adj -0.02\nChange RM 2.30", "7.72", "",
		},
		"rounding without its minus": {
			lines + "Total RM 7.72\nRounding Adj 0.02\nNett Total RM 7.70", "7.70", "-0.02",
		},
		"rounding up": {
			"GREEN SDN BHD\nTea 3.03\nBread 4.70\nTotal RM 7.73\nRounding 0.02\nNett Total RM 7.75",
			"7.75", "0.02",
		},
		"rounded amount beside the payment": {
			lines + "Total RM 7.72\nCash RM 7.70", "7.70", "-0.02",
		},
		"rounded amount twice, without a label": {
			lines + "Total RM 7.72\nRM 7.70\nxx RM 7.70", "7.70", "-0.02",
		},
		"tax before the rounding": {"GREEN SDN BHD\nTea 2.58\nBread 4.70\nSubtotal 7.28\n" +
			"Tax 0.44\nTotal RM 7.72\nCash RM 7.70", "7.70", "-0.02"},
		"no rounded amount": {lines + "Total RM 7.72\nVisa RM 7.72", "7.72", ""},
		"article with the rounded amount": {
			"GREEN SDN BHD\nTea 7.70\nBag 0.02\nTotal RM 7.72", "7.72", "",
		},
		"subtotal with the rounded amount": {
			"GREEN SDN BHD\nTea 3.00\nBread 4.70\nSubtotal 7.70\nTax 0.02\nTotal RM 7.72", "7.72",
			"",
		},
		"tax of less than half a coin": {
			"GREEN SDN BHD\nTea 3.00\nBread 4.70\nTotal 7.70\nTax 0.02\nTotal RM 7.72", "7.72", "",
		},
		"currency with coins of a minor unit": {
			"Blumen GmbH\nTee 3,02\nBrot 4,70\nSumme EUR 7,72\nRabattaktion 7,70\nAktion 7,70",
			"7.72", "",
		},
		"currency with a coin of one unit": {
			"Blommor AB\nTe 33,40\nBröd 44,00\nTotalt SEK 77,40\nCash 77,00", "77.00", "-0.40",
		},
		"rounded total, although printed smaller": {
			lines + "Total RM 7.72\nTotal (Rounded) 7.70\nCash RM 50.00\nChange RM 42.30", "7.70",
			"-0.02",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readText(tc.text)
			require.Equal(t, tc.total, r.Total)
			require.Equal(t, tc.rounding, r.Rounding)
			require.NotContains(t, r.Warnings, LinesNotReconciled)
		})
	}
}

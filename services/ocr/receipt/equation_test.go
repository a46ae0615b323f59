package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// TestJoinSolvesEquation reads receipts whose amounts are right, and on which a part of the
// equation
//
//	lines = subtotal; subtotal + charges ± rounding = total = payments − change
//
// contradicts another one at first sight.
func TestJoinSolvesEquation(t *testing.T) {
	t.Parallel()
	const goods = "ROYAL KITCHEN\nNASI LEMAK 12.00\nTEH TARIK 3.00\n"
	for name, tt := range map[string]struct {
		text, total, tax, rounding string
		lines                      int
		unreconciled               bool
	}{
		"service charge in short": {
			text:  goods + "SUBTOTAL 15.00\nSrvc Chrg 10% 1.50\nGST 6% 0.99\nTOTAL DUE 17.49",
			total: "17.49", tax: "2.49", lines: 2,
		},
		"charge of unknown name": {
			text:  goods + "SUBTOTAL 15.00\nKrepko 1.50\nTOTAL DUE 16.50",
			total: "16.50", tax: "1.50", lines: 2,
		},
		"surcharge below the total": {
			text:  goods + "TOTAL 15.00\nCard surcharge 0.45\nTOTAL DUE 15.45\nVISA 15.45",
			total: "15.45", tax: "0.45", lines: 2,
		},
		"charge that was not read": {
			text:  goods + "SUBTOTAL 15.00\nTOTAL DUE 17.49",
			total: "17.49", lines: 2, unreconciled: true,
		},
		"included tax": {
			text:  goods + "TOTAL 15.00\nINC 6 % GST 0.85\nCASH 15.00",
			total: "15.00", lines: 2,
		},
		"included tax without its amount": {
			text:  goods + "SUBTOTAL 15.00\nINC 6 % GST\nCASH 20.00\nCHANGE 5.00",
			total: "15.00", lines: 2,
		},
		"included tax below a subtotal": {
			text:  goods + "SUBTOTAL 15.00\nINC 6 % GST 0.85\nCASH 20.00",
			total: "15.00", lines: 2,
		},
		"included tax that equals a missing article": {
			text:  "ROYAL KITCHEN\nNASI LEMAK 12.00\nTEH TARIK 2.15\nTOTAL 15.00\nINC 6 % GST",
			total: "15.00", lines: 2, unreconciled: true,
		},
		"other balance below the payment": {
			text:  goods + "TOTAL 15.00\nVISA 15.00\nBALANCE DUE 17.00",
			total: "15.00", lines: 2,
		},
		"other total below the change": {
			text:  goods + "TOTAL 15.00\nCASH 20.00\nCHANGE 5.00\nDEPOSIT 1.50\nTOTAL 16.50",
			total: "15.00", lines: 2,
		},
		"change of a rounded payment": {
			text: "ROYAL KITCHEN RM\nTEA 12.02\nCAKE 3.01\nTOTAL RM 15.03\n" +
				"CASH 20.00\nCHANGE 4.95",
			total: "15.03", lines: 2,
		},
		"payment without a label above the change": {
			text: "BLUMEN BLAU\nNELKEN 12,00\nROSEN 3,00\nZwischensumme EUR 15,00\nEUR0 20,00\n" +
				"Rueckgeld EUR 5,00\n1 MwSt 19% von 5,00 0,80\n2 MwSt 7% von 10,00 0,65",
			total: "15.00", lines: 2,
		},
		"labeled rounding": {
			text: "ROYAL KITCHEN RM\nTEA 12.02\nCAKE 3.01\nTOTAL RM 15.03\nROUNDING 0.02\n" +
				"NET TOTAL 15.05\nCASH 20.00\nCHANGE 4.95",
			total: "15.05", rounding: "0.02", lines: 2,
		},
		"number of articles before the total": {
			text:  goods + "Total Qty: 2 15.00",
			total: "15.00", lines: 2,
		},
		"number of articles alone": {
			text:  "ICA\nMjölk 12,00\nBröd 3,00\nTotalt 2 varor\nTotalt 15,00 SEK",
			total: "15.00", lines: 2,
		},
		"quantity and price without a space": {
			text:  "ROYAL KITCHEN\nTEH TARIK\n2XRM1.75 RM3.50\nNASI LEMAK 12.00\nTOTAL RM 15.50",
			total: "15.50", lines: 2,
		},
		"quantity and price alone": {
			text:  "ROYAL KITCHEN\nTEH TARIK 3.50\n2XRM1.75\nNASI LEMAK 12.00\nTOTAL RM 15.50",
			total: "15.50", lines: 2,
		},
	} {
		for source, pages := range map[string][]printed.Page{
			"text": printed.FromText(tt.text), "image": recognized(tt.text),
		} {
			t.Run(name+" in "+source, func(t *testing.T) {
				t.Parallel()
				got := Join(today, Read(pages))
				require.Equal(t, tt.total, got.Total)
				require.Equal(t, tt.tax, got.Tax)
				require.Equal(t, tt.rounding, got.Rounding)
				require.Len(t, got.Items, tt.lines, "%v", got.Items)
				for _, it := range got.Items {
					require.NotContains(t, it.Description, "2X")
				}
				if tt.unreconciled {
					require.Contains(t, got.Warnings, LinesNotReconciled)
					require.Less(t, got.Confidence["total"], confidentTotal)
				} else {
					require.NotContains(t, got.Warnings, LinesNotReconciled)
				}
			})
		}
	}
}

// TestJoinMisreadRowIsNoRounding reads a total whose last digit one of two readings has wrong, so
// that it looks like the amount rounded to a coin.
func TestJoinMisreadRowIsNoRounding(t *testing.T) {
	t.Parallel()
	const head, sums = "GREEN SDN BHD RM\nTea 3.02\nBread 4.70\n", "\nCash RM 10.00\nChange RM 2.28"
	r := Join(today, Read(recognized(head+"Total RM 7.72"+sums)),
		Read(recognized(head+"Total RM 7.70"+sums)))
	require.Equal(t, "7.72", r.Total)
	require.Empty(t, r.Rounding)
}

// TestJoinSumsTaxRates reads a total of two subtotals, whose goods are read for the first one only.
func TestJoinSumsTaxRates(t *testing.T) {
	t.Parallel()
	r := readText("ROYAL KITCHEN\nBREAD 4.00\nMILK 3.00\nTotal 0% supplies 7.00\nSOAP 10.00\n" +
		"Total 6% supplies 10.00\nGST 0.60\nTotal payable 17.60")
	require.Equal(t, "17.60", r.Total)
	require.GreaterOrEqual(t, r.Confidence["total"], confidentTotal)
	require.Contains(t, r.Warnings, LinesNotReconciled)
}

// TestJoinAmountsBesideOtherLabels reads a folded page on which each sum is a row below its label.
func TestJoinAmountsBesideOtherLabels(t *testing.T) {
	t.Parallel()
	r := readText("ROYAL KITCHEN\nNASI LEMAK 12.00\nTEH TARIK 3.00\nSUBTOTAL\nGST 6% 15.00\n" +
		"TOTAL 0.90\nRM 15.90\nVISA\nThank you RM 15.90")
	require.Equal(t, "15.90", r.Total)
}

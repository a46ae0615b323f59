package receipt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	const first = "GREEN SHOP LTD\n12/03/2026 14:05\n" +
		"Tea 4.00\nBread 6.00\nTotal 10.00\nCash 10.00\n"
	const second = "BLUE CAFE INC\n12/03/2026 15:20\n" +
		"Coffee 3.10\nCake 4.90\nTotal 8.00\nVisa 8.00\n"
	const third = "RED BAR\nWine 7.00\nNuts 2.00\nTotal 9.00\n12/03/2026\n"
	const green, blue, red = "GREEN SHOP LTD 10.00", "BLUE CAFE INC 8.00", "RED BAR 9.00"
	for name, tt := range map[string]struct {
		text  string
		found []string
	}{
		"one":             {first, []string{green}},
		"one below other": {first + "\n\n" + second, []string{green, blue}},
		"date at the end": {third + "\n\n" + first, []string{red, green}},
		"table of taxes below the payment": {
			"GREEN SHOP LTD\n12/03/2026\nTea 4.00\nBread 6.00\nGST 6% 0.57\nTotal 10.00\n" +
				"Cash 10.00\n\n\nGST summary Amount Tax\nSR 9.43 0.57\nTotal: 0.57\n" +
				"Print 12/03/2026",
			[]string{green},
		},
		"two pages": {first + "\f" + second, []string{green, blue}},
		"side by side": {
			sideBySide(first, second), []string{green, blue},
		},
		"three": {
			first + "\n\n" + second + "\n\n" + third,
			[]string{green, blue, red},
		},
		"two beside two": {
			sideBySide(first+"\n\n"+second, third+"\n\n\n"+first),
			[]string{green, blue, red, green},
		},
		"copy": {first + "\n\n" + first, []string{green}},
		"card slip": {
			first + "CARD\n12/03/2026 14:06\nAmount 10.00\nApproved", []string{green},
		},
		"second total without a date": {
			first + "Stamps 1.00\nBags 2.00\nTotal 13.00", []string{"GREEN SHOP LTD 13.00"},
		},
		"rounding between two totals": {
			first + "Adjustment 0.05\nTotal rounded 10.05\n\nPrinted 12/03/2026",
			[]string{"GREEN SHOP LTD 10.05"},
		},
		"receipt with one article": {
			first + "\n\nKIOSK LTD\n12/03/2026\nPaper 2.00\nTotal 2.00",
			[]string{green, "KIOSK LTD 2.00"},
		},
		"address beside the goods": {
			sideBySide("\n12 Mill Road\nNorthtown\nCall us\nany day\n\n", first),
			[]string{green},
		},
		"table of taxes": {
			first + "12/03/2026\nRate Net Gross\nA 7% 9.35 10.00\nTotal 10.00",
			[]string{green},
		},
		"two price columns": {
			"GREEN SHOP LTD\n12/03/2026\nTea           2.00     4.00\n" +
				"Bread         3.00     6.00\nTotal         5.00    10.00",
			[]string{green},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var found []string
			pages := printed.FromText(tt.text)
			for _, part := range Split(pages, pages) {
				require.Len(t, part, 2)
				require.Equal(t, part[0], part[1], "every recognition is divided alike")
				r := Join(today, Read(part[0]))
				found = append(found, r.Merchant+" "+r.Total)
				require.Equal(t, "2026-03-12", r.Date)
				require.NotContains(t, r.Warnings, LinesNotReconciled)
			}
			require.Equal(t, tt.found, found)
		})
	}
}

// sideBySide returns the lines of two texts in two columns.
func sideBySide(left, right string) string {
	var b strings.Builder
	rows := strings.Split(right, "\n")
	for i, l := range strings.Split(left, "\n") {
		b.WriteString(l + strings.Repeat(" ", 40-len(l)))
		if i < len(rows) {
			b.WriteString(rows[i])
		}
		b.WriteString("\n")
	}
	return b.String()
}

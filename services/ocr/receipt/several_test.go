package receipt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinWarnsOfSeveralReceipts(t *testing.T) {
	t.Parallel()
	const first = "GREEN SHOP LTD\n12/03/2026 14:05\n" +
		"Tea 4.00\nBread 6.00\nTotal 10.00\nCash 10.00\n"
	const second = "BLUE CAFE INC\n12/03/2026 15:20\n" +
		"Coffee 3.10\nCake 4.90\nTotal 8.00\nVisa 8.00\n"
	for name, tc := range map[string]struct {
		text    string
		several bool
	}{
		"one":             {first, false},
		"one below other": {first + "\n\n" + second, true},
		"side by side":    {sideBySide(first, second), true},
		"copy":            {first + "\n\n" + first, false},
		"card slip":       {first + "CARD\n12/03/2026 14:06\nAmount 10.00\nApproved", false},
		"second total without a date": {
			first + "Stamps 1.00\nBags 2.00\nTotal 13.00", false,
		},
		"address beside the goods": {
			sideBySide("GREEN SHOP LTD\n12 Mill Road\nNorthtown\nCall us\nany day\n\n", first),
			false,
		},
		"table of taxes": {
			first + "12/03/2026\nRate Net Gross\nA 7% 9.35 10.00\nTotal 10.00", false,
		},
		"two price columns": {
			"GREEN SHOP LTD\n12/03/2026\nTea           2.00     4.00\n" +
				"Bread         3.00     6.00\nTotal         5.00    10.00", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Join(today, Read(recognized(tc.text)))
			if !tc.several {
				require.NotContains(t, r.Warnings, SeveralReceipts)
				return
			}
			require.Contains(t, r.Warnings, SeveralReceipts)
			require.Less(t, r.Confidence["total"], confidentTotal)
		})
	}
}

// sideBySide returns the lines of two texts in two columns.
func sideBySide(left, right string) string {
	var b strings.Builder
	rows := strings.Split(right, "\n")
	for i, l := range strings.Split(left, "\n") {
		b.WriteString(l + strings.Repeat(" ", 40-len(l)) + rows[i] + "\n")
	}
	return b.String()
}

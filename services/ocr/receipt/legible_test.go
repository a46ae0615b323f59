package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoinWithoutTotal(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown word for the total": "GREEN SHOP LTD\n12/03/2026\nPostage 4.20\nKrepko",
		"cut below the lines":        "GREEN SHOP LTD\n12/03/2026 14:05\nTea 4.00\nBread 6.00",
		"no date":                    "GREEN SHOP LTD\nTea 4.00\nVAT 0.80\nSubtotal",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Join(today, Read(recognized(text)))
			require.Empty(t, r.Total)
			require.True(t, r.Legible)
			require.Equal(t, "GREEN SHOP LTD", r.Merchant)
			require.Contains(t, r.Warnings, TotalMissing)
		})
	}
	t.Run("lines", func(t *testing.T) {
		t.Parallel()
		r := Join(today, Read(recognized("GREEN SHOP LTD\nTea 4.00\nBread 6.00\nCash 0.00")))
		require.Empty(t, r.Total)
		require.Len(t, r.Items, 2)
		require.Less(t, r.Confidence["lines"], 0.5)
	})
}

// TestJoinRejectsOtherPages requires that pages that are no receipt are not legible as one.
func TestJoinRejectsOtherPages(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"letter":        "Dear friend,\n12 March 2026\nI hope that this letter finds you well.",
		"price list":    "COFFEE CORNER\nEspresso 2.50\nLatte 3.40\nTea 2.20",
		"business card": "Jane Green\nSales Manager\nTel 030 1234567\njane@green.example",
		"chat":          "Jane 12:05\nAre you coming?\nYes 12:06",
		"calendar":      "March 2026\nMon Tue Wed Thu Fri\n2 3 4 5 6\n9 10 11 12 13",
		"boarding pass": "BOARDING PASS\nGREEN/JANE\nXY 1234 12MAR26\nSEAT 12A GATE B4",
		"book":          "Chapter 12\nIt was the best of times in 1859, and the worst.",
		"street":        "HOTEL\nPARKING 24 h",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.False(t, Join(today, Read(recognized(text))).Legible)
		})
	}
}

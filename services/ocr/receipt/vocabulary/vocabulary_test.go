package vocabulary

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLanguages checks that each line of each file has a known kind, and that the lists of months
// and weekdays are complete.
func TestLanguages(t *testing.T) {
	t.Parallel()
	kinds := []string{
		Total, TotalOnly, TotalOfMoney, Subtotal, Supplies, Tax, TaxIncluded, Inclusive,
		AfterTax, Exclusive, Cash, Paid, Owed, Change, Tip, Suggested, Discount, Discounted, Saved,
		Rounding, Count, Column, Spaced, Date,
		OtherDate, Months, Weekdays, Frequent, Engine,
	}
	entries, err := files.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, languages, len(entries))
	for i, e := range entries {
		text, err := files.ReadFile(e.Name())
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			kind, _, found := strings.Cut(line, ":")
			known := slices.Contains(kinds, kind) || strings.HasPrefix(kind, Currency)
			comment := strings.HasPrefix(line, "#")
			require.True(t, comment || found && known, "%s: %s", e.Name(), line)
		}
		l := languages[i]
		require.NotEmpty(t, l[Total], e.Name())
		require.Contains(t, []int{0, 12}, len(l[Months]), e.Name())
		require.Contains(t, []int{0, 7}, len(l[Weekdays]), e.Name())
		require.Equal(t, len(l[Engine]) > 0, len(l[Frequent]) > 0, e.Name())
		for kind, phrases := range l {
			require.NotContains(t, phrases, "", "%s: %s", e.Name(), kind)
		}
	}
}

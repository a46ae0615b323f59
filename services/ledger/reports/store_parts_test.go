package reports

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
)

// TestByParts requires a statement for each window: PostgreSQL accepts an empty one, and the sums
// of the window would be missing.
func TestByParts(t *testing.T) {
	t.Parallel()
	statements := byParts(func(parts) string { return "a statement" })
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := range 31 {
		for days := range 100 {
			start := first.AddDate(0, 0, from)
			window := calendar.Period{From: start, End: start.AddDate(0, 0, 1+days)}
			require.NotEmpty(t, statements[partsOf(window)], "%v", window)
		}
	}
}

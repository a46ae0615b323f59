package series

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/internal/calendar"
)

func day(s string) time.Time {
	d, ok := calendar.ParseDate(s)
	if !ok {
		panic(s)
	}
	return d
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from, to, interval string
		weekStart          time.Weekday
		want               []string
	}{
		"days over the end of February in a leap year": {
			"2024-02-28", "2024-03-01", "day", 0,
			[]string{"2024-02-28", "2024-02-29", "2024-03-01"},
		},
		"weeks from Monday": {
			"2026-03-04", "2026-03-17", "week", time.Monday,
			[]string{"2026-03-04", "2026-03-09", "2026-03-16"},
		},
		"weeks from Sunday": {
			"2026-03-04", "2026-03-15", "week", time.Sunday,
			[]string{"2026-03-04", "2026-03-08", "2026-03-15"},
		},
		"weeks from Saturday": {
			"2026-03-07", "2026-03-14", "week", time.Saturday, []string{"2026-03-07", "2026-03-14"},
		},
		"months from the 31st": {
			"2026-01-31", "2026-03-01", "month", 0,
			[]string{"2026-01-31", "2026-02-01", "2026-03-01"},
		},
		"quarters": {
			"2026-02-10", "2026-07-01", "quarter", 0,
			[]string{"2026-02-10", "2026-04-01", "2026-07-01"},
		},
		"years": {
			"2025-12-31", "2027-01-01", "year", 0,
			[]string{"2025-12-31", "2026-01-01", "2027-01-01"},
		},
		"the first day": {"1900-01-01", "1900-01-01", "week", time.Monday, []string{"1900-01-01"}},
		"the last day":  {"2200-12-31", "2200-12-31", "month", 0, []string{"2200-12-31"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var starts []string
			next := day(tc.from)
			intervals := split(calendar.Days(day(tc.from), day(tc.to)), tc.interval, tc.weekStart)
			for _, p := range intervals {
				require.True(t, p.From.Equal(next))
				starts, next = append(starts, p.From.Format(calendar.DateLayout)), p.End
			}
			require.Equal(t, tc.want, starts)
			require.Equal(t, day(tc.to), intervals[len(intervals)-1].LastDay())
		})
	}
}

func TestSplitLimit(t *testing.T) {
	t.Parallel()
	first := day("2024-01-01")
	most := calendar.Period{From: first, End: first.AddDate(0, 0, maxIntervals)}
	require.Len(t, split(most, "day", 0), maxIntervals)
	most.End = most.End.AddDate(0, 0, 1)
	require.Nil(t, split(most, "day", 0))
}

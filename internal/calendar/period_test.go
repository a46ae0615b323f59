package calendar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at reads a date, or a date and a time of day.
func at(s string) time.Time {
	if len(s) == len(DateLayout) {
		s += "T00:00"
	}
	t, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	between := func(from, end string) Period { return Period{From: at(from), End: at(end)} }
	for name, tc := range map[string]struct{ period, previous, head, months, tail Period }{
		"a calendar month is compared with the one before": {
			period:   between("2026-03-01", "2026-04-01"),
			previous: between("2026-02-01", "2026-03-01"),
			months:   between("2026-03-01", "2026-04-01"),
		},
		"January is compared with December": {
			period:   between("2026-01-01", "2026-02-01"),
			previous: between("2025-12-01", "2026-01-01"),
			months:   between("2026-01-01", "2026-02-01"),
		},
		"a quarter is compared with the one before": {
			period:   between("2026-01-01", "2026-04-01"),
			previous: between("2025-10-01", "2026-01-01"),
			months:   between("2026-01-01", "2026-04-01"),
		},
		"a year is compared with the one before, which may have a day more": {
			period:   between("2025-01-01", "2026-01-01"),
			previous: between("2024-01-01", "2025-01-01"),
			months:   between("2025-01-01", "2026-01-01"),
		},
		"other windows are compared with as many days": {
			period:   between("2026-03-10", "2026-03-13"),
			previous: between("2026-03-07", "2026-03-10"),
			head:     between("2026-03-10", "2026-03-13"),
		},
		"whole months are parted from the days around them": {
			period:   between("2026-01-31", "2026-04-02"),
			previous: between("2025-12-01", "2026-01-31"),
			head:     between("2026-01-31", "2026-02-01"),
			months:   between("2026-02-01", "2026-04-01"),
			tail:     between("2026-04-01", "2026-04-02"),
		},
		"parts of two months hold no whole one": {
			period:   between("2026-02-02", "2026-03-31"),
			previous: between("2025-12-07", "2026-02-02"),
			head:     between("2026-02-02", "2026-03-31"),
		},
		"a window may end within a day": {
			period:   between("2026-02-01", "2026-03-01T10:30"),
			previous: between("2026-01-03T13:30", "2026-02-01"),
			months:   between("2026-02-01", "2026-03-01"),
			tail:     between("2026-03-01", "2026-03-01T10:30"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.previous, tc.period.Previous())
			head, months, tail := tc.period.Parts()
			for _, p := range []struct{ want, got Period }{
				{tc.head, head}, {tc.months, months}, {tc.tail, tail},
			} {
				if p.want == (Period{}) {
					require.Equal(t, p.got.From, p.got.End)
					continue
				}
				require.Equal(t, p.want, p.got)
			}
		})
	}
}

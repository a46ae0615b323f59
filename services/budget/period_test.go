package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func date(t require.TestingT, s string) time.Time {
	d, ok := parseDate(s)
	require.True(t, ok, s)
	return d
}

func TestWindowsAreAnchoredAtTheStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, period, start, end, at, from, to string }{
		{"a day", "daily", "2026-03-01", "", "2026-03-15", "2026-03-15", "2026-03-15"},
		{"a week begins on the start's weekday", "weekly", "2026-03-04", "", "2026-03-15", "2026-03-11", "2026-03-17"},
		{"two weeks", "biweekly", "2026-03-04", "", "2026-03-17", "2026-03-04", "2026-03-17"},
		{"a month from the 31st is cut to February's end", "monthly", "2026-01-31", "", "2026-02-28", "2026-02-28", "2026-03-30"},
		{"and to the 29th in a leap year", "monthly", "2028-01-31", "", "2028-03-01", "2028-02-29", "2028-03-30"},
		{"and is the 31st again in March", "monthly", "2026-01-31", "", "2026-03-31", "2026-03-31", "2026-04-29"},
		{"the day before a cut month belongs to the month before", "monthly", "2026-01-31", "", "2026-02-27", "2026-01-31", "2026-02-27"},
		{"a quarter", "quarterly", "2025-11-30", "", "2026-02-28", "2026-02-28", "2026-05-29"},
		{"half a year", "half_yearly", "2025-08-31", "", "2026-02-28", "2026-02-28", "2026-08-30"},
		{"a year from 29 February", "yearly", "2024-02-29", "", "2025-03-01", "2025-02-28", "2026-02-27"},
		{"and the next leap year", "yearly", "2024-02-29", "", "2028-02-29", "2028-02-29", "2029-02-27"},
		{"custom is one window", "custom", "2026-03-04", "2026-04-10", "2026-03-20", "2026-03-04", "2026-04-10"},
		{"the end cuts the last window", "monthly", "2026-01-01", "2026-03-20", "2026-03-15", "2026-03-01", "2026-03-20"},
		{"after the end it is the last window", "monthly", "2026-01-01", "2026-03-20", "2027-01-01", "2026-03-01", "2026-03-20"},
		{"before the start it is the first", "monthly", "2026-01-31", "", "2020-01-01", "2026-01-31", "2026-02-27"},
		{"far away", "daily", "1900-01-01", "", "2200-12-31", "2200-12-31", "2200-12-31"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := timeframe{period: c.period, start: date(t, c.start)}
			if c.end != "" {
				f.end = new(date(t, c.end))
			}
			require.Equal(t, window{date(t, c.from), date(t, c.to)}, f.at(date(t, c.at)))
		})
	}
}

// Every start day of a leap cycle, and from each every day until a second yearly window is well under way.
func TestWindowsNeitherOverlapNorLeaveAGap(t *testing.T) {
	t.Parallel()
	for period := range periods {
		t.Run(period, func(t *testing.T) {
			t.Parallel()
			for start := date(t, "2023-03-01"); start.Before(date(t, "2027-03-01")); start = start.AddDate(0, 0, 1) {
				f := timeframe{period: period, start: start}
				if period == custom {
					f.end = new(start.AddDate(1, 0, 0))
				}
				requireSeamless(t, f, 500)
			}
		})
	}
}

// requireSeamless walks over the days from the start: each lies in its window, and a window begins exactly the day after
// the one before ended.
func requireSeamless(t require.TestingT, f timeframe, days int) {
	w := f.at(f.start)
	require.Equal(t, f.start, w.from)
	for i := range days {
		today := f.start.AddDate(0, 0, i)
		if f.end != nil && today.After(*f.end) {
			require.Equal(t, w, f.at(today))
			require.Equal(t, *f.end, w.to)
			return
		}
		next := f.at(today)
		if today.After(w.to) {
			if !next.from.Equal(w.to.Add(day)) {
				require.Equal(t, w.to.Add(day), next.from)
			}
			w = next
		}
		if next != w || today.Before(w.from) || today.After(w.to) {
			require.Equal(t, w, next, "%s from %s on %s", f.period, f.start, today)
			require.Fail(t, "a day outside of its window", "%v", today)
		}
	}
}

func TestAnyTimeframeIsSeamlessAndKeepsItsDayOfTheMonth(t *testing.T) {
	t.Parallel()
	names := []string{"daily", "weekly", "biweekly", "monthly", "quarterly", "half_yearly", "yearly", custom}
	rapid.Check(t, func(t *rapid.T) {
		f := timeframe{
			period: rapid.SampledFrom(names).Draw(t, "period"),
			start:  date(t, "1900-01-01").AddDate(0, 0, rapid.IntRange(0, 106_000).Draw(t, "start")),
		}
		if f.period == custom || rapid.Bool().Draw(t, "ends") {
			f.end = new(f.start.AddDate(0, 0, rapid.IntRange(0, 3650).Draw(t, "length")))
		}
		field, _ := f.valid()
		require.Empty(t, field)
		requireSeamless(t, f, 1500)
		w := f.at(f.start.AddDate(0, 0, rapid.IntRange(0, 10_000).Draw(t, "at")))
		if periods[f.period].months > 0 && w.from.Day() != f.start.Day() {
			require.Less(t, w.from.Day(), f.start.Day())
			require.Equal(t, 1, w.from.Add(day).Day(), "a shorter day is its month's last")
		}
	})
}

func TestATimeframeThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		period, start, end string
		ok                 bool
	}{
		{"monthly", "2026-01-01", "", true},
		{"monthly", "2026-01-01", "2026-01-01", true},
		{"monthly", "2026-01-01", "2025-12-31", false},
		{"monthly", "2026-01-01", "2036-01-01", true},
		{"monthly", "2026-01-01", "2036-01-02", false},
		{"yearly", "2028-02-29", "2038-02-28", true},
		{"yearly", "2028-02-29", "2038-03-01", false},
		{"custom", "2026-01-01", "", false},
	} {
		f := timeframe{period: c.period, start: date(t, c.start)}
		if c.end != "" {
			f.end = new(date(t, c.end))
		}
		field, problem := f.valid()
		require.Equal(t, c.ok, field == "", "%v", c)
		require.Equal(t, c.ok, problem == "", "%v", c)
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2026-01-31", "2026-02-30", "1899-12-31", "2201-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "", "٢٠٢٦-٠١-٠١"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := parseDate(s)
		if ok {
			require.Equal(t, s, d.Format(isoDate))
			require.GreaterOrEqual(t, d.Year(), minYear)
			require.LessOrEqual(t, d.Year(), maxYear)
		}
	})
}

func TestWindowPhase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to, today string
		want            phase
	}{
		"the day before":                    {"2026-03-09", "2026-03-15", "2026-03-08", future},
		"the first day":                     {"2026-03-09", "2026-03-15", "2026-03-09", current},
		"the last day":                      {"2026-03-09", "2026-03-15", "2026-03-15", current},
		"the first day of the next window":  {"2026-03-09", "2026-03-15", "2026-03-16", recent},
		"the last day of the next window":   {"2026-03-09", "2026-03-15", "2026-03-22", recent},
		"a window's length after the end":   {"2026-03-09", "2026-03-15", "2026-03-23", past},
		"today, daily":                      {"2026-03-15", "2026-03-15", "2026-03-15", current},
		"yesterday, daily":                  {"2026-03-15", "2026-03-15", "2026-03-16", recent},
		"the day before yesterday, daily":   {"2026-03-15", "2026-03-15", "2026-03-17", past},
		"three centuries ago":               {"1900-01-01", "1900-12-31", "2200-01-01", past},
		"three centuries from now":          {"2200-01-01", "2200-12-31", "1900-01-01", future},
		"a decade, nearly a decade ago":     {"2000-01-01", "2009-12-31", "2019-12-31", recent},
		"a decade, more than a decade ago":  {"2000-01-01", "2009-12-31", "2020-01-02", past},
		"a custom window that ended lately": {"2026-03-01", "2026-03-03", "2026-03-05", recent},
	} {
		require.Equal(t, c.want, window{date(t, c.from), date(t, c.to)}.phase(date(t, c.today)), name)
	}
	// Of the windows of a period of days without end, today has one that is current, and the one before it is recent.
	rapid.Check(t, func(rt *rapid.T) {
		start := date(t, "2000-01-01").AddDate(0, 0, rapid.IntRange(0, 1000).Draw(rt, "start"))
		f := timeframe{period: rapid.SampledFrom([]string{"daily", "weekly", "biweekly"}).Draw(rt, "period"), start: start}
		today := start.AddDate(0, 0, rapid.IntRange(0, 9000).Draw(rt, "today"))
		now := f.index(today)
		for n := max(0, now-20); n < now+20; n++ {
			want := past
			switch {
			case n > now:
				want = future
			case n == now:
				want = current
			case n == now-1:
				want = recent
			}
			require.Equal(rt, want, f.at(f.startOf(n)).phase(today), "window %d of %d", n, now)
		}
	})
}

func TestTimeframeStatus(t *testing.T) {
	t.Parallel()
	end := date(t, "2026-04-30")
	endless, ending := timeframe{period: "monthly", start: date(t, "2026-03-15")}, timeframe{period: "monthly", start: date(t, "2026-03-15"), end: &end}
	for day, want := range map[string][2]string{
		"2026-03-14": {"upcoming", "upcoming"}, "2026-03-15": {"active", "active"}, "2026-04-30": {"active", "active"}, "2026-05-01": {"active", "ended"},
	} {
		require.Equal(t, want, [2]string{endless.status(date(t, day)), ending.status(date(t, day))}, day)
	}
}

package spending

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/coffer-budget/coffer/internal/calendar"
)

func date(t require.TestingT, s string) time.Time {
	d, ok := calendar.ParseDate(s)
	require.True(t, ok, s)
	return d
}

func TestTimeframeAt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, period, start, end, at, from, to string }{
		{"a day", "daily", "2026-03-01", "", "2026-03-15", "2026-03-15", "2026-03-15"},
		{
			"a week begins on the weekday of the start", "weekly", "2026-03-04", "", "2026-03-15",
			"2026-03-11", "2026-03-17",
		},
		{"two weeks", "biweekly", "2026-03-04", "", "2026-03-17", "2026-03-04", "2026-03-17"},
		{
			"a month from the 31st begins on the last of February", "monthly", "2026-01-31", "",
			"2026-02-28", "2026-02-28", "2026-03-30",
		},
		{
			"and on the 29th in a leap year", "monthly", "2028-01-31", "", "2028-03-01",
			"2028-02-29", "2028-03-30",
		},
		{
			"and on the 31st again in March", "monthly", "2026-01-31", "", "2026-03-31",
			"2026-03-31", "2026-04-29",
		},
		{
			"the day before a shortened month is in the previous month", "monthly", "2026-01-31",
			"", "2026-02-27", "2026-01-31", "2026-02-27",
		},
		{"a quarter", "quarterly", "2025-11-30", "", "2026-02-28", "2026-02-28", "2026-05-29"},
		{"half a year", "half_yearly", "2025-08-31", "", "2026-02-28", "2026-02-28", "2026-08-30"},
		{
			"a year from 29 February", "yearly", "2024-02-29", "", "2025-03-01", "2025-02-28",
			"2026-02-27",
		},
		{
			"and the next leap year", "yearly", "2024-02-29", "", "2028-02-29", "2028-02-29",
			"2029-02-27",
		},
		{
			"custom is one window", "custom", "2026-03-04", "2026-04-10", "2026-03-20",
			"2026-03-04", "2026-04-10",
		},
		{
			"the end shortens the last window", "monthly", "2026-01-01", "2026-03-20", "2026-03-15",
			"2026-03-01", "2026-03-20",
		},
		{
			"the last window, after the end", "monthly", "2026-01-01", "2026-03-20", "2027-01-01",
			"2026-03-01", "2026-03-20",
		},
		{
			"the first window, before the start", "monthly", "2026-01-31", "", "2020-01-01",
			"2026-01-31", "2026-02-27",
		},
		{"300 years later", "daily", "1900-01-01", "", "2200-12-31", "2200-12-31", "2200-12-31"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := Timeframe{Period: tc.period, Start: date(t, tc.start)}
			if tc.end != "" {
				f.End = new(date(t, tc.end))
			}
			require.Equal(t, calendar.Days(date(t, tc.from), date(t, tc.to)), f.At(date(t, tc.at)))
		})
	}
}

// TestTimeframeAtWithoutGaps tries every start day of a leap cycle, and from each of them 500 days,
// which reach into the second yearly window.
func TestTimeframeAtWithoutGaps(t *testing.T) {
	t.Parallel()
	for period := range periods {
		t.Run(period, func(t *testing.T) {
			t.Parallel()
			end := date(t, "2027-03-01")
			for start := date(t, "2023-03-01"); start.Before(end); start = start.AddDate(0, 0, 1) {
				f := Timeframe{Period: period, Start: start}
				if period == custom {
					f.End = new(start.AddDate(1, 0, 0))
				}
				requireSeamless(t, f, 500)
			}
		})
	}
}

// requireSeamless walks over the days from the start. Each day must be in its window, and each
// window must begin on the day after the previous one ended.
func requireSeamless(t require.TestingT, timeframe Timeframe, days int) {
	period := timeframe.At(timeframe.Start)
	require.Equal(t, timeframe.Start, period.From)
	for i := range days {
		today := timeframe.Start.AddDate(0, 0, i)
		if timeframe.End != nil && today.After(*timeframe.End) {
			require.Equal(t, period, timeframe.At(today))
			require.Equal(t, *timeframe.End, period.LastDay())
			return
		}
		next := timeframe.At(today)
		if !today.Before(period.End) {
			if !next.From.Equal(period.End) {
				require.Equal(t, period.End, next.From)
			}
			period = next
		}
		if next != period || !period.Contains(today) {
			require.Equal(t, period, next, "%s from %s on %s", timeframe.Period, timeframe.Start,
				today)
			require.Fail(t, "a day outside its window", "%v", today)
		}
	}
}

func TestTimeframeAtKeepsDayOfMonth(t *testing.T) {
	t.Parallel()
	names := []string{
		"daily", "weekly", "biweekly", "monthly", "quarterly", "half_yearly", "yearly", custom,
	}
	rapid.Check(t, func(t *rapid.T) {
		timeframe := Timeframe{
			Period: rapid.SampledFrom(names).Draw(t, "period"),
			Start: date(t, "1900-01-01").AddDate(0, 0,
				rapid.IntRange(0, 106_000).Draw(t, "start")),
		}
		if timeframe.Period == custom || rapid.Bool().Draw(t, "ends") {
			timeframe.End = new(timeframe.Start.AddDate(0, 0,
				rapid.IntRange(0, 3650).Draw(t, "length")))
		}
		field, _ := timeframe.Problem()
		require.Empty(t, field)
		requireSeamless(t, timeframe, 1500)
		w := timeframe.At(timeframe.Start.AddDate(0, 0, rapid.IntRange(0, 10_000).Draw(t, "at")))
		if periods[timeframe.Period].months > 0 && w.From.Day() != timeframe.Start.Day() {
			require.Less(t, w.From.Day(), timeframe.Start.Day())
			require.Equal(t, 1, w.From.Add(day).Day(), "an earlier day is the last of its month")
		}
	})
}

func TestTimeframeProblem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
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
		f := Timeframe{Period: tc.period, Start: date(t, tc.start)}
		if tc.end != "" {
			f.End = new(date(t, tc.end))
		}
		field, problem := f.Problem()
		require.Equal(t, tc.ok, field == "", "%v", tc)
		require.Equal(t, tc.ok, problem == "", "%v", tc)
	}
}

func TestWindowPhase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from, to, today string
		want            Phase
	}{
		"the day before":                      {"2026-03-09", "2026-03-15", "2026-03-08", Future},
		"the first day":                       {"2026-03-09", "2026-03-15", "2026-03-09", Current},
		"the last day":                        {"2026-03-09", "2026-03-15", "2026-03-15", Current},
		"the first day of the next window":    {"2026-03-09", "2026-03-15", "2026-03-16", Recent},
		"the last day of the next window":     {"2026-03-09", "2026-03-15", "2026-03-22", Recent},
		"a window's length after the end":     {"2026-03-09", "2026-03-15", "2026-03-23", Past},
		"today, daily":                        {"2026-03-15", "2026-03-15", "2026-03-15", Current},
		"yesterday, daily":                    {"2026-03-15", "2026-03-15", "2026-03-16", Recent},
		"the day before yesterday, daily":     {"2026-03-15", "2026-03-15", "2026-03-17", Past},
		"three centuries ago":                 {"1900-01-01", "1900-12-31", "2200-01-01", Past},
		"three centuries from now":            {"2200-01-01", "2200-12-31", "1900-01-01", Future},
		"a decade, nearly a decade ago":       {"2000-01-01", "2009-12-31", "2019-12-31", Recent},
		"a decade, more than a decade ago":    {"2000-01-01", "2009-12-31", "2020-01-02", Past},
		"a custom window that ended recently": {"2026-03-01", "2026-03-03", "2026-03-05", Recent},
	} {
		require.Equal(t, tc.want,
			PhaseOf(calendar.Days(date(t, tc.from), date(t, tc.to)), date(t, tc.today)), name)
	}
	// In a period of days without an end, one window is current, and the previous one is recent.
	rapid.Check(t, func(rt *rapid.T) {
		start := date(t, "2000-01-01").AddDate(0, 0, rapid.IntRange(0, 1000).Draw(rt, "start"))
		period := rapid.SampledFrom([]string{"daily", "weekly", "biweekly"}).Draw(rt, "period")
		timeframe := Timeframe{Period: period, Start: start}
		today := start.AddDate(0, 0, rapid.IntRange(0, 9000).Draw(rt, "today"))
		now := timeframe.index(today)
		for count := max(0, now-20); count < now+20; count++ {
			want := Past
			switch {
			case count > now:
				want = Future
			case count == now:
				want = Current
			case count == now-1:
				want = Recent
			}
			require.Equal(rt, want, PhaseOf(timeframe.At(timeframe.startOf(count)), today),
				"window %d of %d", count, now)
		}
	})
}

func TestTimeframeStatus(t *testing.T) {
	t.Parallel()
	end := date(t, "2026-04-30")
	endless := Timeframe{Period: "monthly", Start: date(t, "2026-03-15")}
	ending := Timeframe{Period: "monthly", Start: date(t, "2026-03-15"), End: &end}
	for day, want := range map[string][2]string{
		"2026-03-14": {"upcoming", "upcoming"}, "2026-03-15": {"active", "active"},
		"2026-04-30": {"active", "active"}, "2026-05-01": {"active", "ended"},
	} {
		at := date(t, day)
		require.Equal(t, want, [2]string{endless.Status(at), ending.Status(at)}, day)
	}
}

package budget

import "time"

const (
	isoDate  = "2006-01-02"
	minYear  = 1900
	maxYear  = 2200
	maxYears = 10
	day      = 24 * time.Hour
)

// step is how far a period's windows lie apart; both zero: one window from start to end.
type step struct{ days, months int }

const custom = "custom"

var periods = map[string]step{
	"daily":       {days: 1},
	"weekly":      {days: 7},
	"biweekly":    {days: 14},
	"monthly":     {months: 1},
	"quarterly":   {months: 3},
	"half_yearly": {months: 6},
	"yearly":      {months: 12},
	custom:        {},
}

// timeframe is when a budget applies. Days are civil dates, kept as midnights UTC.
type timeframe struct {
	period string
	start  time.Time
	// end is inclusive; nil: for ever. A custom period has one.
	end *time.Time
}

// window is a budget's run of days, both inclusive.
type window struct{ from, to time.Time }

// at is the window that holds a day: the first one for days before the start, the last one for days after the end.
func (t timeframe) at(today time.Time) window {
	if today.Before(t.start) {
		today = t.start
	}
	if t.end != nil && today.After(*t.end) {
		today = *t.end
	}
	n := t.index(today)
	w := window{from: t.startOf(n), to: t.startOf(n + 1).Add(-day)}
	if t.end != nil && (w.to.After(*t.end) || t.period == custom) {
		w.to = *t.end
	}
	return w
}

// status returns whether a budget is upcoming, active or ended on a day.
func (t timeframe) status(today time.Time) string {
	switch {
	case today.Before(t.start):
		return "upcoming"
	case t.end != nil && today.After(*t.end):
		return "ended"
	}
	return "active"
}

// phase is where a window lies, seen from a day.
type phase int

const (
	future phase = iota
	current
	// recent is a window that ended less than its own length ago.
	recent
	past
)

func (w window) phase(today time.Time) phase {
	switch {
	case today.Before(w.from):
		return future
	case !today.After(w.to):
		return current
	// The window ends with its last day, so the day after is no time later, and the length counts both days.
	case today.Unix()-w.to.Unix() <= w.to.Unix()-w.from.Unix()+int64(day/time.Second):
		return recent
	}
	return past
}

// index counts the windows before the one that holds a day, which must not lie before the start.
func (t timeframe) index(today time.Time) int {
	s := periods[t.period]
	switch {
	case s.days > 0:
		// A time.Duration ends after 292 years, the calendar of 1900..2200 does not.
		return int((today.Unix()-t.start.Unix())/int64(day/time.Second)) / s.days
	case s.months > 0:
		months := (today.Year()-t.start.Year())*12 + int(today.Month()-t.start.Month())
		n := months / s.months
		if t.startOf(n).After(today) {
			n--
		}
		return n
	}
	return 0
}

// startOf is the first day of window n. It is counted from the budget's start and not from the window before, so a 31st
// that was cut to the 28th is the 31st again a month later.
func (t timeframe) startOf(n int) time.Time {
	s := periods[t.period]
	if s.days > 0 {
		return t.start.AddDate(0, 0, n*s.days)
	}
	return addMonths(t.start, n*s.months)
}

// addMonths keeps the day of the month as far as the month has it.
func addMonths(d time.Time, months int) time.Time {
	first := time.Date(d.Year(), d.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d.Day(), last)-1)
}

// valid reports why a timeframe cannot be: the field, and what is wrong with it. Both are empty when it can.
func (t timeframe) valid() (field, problem string) {
	switch {
	case t.end == nil && t.period == custom:
		return "endDate", "is required for a custom period"
	case t.end == nil:
		return "", ""
	case t.end.Before(t.start):
		return "endDate", "must not be before startDate"
	case t.end.After(addMonths(t.start, maxYears*12)):
		return "endDate", "must be at most 10 years after startDate"
	}
	return "", ""
}

// parseDate reads YYYY-MM-DD within the years 1900..2200.
func parseDate(s string) (time.Time, bool) {
	d, err := time.Parse(isoDate, s)
	return d, err == nil && d.Year() >= minYear && d.Year() <= maxYear
}

// dayOf is the civil date of a moment, in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(day) }

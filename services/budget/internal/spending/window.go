package spending

import (
	"time"

	"github.com/coffer-budget/coffer/internal/calendar"
)

const (
	// maxYears is the maximum length of a timeframe with an end.
	maxYears = 10
	day      = 24 * time.Hour
)

// step is the distance between two windows of a period. If both parts are zero, the period has one
// window from start to end.
type step struct{ days, months int }

// custom is the period with one window.
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

// IsPeriod reports whether a budget may have the period.
func IsPeriod(period string) bool {
	_, ok := periods[period]
	return ok
}

// Timeframe is the time in which a budget applies. Days are civil dates, represented as midnights
// in UTC.
type Timeframe struct {
	Period string
	Start  time.Time
	// End is inclusive. A timeframe without one never ends; a custom period needs one.
	End *time.Time
}

// At returns the window of a day: the first one for a day before the start, and the last one for a
// day after the end.
func (t Timeframe) At(today time.Time) calendar.Period {
	if today.Before(t.Start) {
		today = t.Start
	}
	if t.End != nil && today.After(*t.End) {
		today = *t.End
	}
	n := t.index(today)
	w := calendar.Period{From: t.startOf(n), End: t.startOf(n + 1)}
	if t.End != nil && (w.End.After(*t.End) || t.Period == custom) {
		return calendar.Days(w.From, *t.End)
	}
	return w
}

// Windows returns the windows of some days in order, each once.
func (t Timeframe) Windows(days ...time.Time) []calendar.Period {
	var windows []calendar.Period
	for _, d := range days {
		if w := t.At(d); len(windows) == 0 || !windows[len(windows)-1].From.Equal(w.From) {
			windows = append(windows, w)
		}
	}
	return windows
}

// Status returns whether a budget is upcoming, active or ended on a day.
func (t Timeframe) Status(today time.Time) string {
	switch {
	case today.Before(t.Start):
		return "upcoming"
	case t.End != nil && today.After(*t.End):
		return "ended"
	}
	return "active"
}

// Phase is the position of a window relative to a day.
type Phase int

const (
	Future Phase = iota
	Current
	// Recent windows ended less than their own length before the day.
	Recent
	// Past windows ended earlier.
	Past
)

// PhaseOf returns the phase of a window on a day.
func PhaseOf(period calendar.Period, today time.Time) Phase {
	switch {
	case today.Before(period.From):
		return Future
	case today.Before(period.End):
		return Current
	// A time.Duration overflows after 292 years, and the years 1900 to 2200 are more.
	case today.Unix()-period.End.Unix() < period.End.Unix()-period.From.Unix():
		return Recent
	}
	return Past
}

// index returns the number of windows before the one that contains a day. The day must not be
// before the start.
func (t Timeframe) index(today time.Time) int {
	step := periods[t.Period]
	switch {
	case step.days > 0:
		// A time.Duration overflows after 292 years, and the years 1900 to 2200 are more.
		return int((today.Unix()-t.Start.Unix())/int64(day/time.Second)) / step.days
	case step.months > 0:
		months := (today.Year()-t.Start.Year())*12 + int(today.Month()-t.Start.Month())
		n := months / step.months
		if t.startOf(n).After(today) {
			n--
		}
		return n
	}
	return 0
}

// startOf returns the first day of window n. It counts from the start of the budget and not from
// the previous window: a budget that starts on a 31st has a window that starts on February 28th,
// and the next one starts on March 31st.
func (t Timeframe) startOf(n int) time.Time {
	s := periods[t.Period]
	if s.days > 0 {
		return t.Start.AddDate(0, 0, n*s.days)
	}
	return addMonths(t.Start, n*s.months)
}

// addMonths keeps the day of the month. If the target month is shorter, it returns the last day of
// that month.
func addMonths(d time.Time, months int) time.Time {
	first := time.Date(d.Year(), d.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(d.Day(), last)-1)
}

// Problem returns the invalid field of a timeframe and the reason. Both are empty for a valid
// timeframe.
func (t Timeframe) Problem() (field, problem string) {
	switch {
	case t.End == nil && t.Period == custom:
		return "endDate", "is required for a custom period"
	case t.End == nil:
		return "", ""
	case t.End.Before(t.Start):
		return "endDate", "must not be before startDate"
	case t.End.After(addMonths(t.Start, maxYears*12)):
		return "endDate", "must be at most 10 years after startDate"
	}
	return "", ""
}

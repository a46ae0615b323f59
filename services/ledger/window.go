package ledger

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// window is a half-open period: from is inclusive and end is exclusive.
type window struct{ from, end time.Time }

// problem returns what is wrong with the window of a summary, or nil.
func (w window) problem() *apierr.Field {
	switch {
	case !w.from.Before(w.end):
		return &apierr.Field{Name: "from", Message: "must not be after to"}
	case w.end.After(w.from.AddDate(maxWindowYears, 0, 0)):
		return &apierr.Field{Name: "to", Message: "must be at most 10 years after from"}
	}
	return nil
}

// lastDay returns a time on the last day of the window. Times have a precision of one millisecond.
func (w window) lastDay() time.Time { return w.end.Add(-time.Millisecond) }

// previous returns the window before w. If w consists of whole calendar months, it has the same number of months, and otherwise the
// same duration.
func (w window) previous() window {
	if w.from.Equal(monthOf(w.from)) && w.end.Equal(monthOf(w.end)) {
		months := 12*(w.end.Year()-w.from.Year()) + int(w.end.Month()-w.from.Month())
		return window{from: w.from.AddDate(0, -months, 0), end: w.from}
	}
	return window{from: w.from.Add(-w.end.Sub(w.from)), end: w.from}
}

// trend returns the twelve calendar months that end with the last month of the window.
func (w window) trend() window {
	last := monthOf(w.lastDay())
	return window{from: last.AddDate(0, 1-trendMonths, 0), end: last.AddDate(0, 1, 0)}
}

// parts divides a window into its whole calendar months, for which monthly totals exist, and the remaining periods before and after
// them, whose transactions must be added up. Empty parts have from = end.
func (w window) parts() (head, months, tail window) {
	first, last := monthOf(w.from), monthOf(w.end)
	if first.Before(w.from) {
		first = first.AddDate(0, 1, 0)
	}
	if !first.Before(last) {
		return w, window{from: w.end, end: w.end}, window{from: w.end, end: w.end}
	}
	return window{from: w.from, end: first}, window{from: first, end: last}, window{from: last, end: w.end}
}

// touchedMonths returns the calendar months that overlap the window.
func (w window) touchedMonths() window {
	return window{from: monthOf(w.from), end: monthOf(w.lastDay()).AddDate(0, 1, 0)}
}

// laterMonths returns the start of the first calendar month that begins at the end of the window or later.
func (w window) laterMonths() time.Time {
	month := monthOf(w.end)
	if month.Before(w.end) {
		month = month.AddDate(0, 1, 0)
	}
	return month
}

// monthOf returns the start of the calendar month of t in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

package ledger

import (
	"time"

	"github.com/coffer-budget/coffer/internal/apierr"
)

// window is a span of time: from is in it, end is not.
type window struct{ from, end time.Time }

func (w window) problem() *apierr.Field {
	switch {
	case !w.from.Before(w.end):
		return &apierr.Field{Name: "from", Message: "must not be after to"}
	case w.end.After(w.from.AddDate(maxWindowYears, 0, 0)):
		return &apierr.Field{Name: "to", Message: "must be at most 10 years after from"}
	}
	return nil
}

// lastDay is the day of the window's last moment.
func (w window) lastDay() time.Time { return w.end.Add(-time.Millisecond) }

// previous is as many calendar months just before whole ones, else the span of the same length.
func (w window) previous() window {
	if w.from.Equal(monthOf(w.from)) && w.end.Equal(monthOf(w.end)) {
		months := 12*(w.end.Year()-w.from.Year()) + int(w.end.Month()-w.from.Month())
		return window{from: w.from.AddDate(0, -months, 0), end: w.from}
	}
	return window{from: w.from.Add(-w.end.Sub(w.from)), end: w.from}
}

// trend is the twelve calendar months that end with the window's last one.
func (w window) trend() window {
	last := monthOf(w.lastDay())
	return window{from: last.AddDate(0, 1-trendMonths, 0), end: last.AddDate(0, 1, 0)}
}

// parts takes a window apart: the calendar months that it holds whole, whose totals are kept, and what is left before
// and after them, whose transactions must be added up. Empty parts have from = end.
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

// touchedMonths are the calendar months that the window has any part of.
func (w window) touchedMonths() window {
	return window{from: monthOf(w.from), end: monthOf(w.lastDay()).AddDate(0, 1, 0)}
}

// laterMonths is the start of the first calendar month that begins at the window's end or after it.
func (w window) laterMonths() time.Time {
	month := monthOf(w.end)
	if month.Before(w.end) {
		month = month.AddDate(0, 1, 0)
	}
	return month
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

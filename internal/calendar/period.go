package calendar

import "time"

// Period is a half-open span of time: it includes From and excludes End. It is empty if End is not
// after From.
type Period struct{ From, End time.Time }

// Days returns the period from the first to the last of some dates, both inclusive.
func Days(first, last time.Time) Period { return Period{From: first, End: last.AddDate(0, 0, 1)} }

// Months returns the period of n months from the first day of a month on.
func Months(first time.Time, n int) Period { return Period{first, first.AddDate(0, n, 0)} }

// Empty reports whether the period contains no moment.
func (p Period) Empty() bool { return !p.From.Before(p.End) }

// Contains reports whether a moment is in the period.
func (p Period) Contains(t time.Time) bool { return !t.Before(p.From) && t.Before(p.End) }

// LastDay returns the last date on which the period has a moment.
func (p Period) LastDay() time.Time { return DayOf(p.End.Add(-time.Millisecond)) }

// Previous returns the period that ends where p starts. If p consists of whole calendar months, it
// has the same number of months, and otherwise the same duration.
func (p Period) Previous() Period {
	if p.From.Equal(MonthOf(p.From)) && p.End.Equal(MonthOf(p.End)) {
		months := 12*(p.End.Year()-p.From.Year()) + int(p.End.Month()-p.From.Month())
		return Period{From: p.From.AddDate(0, -months, 0), End: p.From}
	}
	return Period{From: p.From.Add(-p.End.Sub(p.From)), End: p.From}
}

// Parts divides a period into its whole calendar months and the remaining periods before and after
// them. A part without moments has From = End.
func (p Period) Parts() (head, months, tail Period) {
	first, last := MonthOf(p.From), MonthOf(p.End)
	if first.Before(p.From) {
		first = first.AddDate(0, 1, 0)
	}
	if !first.Before(last) {
		return p, Period{p.End, p.End}, Period{p.End, p.End}
	}
	return Period{p.From, first}, Period{first, last}, Period{last, p.End}
}

// TouchedMonths returns the calendar months that overlap the period.
func (p Period) TouchedMonths() Period {
	return Period{From: MonthOf(p.From), End: MonthOf(p.LastDay()).AddDate(0, 1, 0)}
}

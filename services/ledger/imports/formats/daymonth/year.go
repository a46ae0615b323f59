package daymonth

import (
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Undated holds what a file shows about the year of dates that have none.
type Undated struct {
	Days     []written.DayText // Of the rows, in their order.
	Order    written.Orders    // One in which all days exist.
	Around   [][]string        // The cells of the lines outside of the rows.
	FileName string
	Today    time.Time // The day of the upload, or zero.
}

const (
	// maxAfter is the longest time between the last row of a statement and the day of the statement
	// or that on which it is due.
	maxAfter = 70 * 24 * time.Hour
	// maxStep is the longest time between two rows of a file without years.
	maxStep = 200 * 24 * time.Hour
)

// Year returns the last day that the rows can have: each date is the last such day up to it. It is
// that of the period or of the statement, which the lines around the rows or the name of the file
// state. Otherwise it is the day of the upload, which is an assumption. It reports false without
// that day.
func (u *Undated) Year() (until time.Time, evidence statement.Evidence, assumed, ok bool) {
	until, code := u.around(), "YEARS_BY_FILE"
	if until.IsZero() {
		until, code = u.agreed(u.daysIn([][]string{numbersOf(u.FileName)})), "YEARS_BY_NAME"
	}
	if until.IsZero() {
		until, code, assumed = u.Today, "YEARS_ASSUMED", true
	}
	return until, statement.Shows(code, "until", until.Format(time.DateOnly)), assumed,
		!until.IsZero()
}

// numbersOf returns the parts of the name of a file that only have digits and separators.
func numbersOf(name string) []string {
	parts := strings.FieldsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("0123456789-.", r)
	})
	for i, part := range parts {
		parts[i] = strings.Trim(part, "-.")
	}
	return parts
}

// Fits reports whether the lines around the rows state the year of dates in their order.
func (u *Undated) Fits() bool { return !u.around().IsZero() }

// around returns the last day of the period that the lines around the rows state, or otherwise the
// first of the days that they name if all of them give the rows the same years.
func (u *Undated) around() time.Time {
	var first, last time.Time
	for _, found := range datesIn(u.Around) {
		day, ok := u.day(found.date)
		if !ok || !found.ofPeriod {
			continue
		}
		if first.IsZero() || day.Before(first) {
			first = day
		}
		if day.After(last) {
			last = day
		}
	}
	if first.Before(last) && last.Sub(first) <= maxPeriod {
		early := func(day time.Time) bool { return day.Before(first) }
		if slices.ContainsFunc(u.until(last), early) {
			return time.Time{}
		}
		return last
	}
	return u.agreed(u.daysIn(u.Around))
}

// day returns a date with a year. If it is a day in several orders, that of the rows decides.
func (u *Undated) day(date written.DateText) (time.Time, bool) {
	if day, ok := date.Date(u.Order); ok {
		return day, true
	}
	return date.Date(date.Orders())
}

// daysIn returns the days that lines name, and the last days of the months that they name.
func (u *Undated) daysIn(lines [][]string) []time.Time {
	var all []time.Time
	for _, found := range datesIn(lines) {
		if day, ok := u.day(found.date); ok {
			all = append(all, day)
		}
	}
	for _, cells := range lines {
		for _, cell := range cells {
			if month, ok := written.MonthIn(cell); ok {
				all = append(all, month.AddDate(0, 1, -1))
			}
		}
	}
	return all
}

// agreed returns the first of the days that can be the last one of the rows, if all of these days
// give the rows the same years. Otherwise it returns zero.
func (u *Undated) agreed(days []time.Time) time.Time {
	days = slices.DeleteFunc(days, func(day time.Time) bool { return !u.fits(day) })
	if len(days) == 0 {
		return time.Time{}
	}
	first := slices.MinFunc(days, time.Time.Compare)
	for _, day := range days {
		if !slices.Equal(u.until(day), u.until(first)) {
			return time.Time{}
		}
	}
	return first
}

// until returns the days of the rows up to a last one.
func (u *Undated) until(last time.Time) []time.Time {
	days := make([]time.Time, len(u.Days))
	for i, day := range u.Days {
		days[i], _ = day.Until(last, u.Order)
	}
	return days
}

// fits reports whether a day can be the last one of the rows: they end shortly before it, and none
// is long after or before the previous one.
func (u *Undated) fits(last time.Time) bool {
	days := u.until(last)
	if len(days) == 0 || last.Sub(slices.MaxFunc(days, time.Time.Compare)) > maxAfter {
		return false
	}
	for i := 1; i < len(days); i++ {
		if days[i].Sub(days[i-1]).Abs() > maxStep {
			return false
		}
	}
	return true
}

package written

import (
	"regexp"
	"strconv"
	"time"
)

// DayLayouts maps the names of the layouts without a year to their orders.
var DayLayouts = map[string]Orders{
	"DD-MM": DMY, "DD/MM": DMY, "DD.MM": DMY, "DD MMM": DMY,
	"MM-DD": MDY, "MM/DD": MDY, "MM.DD": MDY, "MMM DD": MDY,
}

// DayText is a date without a year as written, such as 03/04. Like a DateText, it has no order yet.
type DayText struct {
	first, second Part
	separator     byte
}

// dayNumbers and dayNames match dates without a year, perhaps with a time.
var (
	dayNumbers = regexp.MustCompile(`^'?(\d{1,2})([./月월-]) ?(\d{1,2})[.日일]?(?: +\d{1,2}:\d{2}.*)?$`)
	dayBefore  = regexp.MustCompile(`^'?(\d{1,2})\.?[ -]?(\p{L}{3,12})\.?$`)
	dayAfter   = regexp.MustCompile(`^'?(\p{L}{3,12})\.?[ -](\d{1,2})$`)
)

// ScanDay splits a cell into the parts of a date without a year.
func ScanDay(text string) (DayText, bool) {
	text = asciiDigits(text)
	part := func(digits string) Part {
		value, _ := strconv.Atoi(digits)
		return Part{value, len(digits)}
	}
	var day DayText
	if m := dayNumbers.FindStringSubmatch(text); m != nil {
		day = DayText{part(m[1]), part(m[3]), m[2][0]}
		if len(m[2]) > 1 {
			day.separator = '-'
		}
	} else if m := dayBefore.FindStringSubmatch(text); m != nil {
		day = DayText{part(m[1]), Part{value: months[foldMonth(m[2])]}, ' '}
	} else if m := dayAfter.FindStringSubmatch(text); m != nil {
		day = DayText{Part{value: months[foldMonth(m[1])]}, part(m[2]), ' '}
	}
	return day, day.Orders() != 0
}

// HasName reports whether a date has the name of a month.
func (d DayText) HasName() bool { return d.first.Digits == 0 || d.second.Digits == 0 }

// Orders returns the orders in which the parts are a day of a leap year.
func (d DayText) Orders() Orders {
	var all Orders
	for _, order := range []Orders{DMY, MDY} {
		if _, ok := d.in(2024, order); ok {
			all |= order
		}
	}
	return all
}

// in returns the day of a year that the parts are in an order.
func (d DayText) in(year int, order Orders) (time.Time, bool) {
	day, month := d.first, d.second
	if order == MDY {
		day, month = month, day
	}
	if day.Digits == 0 {
		return time.Time{}, false
	}
	return Day(year, month.value, day.value)
}

// maxYears is the number of years in which each day of a calendar exists.
const maxYears = 8

// Until returns the last day up to another one that the parts are in an order.
func (d DayText) Until(last time.Time, order Orders) (time.Time, bool) {
	for year := last.Year(); year > last.Year()-maxYears; year-- {
		if day, ok := d.in(year, order); ok && !day.After(last) {
			return day, true
		}
	}
	return time.Time{}, false
}

// Layout returns the name of the layout with which a date is written.
func (d DayText) Layout(order Orders) string {
	separator := string(d.separator)
	switch {
	case order == DMY && d.HasName():
		return "DD MMM"
	case d.HasName():
		return "MMM DD"
	case order == DMY:
		return "DD" + separator + "MM"
	}
	return "MM" + separator + "DD"
}

// ParseDay reads a date without a year in an order: it is the last such day up to another one. A
// date with a year is read as it is.
func ParseDay(text string, order Orders, last time.Time) (time.Time, bool) {
	if day, ok := ScanDay(text); ok {
		return day.Until(last, order)
	}
	return ParseDate(text, order)
}

// before and behind match what is around a month that is no part of a day.
const before, behind = `(?:^|[^\d./-])`, `(?:[^\d./-]|[.-][^\d]|$)`

// monthForms match a month with its year inside of a text.
var monthForms = []struct {
	form        *regexp.Regexp
	year, month int // Their groups.
}{
	{regexp.MustCompile(before + `(\d{4})(?:[./-]|[年년] ?)(\d{1,2})` + behind), 1, 2},
	{regexp.MustCompile(before + `(\d{1,2})[./-](\d{4})` + behind), 2, 1},
	{regexp.MustCompile(`(\p{L}{3,12})\.?,?[ -](?:de |del )?(\d{4})(?:\D|$)`), 2, 1},
}

// MonthIn returns the first day of the month that a text names with its year, such as "May 2026",
// "05/2026" and "2026-05".
func MonthIn(text string) (time.Time, bool) {
	for _, f := range monthForms {
		for _, m := range f.form.FindAllStringSubmatch(text, -1) {
			year, _ := strconv.Atoi(m[f.year])
			month, err := strconv.Atoi(m[f.month])
			if err != nil {
				month = months[foldMonth(m[f.month])]
			}
			if day, ok := Day(fullYear(Part{year, 4}), month, 1); ok {
				return day, true
			}
		}
	}
	return time.Time{}, false
}

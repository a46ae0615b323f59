package formats

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// orders is a set of orders of day, month and year.
type orders uint8

// The orders in which dates are written.
const (
	ymd orders = 1 << iota
	dmy
	mdy
)

// layouts maps the names of the layouts to their orders. Only the order matters for reading: separators and the widths of years, months
// and days may differ from row to row. The name shows users the form of the dates in their file.
var layouts = map[string]orders{
	"YYYY-MM-DD": ymd, "YYYY/MM/DD": ymd, "YYYY.MM.DD": ymd, "YYYYMMDD": ymd, "YYYY MMM DD": ymd,
	"YY-MM-DD": ymd, "YY/MM/DD": ymd, "YY.MM.DD": ymd, "YYMMDD": ymd,
	"DD-MM-YYYY": dmy, "DD/MM/YYYY": dmy, "DD.MM.YYYY": dmy, "DDMMYYYY": dmy, "DD MMM YYYY": dmy,
	"DD-MM-YY": dmy, "DD/MM/YY": dmy, "DD.MM.YY": dmy, "DDMMYY": dmy, "DD MMM YY": dmy,
	"MM-DD-YYYY": mdy, "MM/DD/YYYY": mdy, "MM.DD.YYYY": mdy, "MMDDYYYY": mdy, "MMM DD YYYY": mdy,
	"MM-DD-YY": mdy, "MM/DD/YY": mdy, "MM.DD.YY": mdy, "MMDDYY": mdy,
}

// part is a run of digits of a date, or a month's name.
type part struct {
	value  int
	digits int // 0: a month's name.
}

// dateText is a date as written, split into its parts. It has no order yet: 03/04/2026 is a day in each of two orders, and the whole
// column decides which one applies.
type dateText struct {
	parts     [3]part
	separator byte // Between the first two parts, 0 in compact dates.
}

// scanDate splits a cell into the parts of a date. It reports false for text that is not a date, perhaps with a time after it.
func scanDate(s string) (d dateText, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) < 4 || len(s) > 48 {
		return d, false
	}
	n := 0
	for n < 3 {
		s = skipSeparators(&d, n, s)
		if s == "" {
			return d, false
		}
		r, _ := utf8.DecodeRuneInString(s)
		switch {
		case r >= '0' && r <= '9':
			var p part
			if p, s, ok = scanDigits(s); !ok {
				return d, false
			}
			if n == 0 && p.digits >= 6 {
				return compact(p, s)
			}
			d.parts[n], n = p, n+1
		case unicode.IsLetter(r):
			end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(s)
			}
			month, isMonth := months[foldMonth(s[:end])]
			word := s[:end]
			s = s[end:]
			switch {
			case isMonth:
				d.parts[n], n = part{value: month}, n+1
			case !isFiller(n, word):
				return d, false
			}
		default:
			return d, false
		}
	}
	return d, isTime(s)
}

// isFiller reports whether a word may be part of a date without a meaning: a weekday before it, or the ending of an ordinal or "de"
// inside.
func isFiller(n int, word string) bool {
	if n == 0 {
		return len([]rune(word)) <= 12
	}
	switch strings.ToLower(word) {
	case "de", "del", "of", "st", "nd", "rd", "th", "er", "y", "年", "月", "日", "г":
		return true
	}
	return false
}

// skipSeparators removes separators before a part and records the one after the first part.
func skipSeparators(d *dateText, n int, s string) string {
	rest := strings.TrimLeft(s, " ./-'’,\u00a0\u202f年月日")
	if n == 1 && len(rest) < len(s) {
		d.separator = s[0]
	}
	return rest
}

// scanDigits reads the digits at the start of s, at most 14.
func scanDigits(s string) (p part, rest string, ok bool) {
	for p.digits < len(s) && s[p.digits] >= '0' && s[p.digits] <= '9' {
		if p.digits >= 14 {
			return p, s, false
		}
		p.value = p.value*10 + int(s[p.digits]-'0')
		p.digits++
	}
	if p.digits == 5 || p.digits == 3 {
		return p, s, false
	}
	return p, s[p.digits:], true
}

// compact splits 6, 8, 12 or 14 digits into the parts of a date. The parts keep the positions of YYYYMMDD or of DDMMYYYY.
func compact(p part, rest string) (d dateText, ok bool) {
	v := p.value
	switch p.digits {
	case 14:
		v /= 1_000_000
	case 12:
		v /= 10_000
	case 6:
		if !isTime(rest) {
			return d, false
		}
		d.parts = [3]part{{v / 10000, 2}, {v / 100 % 100, 2}, {v % 100, 2}}
		return d, true
	case 8:
	default:
		return d, false
	}
	if year := v / 10000; year >= 1900 && year <= 2100 {
		d.parts = [3]part{{year, 4}, {v / 100 % 100, 2}, {v % 100, 2}}
	} else {
		d.parts = [3]part{{v / 1_000_000, 2}, {v / 10000 % 100, 2}, {v % 10000, 4}}
	}
	return d, isTime(rest)
}

// isTime reports whether the text after a date is empty or a time of day, perhaps with a zone.
func isTime(s string) bool {
	s = strings.TrimLeft(s, "., T\u00a0\u202f-г'")
	if s == "" || s == "Z" {
		return true
	}
	if s[0] == '(' || s[0] == '[' {
		return true
	}
	for _, word := range []string{"at ", "um ", "à ", "kl "} {
		s = strings.TrimPrefix(s, word)
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.ContainsAny(s[:min(len(s), 6)], ":.h") || isDigitsOnly(s) && (len(s) == 4 || len(s) == 6)
}

// isDigitsOnly reports whether s consists of ASCII digits.
func isDigitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// orders returns the orders in which the parts are a day of the calendar. 31/12/2026 has one order, and 03/04/2026 has two.
func (d dateText) orders() orders {
	var all orders
	for _, order := range []orders{ymd, dmy, mdy} {
		if _, ok := d.date(order); ok {
			all |= order
		}
	}
	return all
}

// date returns the day that the parts are in an order.
func (d dateText) date(order orders) (time.Time, bool) {
	a, b, c := d.parts[0], d.parts[1], d.parts[2]
	var year, month, day part
	switch order {
	case ymd:
		year, month, day = a, b, c
	case dmy:
		day, month, year = a, b, c
	case mdy:
		month, day, year = a, b, c
	default:
		return time.Time{}, false
	}
	if day.digits == 0 || day.digits > 2 || year.digits == 0 || month.digits > 2 {
		return time.Time{}, false
	}
	// A year of two digits is never the first part of a date with a month's name.
	if order == ymd && (year.digits == 1 || month.digits == 0 && year.digits < 4) {
		return time.Time{}, false
	}
	return day4(fullYear(year), month.value, day.value)
}

// fullYear adds the century to a year of one or two digits: 70 to 99 are in the 20th century.
func fullYear(year part) int {
	switch {
	case year.digits > 2:
		return year.value
	case year.value >= 70:
		return 1900 + year.value
	}
	return 2000 + year.value
}

// day4 returns a day of the calendar between 1900 and 2100.
func day4(year, month, day int) (time.Time, bool) {
	if year < 1900 || year > 2100 || month < 1 || month > 12 || day < 1 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day
}

// parseDate reads a date in an order.
func parseDate(s string, order orders) (time.Time, bool) {
	d, ok := scanDate(s)
	if !ok {
		return time.Time{}, false
	}
	if t, ok := d.date(order); ok {
		return t, true
	}
	// A file may write a few dates otherwise, such as 2024-01-31 among names of months. A unique reading is safe.
	if all := d.orders(); all == ymd || d.parts[0].digits == 0 || d.parts[1].digits == 0 {
		return d.date(all)
	}
	return time.Time{}, false
}

// layout returns the name of the layout with which a date is written.
func (d dateText) layout(order orders) string {
	year := d.parts[2]
	if order == ymd {
		year = d.parts[0]
	}
	y := "YYYY"
	if year.digits <= 2 {
		y = "YY"
	}
	separator := string(d.separator)
	switch d.separator {
	case 0:
		separator = ""
	case '.', '-', '/':
	default:
		separator = "-"
	}
	m := "MM"
	if d.parts[0].digits == 0 || d.parts[1].digits == 0 {
		m, separator = "MMM", " "
	}
	switch order {
	case ymd:
		return y + separator + m + separator + "DD"
	case mdy:
		return m + separator + "DD" + separator + y
	default:
		return "DD" + separator + m + separator + y
	}
}

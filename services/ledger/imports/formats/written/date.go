package written

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Orders is a set of orders of day, month and year.
type Orders uint8

// The orders in which dates are written.
const (
	YMD Orders = 1 << iota
	DMY
	MDY
)

// Layouts maps the names of the layouts to their orders. Only the order matters for reading:
// separators and the widths of years, months and days may differ from row to row. The name shows
// users the form of the dates in their file.
var Layouts = map[string]Orders{
	"YYYY-MM-DD": YMD, "YYYY/MM/DD": YMD, "YYYY.MM.DD": YMD, "YYYYMMDD": YMD, "YYYY MMM DD": YMD,
	"YY-MM-DD": YMD, "YY/MM/DD": YMD, "YY.MM.DD": YMD, "YYMMDD": YMD,
	"DD-MM-YYYY": DMY, "DD/MM/YYYY": DMY, "DD.MM.YYYY": DMY, "DDMMYYYY": DMY, "DD MMM YYYY": DMY,
	"DD-MM-YY": DMY, "DD/MM/YY": DMY, "DD.MM.YY": DMY, "DDMMYY": DMY, "DD MMM YY": DMY,
	"MM-DD-YYYY": MDY, "MM/DD/YYYY": MDY, "MM.DD.YYYY": MDY, "MMDDYYYY": MDY, "MMM DD YYYY": MDY,
	"MM-DD-YY": MDY, "MM/DD/YY": MDY, "MM.DD.YY": MDY, "MMDDYY": MDY,
}

// Part is a run of digits of a date, or a month's name.
type Part struct {
	value  int
	Digits int // 0: a month's name.
}

// DateText is a date as written, split into its parts. It has no order yet: 03/04/2026 is a day in
// each of two orders, and the whole column decides which one applies.
type DateText struct {
	Parts     [3]Part
	Separator byte // Between the first two parts, 0 in compact dates.
}

// ScanDate splits a cell into the parts of a date. It reports false for text that is not a date,
// perhaps with a time after it.
func ScanDate(s string) (d DateText, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) < 4 || len(s) > 48 {
		return d, false
	}
	n, era := 0, 0
	for n < 3 {
		s = skipSeparators(&d, n, s)
		if s == "" {
			return d, false
		}
		r, _ := utf8.DecodeRuneInString(s)
		switch {
		case r >= '0' && r <= '9':
			var p Part
			if p, s, ok = scanDigits(s); !ok || p.Digits == 3 && n > 0 {
				return d, false
			}
			if n == 0 && p.Digits >= 6 {
				return compact(p, s)
			}
			if n == 0 && era > 0 && p.Digits <= 2 {
				p = Part{p.value + era, 4}
			}
			d.Parts[n], n = p, n+1
		case unicode.IsLetter(r):
			end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(s)
			}
			month, isMonth := months[foldMonth(s[:end])]
			word := s[:end]
			s = s[end:]
			era = eras[word]
			switch {
			case isMonth:
				d.Parts[n], n = Part{value: month}, n+1
			case !isFiller(n, word):
				return d, false
			}
		default:
			return d, false
		}
	}
	return d, isTime(s)
}

// eras maps the names of Japanese eras to the year before their first one.
var eras = map[string]int{"R": 2018, "令和": 2018, "H": 1988, "平成": 1988}

// isFiller reports whether a word may be part of a date without a meaning: a weekday before it, or
// the ending of an ordinal or "de" inside.
func isFiller(n int, word string) bool {
	if n == 0 {
		return len([]rune(word)) <= 12
	}
	switch strings.ToLower(word) {
	case "de", "del", "of", "st", "nd", "rd", "th", "er", "y", "г":
		return true
	}
	return false
}

// skipSeparators removes separators before a part and records the one after the first part.
func skipSeparators(d *DateText, n int, s string) string {
	rest := strings.TrimLeft(s, " ./-'’,\u00a0\u202f年月日년월일")
	if n == 1 && len(rest) < len(s) {
		d.Separator = s[0]
	}
	return rest
}

// scanDigits reads the digits at the start of s, at most 14.
func scanDigits(s string) (p Part, rest string, ok bool) {
	for p.Digits < len(s) && s[p.Digits] >= '0' && s[p.Digits] <= '9' {
		if p.Digits >= 14 {
			return p, s, false
		}
		p.value = p.value*10 + int(s[p.Digits]-'0')
		p.Digits++
	}
	isYear := p.Digits == 3 && p.value >= 80 && p.value < 150
	return p, s[p.Digits:], p.Digits != 5 && (p.Digits != 3 || isYear)
}

// compact splits 6, 8, 12 or 14 digits into the parts of a date. The parts keep the positions of
// YYYYMMDD or of DDMMYYYY.
func compact(p Part, rest string) (d DateText, ok bool) {
	v := p.value
	switch p.Digits {
	case 14:
		v /= 1_000_000
	case 12:
		v /= 10_000
	case 6:
		if !isTime(rest) {
			return d, false
		}
		d.Parts = [3]Part{{v / 10000, 2}, {v / 100 % 100, 2}, {v % 100, 2}}
		return d, true
	case 7:
		d.Parts = [3]Part{{v / 10000, 3}, {v / 100 % 100, 2}, {v % 100, 2}}
		return d, v/10000 >= 80 && v/10000 < 150 && isTime(rest)
	case 8:
	default:
		return d, false
	}
	year := fullYear(Part{v / 10000, 4})
	if year >= 1900 && year <= 2100 && v/100%100 <= 12 {
		d.Parts = [3]Part{{v / 10000, 4}, {v / 100 % 100, 2}, {v % 100, 2}}
	} else {
		d.Parts = [3]Part{{v / 1_000_000, 2}, {v / 10000 % 100, 2}, {v % 10000, 4}}
	}
	return d, isTime(rest)
}

// isTime reports whether the text after a date is empty or a time of day, perhaps with a zone.
func isTime(s string) bool {
	s = strings.TrimLeft(s, "., T\u00a0\u202f-/г'日일")
	if s == "" || s == "Z" {
		return true
	}
	if s[0] == '(' || s[0] == '[' {
		return true
	}
	for _, word := range []string{"at ", "um ", "à ", "kl "} {
		s = strings.TrimPrefix(s, word)
	}
	clock := s != "" && s[0] >= '0' && s[0] <= '9' && strings.ContainsAny(s[:min(len(s), 6)], ":.h")
	return clock || IsDigitsOnly(s) && (len(s) == 4 || len(s) == 6)
}

// IsDigitsOnly reports whether s consists of ASCII digits.
func IsDigitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Orders returns the orders in which the parts are a day of the calendar. 31/12/2026 has one order,
// and 03/04/2026 has two.
func (d DateText) Orders() Orders {
	var all Orders
	for _, order := range []Orders{YMD, DMY, MDY} {
		if _, ok := d.Date(order); ok {
			all |= order
		}
	}
	return all
}

// Date returns the day that the parts are in an order.
func (d DateText) Date(order Orders) (time.Time, bool) {
	a, b, c := d.Parts[0], d.Parts[1], d.Parts[2]
	var year, month, day Part
	switch order {
	case YMD:
		year, month, day = a, b, c
	case DMY:
		day, month, year = a, b, c
	case MDY:
		month, day, year = a, b, c
	default:
		return time.Time{}, false
	}
	if day.Digits == 0 || day.Digits > 2 || year.Digits == 0 || month.Digits > 2 {
		return time.Time{}, false
	}
	// A year of two digits is never the first part of a date with a month's name.
	if order == YMD && (year.Digits == 1 || month.Digits == 0 && year.Digits < 4) {
		return time.Time{}, false
	}
	return Day(fullYear(year), month.value, day.value)
}

// fullYear adds the century to a year of one or two digits: 70 to 99 are in the 20th century. It
// converts the years of the Republic of China, which have three digits, and those of the Buddhist
// era.
func fullYear(year Part) int {
	switch {
	case year.Digits == 3:
		return 1911 + year.value
	case year.value > 2443 && year.value < 2643:
		return year.value - 543
	case year.Digits > 2:
		return year.value
	case year.value >= 70:
		return 1900 + year.value
	}
	return 2000 + year.value
}

// Day returns a day of the calendar between 1900 and 2100.
func Day(year, month, day int) (time.Time, bool) {
	if year < 1900 || year > 2100 || month < 1 || month > 12 || day < 1 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day
}

// ParseDate reads a date in an order.
func ParseDate(s string, order Orders) (time.Time, bool) {
	d, ok := ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	if t, ok := d.Date(order); ok {
		return t, true
	}
	// A file may write a few dates otherwise, such as 2024-01-31 among names of months. A unique
	// reading is safe.
	if all := d.Orders(); all == YMD || d.Parts[0].Digits == 0 || d.Parts[1].Digits == 0 {
		return d.Date(all)
	}
	return time.Time{}, false
}

// Layout returns the name of the layout with which a date is written.
func (d DateText) Layout(order Orders) string {
	year := d.Parts[2]
	if order == YMD {
		year = d.Parts[0]
	}
	y := "YYYY"
	if year.Digits <= 2 {
		y = "YY"
	}
	separator := string(d.Separator)
	switch d.Separator {
	case 0:
		separator = ""
	case '.', '-', '/':
	default:
		separator = "-"
	}
	m := "MM"
	if d.Parts[0].Digits == 0 || d.Parts[1].Digits == 0 {
		m, separator = "MMM", " "
	}
	switch order {
	case YMD:
		return y + separator + m + separator + "DD"
	case MDY:
		return m + separator + "DD" + separator + y
	default:
		return "DD" + separator + m + separator + y
	}
}

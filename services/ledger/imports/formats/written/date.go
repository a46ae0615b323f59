package written

import (
	"fmt"
	"slices"
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

// CompareText compares the parts of two dates as texts, and not as days: 1/12/2026 is before
// 1/5/2026.
func (d DateText) CompareText(other DateText) int {
	text := func(p Part) string { return fmt.Sprintf("%0*d", p.Digits, p.value) }
	return slices.CompareFunc(d.Parts[:], other.Parts[:], func(a, b Part) int {
		return strings.Compare(text(a), text(b))
	})
}

// ScanDate splits a cell into the parts of a date. It reports false for text that is not a date,
// perhaps with a time before or after it.
func ScanDate(text string) (dt DateText, ok bool) {
	// An apostrophe keeps a spreadsheet from changing the cell.
	text = strings.TrimPrefix(strings.TrimSpace(asciiDigits(text)), "'")
	if len(text) < 4 || len(text) > 48 {
		return dt, false
	}
	text = withoutTime(text)
	count, era := 0, 0
	for count < 3 {
		text = skipSeparators(&dt, count, text)
		if text == "" {
			return dt, false
		}
		char, _ := utf8.DecodeRuneInString(text)
		switch {
		case char >= '0' && char <= '9':
			var part Part
			if part, text, ok = scanDigits(text); !ok || part.Digits == 3 && count > 0 {
				return dt, false
			}
			if count == 0 && part.Digits >= 6 {
				return compact(part, text)
			}
			if count == 0 && era > 0 && part.Digits <= 2 {
				part = Part{part.value + era, 4}
			}
			dt.Parts[count], count = part, count+1
		case unicode.IsLetter(char):
			end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(text)
			}
			month, isMonth := months[foldMonth(text[:end])]
			word := text[:end]
			text = text[end:]
			era = eras[word]
			switch {
			case isMonth:
				dt.Parts[count], count = Part{value: month}, count+1
			case !isFiller(count, word):
				return dt, false
			}
		default:
			return dt, false
		}
	}
	return dt, isTime(text)
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
func scanDigits(s string) (part Part, rest string, ok bool) {
	for part.Digits < len(s) && s[part.Digits] >= '0' && s[part.Digits] <= '9' {
		if part.Digits >= 14 {
			return part, s, false
		}
		part.value = part.value*10 + int(s[part.Digits]-'0')
		part.Digits++
	}
	isYear := part.Digits == 3 && part.value >= 80 && part.value < 150
	return part, s[part.Digits:], part.Digits != 5 && (part.Digits != 3 || isYear)
}

// compact splits 6, 8, 12 or 14 digits into the parts of a date. The parts keep the positions of
// YYYYMMDD or of DDMMYYYY.
func compact(p Part, rest string) (dt DateText, ok bool) {
	value := p.value
	switch p.Digits {
	case 14:
		value /= 1_000_000
	case 12:
		value /= 10_000
	case 6:
		if !isTime(rest) {
			return dt, false
		}
		dt.Parts = [3]Part{{value / 10000, 2}, {value / 100 % 100, 2}, {value % 100, 2}}
		return dt, true
	case 7:
		dt.Parts = [3]Part{{value / 10000, 3}, {value / 100 % 100, 2}, {value % 100, 2}}
		return dt, value/10000 >= 80 && value/10000 < 150 && isTime(rest)
	case 8:
	default:
		return dt, false
	}
	year := fullYear(Part{value / 10000, 4})
	if year >= 1900 && year <= 2100 && value/100%100 <= 12 {
		dt.Parts = [3]Part{{value / 10000, 4}, {value / 100 % 100, 2}, {value % 100, 2}}
	} else {
		dt.Parts = [3]Part{{value / 1e6, 2}, {value / 1e4 % 100, 2}, {value % 1e4, 4}}
	}
	return dt, isTime(rest)
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
	part, b, c := d.Parts[0], d.Parts[1], d.Parts[2]
	var year, month, day Part
	switch order {
	case YMD:
		year, month, day = part, b, c
	case DMY:
		day, month, year = part, b, c
	case MDY:
		month, day, year = part, b, c
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
	if isJalali(year) {
		t, ok := jalaliDay(year.value, month.value, day.value)
		return t, ok && order != MDY // Persian never has the month first.
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
	dt, ok := ScanDate(s)
	if !ok {
		return time.Time{}, false
	}
	if t, ok := dt.Date(order); ok {
		return t, true
	}
	// A file may write a few dates otherwise, such as 2024-01-31 among names of months. A unique
	// reading is safe.
	if all := dt.Orders(); all == YMD || dt.Parts[0].Digits == 0 || dt.Parts[1].Digits == 0 {
		return dt.Date(all)
	}
	return time.Time{}, false
}

// Layout returns the name of the layout with which a date is written.
func (d DateText) Layout(order Orders) string {
	year := d.Parts[2]
	if order == YMD {
		year = d.Parts[0]
	}
	yearLetters := "YYYY"
	if year.Digits <= 2 {
		yearLetters = "YY"
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
		return yearLetters + separator + m + separator + "DD"
	case MDY:
		return m + separator + "DD" + separator + yearLetters
	default:
		return "DD" + separator + m + separator + yearLetters
	}
}

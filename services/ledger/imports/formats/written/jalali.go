package written

import (
	"strings"
	"time"
)

// The years of the Iranian calendar that dates may have, 1991 to 2041. The Islamic calendar has
// later ones now.
const (
	firstJalali = 1370
	lastJalali  = 1419
)

// isJalali reports whether a year is one of the Iranian calendar.
func isJalali(year Part) bool {
	return year.Digits == 4 && year.value >= firstJalali && year.value <= lastJalali
}

// jalaliDay returns the day of a date of the Iranian calendar. Its years begin on the day of the
// spring equinox; six months of 31 days and five of 30 days precede the last month.
func jalaliDay(year, month, day int) (time.Time, bool) {
	length := 31
	switch {
	case month == 12:
		length = 29 + leapDay(year)
	case month > 6:
		length = 30
	}
	if month < 1 || month > 12 || day < 1 || day > length {
		return time.Time{}, false
	}
	days := (month-1)*30 + min(month-1, 6) + day - 1
	for y := firstJalali; y < year; y++ {
		days += 365 + leapDay(y)
	}
	return time.Date(1991, 3, 21, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days), true
}

// leapDay returns 1 for a leap year of the Iranian calendar. 8 of 33 years are.
func leapDay(year int) int {
	if (25*year+11)%33 < 8 {
		return 1
	}
	return 0
}

// asciiDigits returns a text with the digits and decimal separators of Persian, Arabic and Japanese
// keyboards as ASCII characters.
func asciiDigits(text string) string {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return strings.Map(asciiDigit, text)
		}
	}
	return text
}

func asciiDigit(r rune) rune {
	switch {
	case r >= '\u0660' && r <= '\u0669':
		return '0' + r - '\u0660'
	case r >= '\u06f0' && r <= '\u06f9':
		return '0' + r - '\u06f0'
	case r >= '\uff10' && r <= '\uff19':
		return '0' + r - '\uff10'
	case r == '\u066b':
		return '.'
	case r == '\u066c':
		return ','
	}
	return r
}

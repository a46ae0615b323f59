// Package written reads values as files write them: amounts, dates, currencies, and the words for
// money in and money out and for the statuses and the kinds of payments.
//
// A value may be open: 1.234 is well-formed with each decimal mark, and 03/04/2026 is a day in two
// orders. ScanNumber and ScanDate return all readings of a value as a set, Marks or Orders, and
// package formats chooses one for the whole column. ParseAmount and ParseDate then read the values.
// They reject a value that does not fit the choice, because another reading would be wrong
// silently.
//
// An amount is canonical decimal text, and Sum adds amounts exactly.
package written

import (
	"strings"
	"unicode"
)

// Marks is a set of decimal marks.
type Marks uint8

// The decimal marks that a number can have been written with.
const (
	Dot Marks = 1 << iota
	Comma
)

// maxDigits is the maximum number of digits of an amount. Longer numbers are references, such as
// account numbers.
const maxDigits = 24

// Number is an amount as written, without its decoration.
type Number struct {
	Digits   string // Digits, '.' and ',' only.
	Negative bool
	Signed   bool   // The cell has a sign, brackets or a debit or credit suffix.
	Unit     string // Letters or symbols around the digits: "EUR", "$".
}

// Suffixes and prefixes of amounts that decide the sign, in English and German: "12.50 DR", "S
// 12,50".
var (
	debitMarks = map[string]bool{
		"DR": true, "D": true, "DB": true, "S": true, "SOLL": true, "DEBIT": true, "DT": true,
	}
	creditMarks = map[string]bool{
		"CR": true, "C": true, "H": true, "HABEN": true, "CREDIT": true, "CT": true,
	}
)

// HasNonzero reports whether a cell has a digit that is not 0.
func HasNonzero(cell string) bool { return strings.ContainsAny(cell, "123456789") }

// ScanNumber separates the digits of a cell from sign and currency. It reports false for everything
// except one number, such as a text with a number in it, a date or a range: an amount must not be
// taken from a text. It does not decide which mark is the decimal one.
func ScanNumber(text string) (number Number, ok bool) {
	text = asciiDigits(strings.TrimSpace(text))
	if text == "" || len(text) > 64 {
		return number, false
	}
	first := strings.IndexAny(text, "0123456789")
	last := strings.LastIndexAny(text, "0123456789")
	if first < 0 {
		return number, false
	}
	// ".5" and ",50" are written without a leading zero.
	if first > 0 && (text[first-1] == '.' || text[first-1] == ',') &&
		(first == 1 || !isLetterEnd(text[:first-1])) {
		first--
	}
	var b strings.Builder
	for _, r := range text[first : last+1] {
		switch {
		case r >= '0' && r <= '9' || r == '.' || r == ',':
			b.WriteRune(r)
		case isGrouping(r):
		default:
			return number, false
		}
	}
	number.Digits = b.String()
	if len(number.Digits) > maxDigits {
		return number, false
	}
	before, ok1 := number.decoration(text[:first])
	after, ok2 := number.decoration(strings.TrimLeft(text[last+1:], ".,"))
	number.Unit = before + after
	return number, ok1 && ok2 && (before == "" || after == "" || before == after)
}

// isLetterEnd reports whether s ends with a letter, as in "Rs.5" or "kr.5".
func isLetterEnd(s string) bool {
	runes := []rune(s)
	return unicode.IsLetter(runes[len(runes)-1])
}

// isGrouping reports whether a character only separates groups of digits.
func isGrouping(r rune) bool {
	return r == '\'' || r == '’' || r == '`' || unicode.IsSpace(r) || r == '\u202f' ||
		r == '\u2009' || r == '\u2060'
}

// decoration reads the text before or after the digits: sign, brackets, debit or credit mark, and
// currency. Brackets mean a negative amount, as in accounting. Files use at least seven characters
// as a minus sign.
func (n *Number) decoration(s string) (unit string, ok bool) {
	var builder strings.Builder
	for _, ch := range s {
		switch {
		case ch == '-' || ch == '−' || ch == '–' || ch == '\u2010' || ch == '(' || ch == '—' ||
			ch == '﹣' || ch == '－':
			n.Negative = !n.Negative || ch == '('
			n.Signed = true
		case ch == '+':
			n.Signed = true
		case unicode.IsSpace(ch):
			builder.WriteByte(' ')
		case ch == ')' || ch == '.' || ch == ':' || ch == '*' || unicode.Is(unicode.Cf, ch):
		case unicode.IsLetter(ch) || unicode.Is(unicode.Sc, ch) || ch == '/':
			builder.WriteRune(ch)
		default:
			return "", false
		}
	}
	for word := range strings.FieldsSeq(builder.String()) {
		switch upper := strings.ToUpper(word); {
		case debitMarks[upper]:
			n.Negative, n.Signed = true, true
		case creditMarks[upper]:
			n.Signed = true
		default:
			unit += word
		}
	}
	if len([]rune(unit)) > 4 || strings.Contains(unit, "/") {
		return unit, CurrencyOf(unit) != ""
	}
	return unit, true
}

// Marks returns the decimal marks with which the number is well-formed. 1.234 has both, and so does
// a number without '.' and ','. 1.23 has only the point, because a group of digits has three.
func (n Number) Marks() Marks {
	var m Marks
	if grouped(n.Digits, '.', ',') {
		m |= Dot
	}
	if grouped(n.Digits, ',', '.') {
		m |= Comma
	}
	return m
}

// grouped reports whether digits is a number with at most one decimal mark and correct groups
// before it.
func grouped(digits string, mark, group byte) bool {
	whole, frac, _ := strings.Cut(digits, string(mark))
	if strings.IndexByte(frac, mark) >= 0 || strings.IndexByte(frac, group) >= 0 {
		return false
	}
	groups := strings.Split(whole, string(group))
	if len(groups) == 1 {
		return true
	}
	if len(groups[0]) == 0 || len(groups[0]) > 3 || groups[0] == "0" ||
		len(groups[len(groups)-1]) != 3 {
		return false
	}
	// Indian numbers have groups of two digits except the last: 12,34,567.
	for _, g := range groups[1 : len(groups)-1] {
		if len(g) != 3 && len(g) != 2 {
			return false
		}
	}
	return true
}

// canonical returns the number as decimal text with a point, keeping its decimals: "-1234.50".
func (n Number) canonical(mark Marks) (string, bool) {
	if n.Marks()&mark == 0 {
		return "", false
	}
	group, point := ",", "."
	if mark == Comma {
		group, point = ".", ","
	}
	whole, frac, has := strings.Cut(strings.ReplaceAll(n.Digits, group, ""), point)
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	s := whole
	if has && frac != "" {
		s += "." + frac
	}
	if n.Negative {
		return Negate(s), true
	}
	return s, true
}

// ParseAmount converts an amount as written to canonical text, and returns the currency or symbol
// written with it. ok is false if the amount is not well-formed with the mark: it is never read
// with the other mark, which would change it by a factor of 1000.
func ParseAmount(s string, mark Marks) (amount, unit string, ok bool) {
	n, ok := ScanNumber(s)
	if !ok {
		return "", "", false
	}
	amount, ok = n.canonical(mark)
	return amount, n.Unit, ok
}

// ParseLoose converts an amount of a format that fixes no decimal mark: the last '.' or ',' is the
// mark. A mark that occurs twice separates groups.
func ParseLoose(s string) (string, bool) {
	number, ok := ScanNumber(s)
	if !ok || number.Unit != "" {
		return "", false
	}
	mark := Dot
	if i := strings.LastIndexAny(number.Digits, ".,"); i >= 0 &&
		(number.Digits[i] == ',') != (strings.Count(number.Digits, number.Digits[i:i+1]) > 1) {
		mark = Comma
	}
	return number.canonical(mark)
}

// Negate changes the sign of a canonical amount. Zero has no sign.
func Negate(s string) string {
	if s == "" || strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return rest
	}
	return "-" + s
}

// Absolute removes the sign of a canonical amount.
func Absolute(s string) string { return strings.TrimPrefix(s, "-") }

// TrimDecimals removes trailing zeros after the point: "12.50" and "12.5" are the same amount.
func TrimDecimals(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

package written

import (
	_ "embed" // For months.txt.
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// months maps folded names and abbreviations of months to their numbers. A name may appear in
// several languages.
var months = monthTable()

// monthNames has a line of names and abbreviations for each month.
//
//go:embed months.txt
var monthNames string

func monthTable() map[string]int {
	t := make(map[string]int)
	month := 0
	for line := range strings.Lines(monthNames) {
		month++
		for name := range strings.FieldsSeq(line) {
			t[foldMonth(name)] = month
		}
	}
	return t
}

// ambiguousMonths are the names of months that are other months in other languages: in Croatian,
// "listopad" is October and "lip" is June, and in Polish they are November and July.
var ambiguousMonths = WordSet("listopad listopada lis lip srp")

// HasAmbiguousMonth reports whether a date has a name of a month that depends on the language.
func HasAmbiguousMonth(date string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) }
	for word := range strings.FieldsFuncSeq(date, isOther) {
		if ambiguousMonths[foldMonth(word)] {
			return true
		}
	}
	return false
}

// foldMonth returns a month's name in lower case without accents.
func foldMonth(s string) string { return stripAccents(strings.ToLower(s)) }

// stripAccents removes accents, and spells the letters without decomposition as plain ones.
func stripAccents(text string) string {
	ascii := true
	for i := range len(text) {
		if text[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return text
	}
	var builder strings.Builder
	for _, char := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, char):
		case char == 'ł':
			builder.WriteByte('l')
		case char == 'ß':
			builder.WriteString("ss")
		case char == 'ø':
			builder.WriteByte('o')
		case char == 'đ':
			builder.WriteByte('d')
		case char == 'æ':
			builder.WriteString("ae")
		case char == 'œ':
			builder.WriteString("oe")
		case char == 'ı':
			builder.WriteByte('i')
		default:
			builder.WriteRune(char)
		}
	}
	return builder.String()
}

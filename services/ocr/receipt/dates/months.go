package dates

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
	"github.com/coffer-budget/coffer/services/ocr/receipt/vocabulary"
)

// monthOf maps the folded names of months to their numbers. monthNames matches them, the longest
// first, and shortNames maps their first three letters, if these name one month only.
var (
	monthOf    = monthNumbers()
	monthNames = strings.Join(slices.SortedFunc(maps.Keys(monthOf), longerFirst), "|")
	shortNames = beginnings(monthOf)
)

func monthNumbers() map[string]int {
	out := map[string]int{}
	for i, names := range vocabulary.Named(vocabulary.Months, 12) {
		for _, name := range names {
			out[printed.Fold(name)] = i + 1
		}
	}
	return out
}

func longerFirst(a, b string) int {
	return cmp.Or(len(b)-len(a), strings.Compare(a, b))
}

func beginnings(names map[string]int) map[string]int {
	out := map[string]int{}
	for name, month := range names {
		start := name[:min(3, len(name))]
		if other, known := out[start]; known && other != month {
			month = 0
		}
		out[start] = month
	}
	maps.DeleteFunc(out, func(_ string, month int) bool { return month == 0 })
	return out
}

var (
	// anyMonth matches three characters in the place of a month's name; one of them may be misread.
	// With a short year, spaces are no separators, because "2 mug 15" is not a date.
	anyMonth = regexp.MustCompile(`(?:^|\D)(\d{1,2})(?:[-/. ]([a-z0-9]{3})[-/. ](` + fourDigits +
		`)|[-/]([a-z0-9]{3})[-/](\d\d))(?:[^\da-z]|$)`)
	dayMonth = regexp.MustCompile(`(?:^|\D)(\d{1,2})(?:st|nd|rd|th)?[-/.,' ]{0,3}(?:de |di )?` +
		`(` + monthNames + `)[-/.,' ]{0,3}(?:de |del )?(` + fourDigits + `|\d\d)(?:\D|$)`)
	monthDay = regexp.MustCompile(`(?:^|[^a-z])(` + monthNames + `)[-/.,' ]{0,3}` +
		`(\d{1,2})(?:st|nd|rd|th)?[-/.,' ]{1,3}(` + fourDigits + `|\d\d)(?:\D|$)`)
	yearMonth = regexp.MustCompile(
		`(?:^|\D)(` + fourDigits + `)[-/. ]{0,2}(` + monthNames + `)[-/. ]{0,2}(\d{1,2})(?:\D|$)`)
)

// namedMonths reads "25 Dec 2023" and "Dec 25, 2023". The last digits are a price in "1 set 12.90"
// and an hour in "Dec 25 18:00", and no year.
func namedMonths(text string) []Date {
	var out []Date
	for _, format := range []struct {
		pattern    *regexp.Regexp
		day, month int
	}{{dayMonth, 1, 2}, {monthDay, 2, 1}} {
		for _, at := range format.pattern.FindAllStringSubmatchIndex(text, -1) {
			part := func(i int) string { return text[at[2*i]:at[2*i+1]] }
			// at[6] and at[7] delimit the year.
			before, year, after := text[at[6]-1], part(3), text[at[7]:]
			isPrice := before == '.' || centsFollow.MatchString(after)
			isHour := before == ' ' && hourFollows.MatchString(after)
			if len(year) == 4 || !isPrice && !isHour {
				month := monthOf[part(format.month)]
				out = append(out, ordered(year, month, part(format.day), 0.8))
			}
		}
	}
	return out
}

// misreadMonths reads "25/Fen/2017" as February if exactly one month is one letter off. English
// months are tried first, because they are the most common.
func misreadMonths(text string) []Date {
	var out []Date
	for _, m := range anyMonth.FindAllStringSubmatch(text, -1) {
		// The pattern has two alternatives, of which one is empty.
		letters, year := m[2]+m[4], m[3]+m[5]
		month := monthLike(letters, englishMonths)
		if month == 0 {
			month = monthLike(letters, slices.Collect(maps.Keys(shortNames)))
		}
		if month != 0 {
			out = append(out, ordered(year, month, m[1], -0.5))
		}
	}
	return out
}

var englishMonths = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")

// monthLike returns the only month with a name that is at most one letter off, or 0 if there is
// none or several.
func monthLike(text string, names []string) int {
	month := 0
	for _, name := range names {
		n := shortNames[name]
		if printed.Distance(name, text) > 1 || n == month {
			continue
		}
		if month != 0 {
			return 0
		}
		month = n
	}
	return month
}

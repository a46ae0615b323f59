package dates

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

const monthNames = `jan(?:uary|uar|vier|v)?|januar|ene(?:ro)?|gen(?:naio)?|` +
	`feb(?:ruary|ruar|rero|braio)?|fev(?:r(?:ier)?)?|mar(?:ch|s|zo?)?|maart|mrt|maerz|mrz|` +
	`apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|may|mai|mayo|mag(?:gio)?|mei|` +
	`jun(?:e|i|io)?|juin|giu(?:gno)?|jul(?:y|i|io)?|juil(?:let)?|lug(?:lio)?|` +
	`aug(?:ust)?|aout|ago(?:sto)?|ogos|sept?(?:ember|embre|iembre)?|set(?:tembre)?|` +
	`oct(?:ober|obre|ubre)?|okt(?:ober)?|ott(?:obre)?|nov(?:ember|embre|iembre)?|` +
	`dec(?:ember|embre)?|dez(?:ember)?|dic(?:embre|iembre)?|dis`

// monthOf maps the first three letters of a month's name to its number. They are unambiguous across
// the languages, except for two months in French (see monthNumber).
var monthOf = map[string]int{
	"jan": 1, "ene": 1, "gen": 1, "feb": 2, "fev": 2,
	"mar": 3, "mae": 3, "mrz": 3, "maa": 3, "mrt": 3, "apr": 4, "avr": 4, "abr": 4,
	"may": 5, "mai": 5, "mag": 5, "mei": 5, "jun": 6, "giu": 6, "jul": 7, "lug": 7,
	"aug": 8, "aou": 8, "ago": 8, "ogo": 8, "sep": 9, "set": 9, "oct": 10, "okt": 10, "ott": 10,
	"nov": 11, "dec": 12, "dez": 12, "dic": 12, "dis": 12,
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
				month := monthNumber(part(format.month))
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
			month = monthLike(letters, slices.Collect(maps.Keys(monthOf)))
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
		n := monthOf[name]
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

func monthNumber(name string) int {
	switch {
	case strings.HasPrefix(name, "juin"):
		return 6
	case strings.HasPrefix(name, "juil"):
		return 7
	}
	return monthOf[name[:3]]
}

// Package dates finds the date of a receipt. All functions are pure: the caller passes the time.
//
// On returns the dates that are printed on a line, in many formats and with misread characters
// (dateformats.go, and months.go for dates with the name of a month). Find scores the dates of a
// reading by their format and by the words around them. Pick chooses one day among the dates of all
// readings, and reports whether day and month could be swapped. A date more than two days after now
// is rejected.
package dates

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Date is a date as printed: a and b are day and month in an order that may be open.
type Date struct {
	year, a, b int
	// ordered is set if a is certainly the day and b the month.
	ordered bool
	score   float64
	at      *printed.Line
	// fromRow is set if the date comes from the recognition of a single row.
	fromRow bool
	// weekday is the weekday on the same line, or nil unless the line names exactly one.
	weekday *time.Weekday
}

// Find returns the dates of one reading. fromRows reports that the lines come from a recognition of
// single rows.
func Find(lines []*printed.Line, fromRows bool) []Date {
	var all []Date
	for i, l := range lines {
		for _, d := range On(l) {
			d.at, d.weekday, d.fromRow = l, weekdayOn(l), fromRows
			d.score += dateScore(l, lines, i)
			all = append(all, d)
		}
	}
	return all
}

type dateCandidate struct {
	day       time.Time
	score     float64
	from      Date
	ambiguous bool
}

// Pick chooses among the dates of all readings. It reports true if day and month could be swapped
// and nothing on lines, the lines of all readings, shows their order.
func Pick(all []Date, lines []*printed.Line, currency string, now time.Time) (printed.Field, bool) {
	monthFirst, known := dayMonthOrder(all, lines, currency)
	out := groupByDay(all, monthFirst, now)
	if len(out) == 0 {
		return printed.Field{}, false
	}
	byScore := func(a, b dateCandidate) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(out, byScore)
	best := out[0]
	confidence := 0.45 + 0.1*best.score
	if len(out) > 1 {
		confidence -= max(0, 0.2-0.15*(best.score-out[1].score))
	}
	ambiguous := best.ambiguous && !known
	if ambiguous {
		confidence = min(confidence, 0.6)
	}
	return printed.Field{
		Value:      best.day.Format(time.DateOnly),
		Confidence: max(0.1, min(confidence, 0.98)),
		At:         best.from.at,
	}, ambiguous
}

// groupByDay resolves the dates and merges the places with the same day. The place with the highest
// score counts in full, every other place adds a little, and rows recognized again add less,
// because they tend to repeat the same error.
func groupByDay(all []Date, monthFirst bool, now time.Time) []dateCandidate {
	var out []dateCandidate
	for _, read := range all {
		day, ambiguous, ok := read.resolve(monthFirst, now)
		if !ok {
			continue
		}
		score := read.score
		// A matching weekday confirms the digits, and another weekday contradicts them.
		if read.weekday != nil && *read.weekday == day.Weekday() {
			score += 0.8
		} else if read.weekday != nil {
			score -= 0.8
		}
		// An older year is more likely misread.
		if now.Year()-day.Year() > 15 {
			score -= 1
		}
		i := slices.IndexFunc(out, func(o dateCandidate) bool { return o.day.Equal(day) })
		if i < 0 {
			out = append(out, dateCandidate{day, score, read, ambiguous})
			continue
		}
		candidate := &out[i]
		if score > candidate.score {
			candidate.from = read
		}
		more := 0.5
		if read.fromRow {
			more = 0.35
		}
		candidate.score = max(score, candidate.score) + more
		candidate.ambiguous = candidate.ambiguous && ambiguous
	}
	return out
}

// HasWord reports whether a line has a word for date, also misspelled or as the end of a compound.
// "rate" is one letter from "date", but belongs to a tax.
func HasWord(words []string) bool {
	return dateWords.Has(words) || slices.ContainsFunc(words, func(w string) bool {
		return strings.HasSuffix(w, "datum") || strings.HasSuffix(w, "date") ||
			w != "rate" && len(w) >= 3 && len(w) <= 5 && printed.Distance(w, "date") <= 1
	})
}

func dateScore(line *printed.Line, lines []*printed.Line, i int) float64 {
	score := 1.0
	if HasWord(line.Tokens) {
		score += 1.5
	} else if i > 0 && dateWords.Has(lines[i-1].Tokens) {
		score += 0.7
	}
	if clock.MatchString(printed.Fold(line.Text)) {
		score += 1
	}
	if otherDates.Has(line.Tokens) {
		score -= 1.5
	}
	// Numbers beside payments and totals are rarely the date of the receipt.
	if line.Kind == printed.KindCash || line.Kind == printed.KindTotal {
		score -= 0.5
	}
	return score + 0.6*(line.MinConfidence(0, len(line.Text))-0.6)
}

// dayMonthOrder decides whether the month comes before the day, by the currency, by other dates on
// the receipt and by signs of an American address. It returns known = false if none of these
// exists; then dollars only suggest the American order.
func dayMonthOrder(all []Date, lines []*printed.Line, currency string) (monthFirst, known bool) {
	// A dollar may be American, Canadian, Australian or Singaporean. The countries of all other
	// currencies put the day first.
	if currency != "" && currency != "USD" && currency != "CAD" {
		return false, true
	}
	first, second := 0, 0
	for _, d := range all {
		switch {
		case d.ordered || d.a == d.b:
		case d.a > 12 && d.b <= 12:
			first++
		case d.b > 12 && d.a <= 12 && d.b <= 31:
			second++
		}
	}
	// Other dates on the receipt have a part above 12, which can only be the day.
	if first != second {
		return second > first, true
	}
	for _, l := range lines {
		if printed.USZip.MatchString(l.Text) || usWords.Has(l.Tokens) {
			return true, true
		}
	}
	return currency == "USD", false
}

// resolve returns the day, and whether day and month could be swapped. It returns ok = false for a
// day that does not exist, that is more than two days in the future, or before 1995: tills did not
// print the words that this package looks for then.
func (d Date) resolve(monthFirst bool, now time.Time) (day time.Time, ambiguous, ok bool) {
	first, second := d.a, d.b
	if !d.ordered {
		ambiguous = first <= 12 && second <= 12 && first != second
		if second > 12 || monthFirst && first <= 12 {
			first, second = second, first
		}
	}
	if tens := d.year / 10 % 10; d.year > now.Year() && d.year < 2100 && (tens == 4 || tens == 7) {
		// A 4 or 7 in a year in the future is a misread 1.
		d.year -= 10 * (tens - 1)
	}
	day = date(d.year, second, first)
	other := date(d.year, first, second)
	if ambiguous && d.weekday != nil && day.Weekday() != other.Weekday() {
		// The weekday matches at most one of the two days.
		if other.Weekday() == *d.weekday {
			first, second, day = second, first, other
		}
		ambiguous = day.Weekday() != *d.weekday
	}
	exists := first >= 1 && second >= 1 && second <= 12 && day.Day() == first
	if !exists || d.year < 1995 || day.After(now.AddDate(0, 0, 2)) {
		if ambiguous {
			// The other order may be valid, for example if this one is in the future.
			swapped := Date{year: d.year, a: second, b: first, ordered: true}
			day, _, ok = swapped.resolve(false, now)
			return day, false, ok
		}
		return time.Time{}, false, false
	}
	return day, ambiguous, true
}

func date(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

package receipt

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// printedDate is a date as it stands on the receipt: a and b are day and month in an order that may be open.
type printedDate struct {
	year, a, b int
	// ordered: a is the day and b the month, beyond doubt.
	ordered bool
	score   float64
	at      *line
	// look: it was read by a look at a single row.
	look bool
	// weekday is what the line says, if it names exactly one.
	weekday *time.Weekday
}

// findDates reads the dates of one reading and weighs them by what stands around them.
func findDates(lines []*line) []printedDate {
	var all []printedDate
	for i, l := range lines {
		for _, d := range datesOn(l) {
			d.at, d.weekday = l, weekdayOn(l)
			d.score += dateScore(l, lines, i)
			all = append(all, d)
		}
	}
	return all
}

// dated is a day with all that speaks for it.
type dated struct {
	day   time.Time
	score float64
	from  printedDate
	open  bool
}

// pickDate chooses among the dates of all readings. The flag tells that day and month could be the other way round.
func pickDate(readings []Reading, currency string, now time.Time) (found, bool) {
	var all []printedDate
	var lines []*line
	for _, r := range readings {
		for _, d := range r.dates {
			d.look = r.rowsOnly
			all = append(all, d)
		}
		lines = append(lines, r.lines...)
	}
	monthFirst, known := order(all, lines, currency)
	out := gather(all, monthFirst, now)
	if len(out) == 0 {
		return found{}, false
	}
	slices.SortStableFunc(out, func(a, b dated) int { return cmp.Compare(b.score, a.score) })
	best := out[0]
	confidence := 0.45 + 0.1*best.score
	if len(out) > 1 {
		confidence -= max(0, 0.2-0.15*(best.score-out[1].score))
	}
	open := best.open && !known
	if open {
		confidence = min(confidence, 0.6)
	}
	return found{value: best.day.Format(time.DateOnly), confidence: max(0.1, min(confidence, 0.98)), at: best.from.at}, open
}

// gather puts what was read of the same day together: the best place counts, every other adds a little, and less where
// several looks at one row may make the same mistake.
func gather(all []printedDate, monthFirst bool, now time.Time) []dated {
	var out []dated
	for _, d := range all {
		day, open, ok := d.resolve(monthFirst, now)
		if !ok {
			continue
		}
		score := d.score
		if d.weekday != nil && *d.weekday == day.Weekday() {
			score += 0.8
		} else if d.weekday != nil {
			score -= 0.8
		}
		if now.Year()-day.Year() > 15 {
			score -= 1
		}
		i := slices.IndexFunc(out, func(o dated) bool { return o.day.Equal(day) })
		if i < 0 {
			out = append(out, dated{day, score, d, open})
			continue
		}
		o := &out[i]
		if score > o.score {
			o.from = d
		}
		more := 0.5
		if d.look {
			more = 0.35
		}
		o.score = max(score, o.score) + more
		o.open = o.open && open
	}
	return out
}

// saysDate forgives more than elsewhere, for there is a date on the line. A rate is a tax's.
func saysDate(words []string) bool {
	return dateWords.has(words) || slices.ContainsFunc(words, func(w string) bool {
		return strings.HasSuffix(w, "datum") || strings.HasSuffix(w, "date") || w != "rate" && len(w) >= 3 && len(w) <= 5 && distance(w, "date") <= 1
	})
}

func dateScore(l *line, lines []*line, i int) float64 {
	score := 1.0
	if saysDate(l.tokens) {
		score += 1.5
	} else if i > 0 && dateWords.has(lines[i-1].tokens) {
		score += 0.7
	}
	if clock.MatchString(fold(l.text)) {
		score += 1
	}
	if otherDates.has(l.tokens) {
		score -= 1.5
	}
	if l.kind == kindCash || l.kind == kindTotal {
		score -= 0.5
	}
	return score + 0.6*(l.certainty(0, len(l.text))-0.6)
}

// order decides which of day and month comes first, by the receipt's currency, its other dates and its country.
func order(all []printedDate, lines []*line, currency string) (monthFirst, known bool) {
	// Dollars are also Canadian, Australian or Singaporean; every other currency's country puts the day first.
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
	if first != second {
		return second > first, true
	}
	for _, l := range lines {
		if usZip.MatchString(l.text) || usWords.has(l.tokens) {
			return true, true
		}
	}
	return currency == "USD", false
}

// resolve gives the day, or false when there is no such day or it lies in the future. A receipt is not older than 1995:
// before that, no till printed the words that are looked for here.
func (d printedDate) resolve(monthFirst bool, now time.Time) (day time.Time, open, ok bool) {
	a, b := d.a, d.b
	if !d.ordered {
		open = a <= 12 && b <= 12 && a != b
		if b > 12 || monthFirst && a <= 12 {
			a, b = b, a
		}
	}
	if tens := d.year / 10 % 10; d.year > now.Year() && d.year < 2100 && (tens == 4 || tens == 7) {
		// A one with a long foot, or a long nose.
		d.year -= 10 * (tens - 1)
	}
	day = time.Date(d.year, time.Month(b), a, 0, 0, 0, 0, time.UTC)
	if other := time.Date(d.year, time.Month(a), b, 0, 0, 0, 0, time.UTC); open && d.weekday != nil && day.Weekday() != other.Weekday() {
		// Only one of the two can be the day that is named.
		if other.Weekday() == *d.weekday {
			a, b, day = b, a, other
		}
		open = day.Weekday() != *d.weekday
	}
	if b < 1 || b > 12 || a < 1 || day.Day() != a || d.year < 1995 || day.After(now.AddDate(0, 0, 2)) {
		if open {
			swapped := printedDate{year: d.year, a: b, b: a, ordered: true}
			day, _, ok = swapped.resolve(false, now)
			return day, false, ok
		}
		return time.Time{}, false, false
	}
	return day, open, true
}

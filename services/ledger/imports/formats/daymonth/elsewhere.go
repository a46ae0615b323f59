package daymonth

import (
	_ "embed" // For period.txt.
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// periodVocabulary has the words of periods.
//
//go:embed period.txt
var periodVocabulary string

// periodWords are words before a date of a period, and joiningWords those between its two dates.
var periodWords, joiningWords = newPeriod()

func newPeriod() (before, between map[string]bool) {
	sets := map[string]map[string]bool{"before": {}, "between": {}}
	for section, word := range written.Phrases(periodVocabulary) {
		sets[section][word] = true
	}
	return sets["before"], sets["between"]
}

// byDates asks dates of the same form outside of the rows.
func byDates(f *File) ([]written.Orders, statement.Evidence) {
	all, example := ^written.Orders(0), ""
	for _, found := range datesIn(f.Around) {
		if !f.isLike(found.date) {
			continue
		}
		orders := found.date.Orders()
		if all &= orders; example == "" && f.excludes(orders) {
			example = found.text
		}
	}
	return f.among(all), statement.Shows("DATES_BY_EXAMPLE", "example", strconv.Quote(example))
}

// maxPeriod is the longest period of a statement.
const maxPeriod = 400 * 24 * time.Hour

// byPeriod asks the period that the lines around the rows state in dates of one order.
func byPeriod(f *File) ([]written.Orders, statement.Evidence) {
	var first, last time.Time
	for _, found := range datesIn(f.Around) {
		day, ok := found.date.Date(found.date.Orders()) // Unless it has several orders.
		if !ok || !found.ofPeriod || found.date.Separator == 0 {
			continue
		}
		if first.IsZero() || day.Before(first) {
			first = day
		}
		if day.After(last) {
			last = day
		}
	}
	if !first.Before(last) || last.Sub(first) > maxPeriod {
		return f.Orders, statement.Evidence{}
	}
	return f.allowed(func(o written.Orders) bool {
			return !slices.ContainsFunc(f.days(o), func(day time.Time) bool {
				return day.Before(first) || day.After(last)
			})
		}), statement.Shows("DATES_BY_PERIOD", "first", first.Format(time.DateOnly),
			"last", last.Format(time.DateOnly))
}

// elsewhere is a date in the lines around the rows.
type elsewhere struct {
	date written.DateText
	text string // As written.
	// label has the words before the date, after the previous one of its cell.
	label []string
	// ofPeriod is set for the first or last day of a period.
	ofPeriod bool
}

// datesIn returns the dates in the cells of lines: "01.05.2026 - 31.05.2026" and "from 1 May 2026".
// A date is of a period if its label says so, or if only a word such as "to" separates it from
// another date of its cell. The label of a cell without words is that of the cell before it.
func datesIn(lines [][]string) []elsewhere {
	var all []elsewhere
	for _, cells := range lines {
		var label []string
		for _, cell := range cells {
			found, rest := datesOf(cell)
			for i := range found {
				d := &found[i]
				if i == 0 && len(d.label) == 0 {
					d.label = label
				}
				if i > 0 && joins(d.label) {
					found[i-1].ofPeriod, d.ofPeriod = true, true
				}
				d.ofPeriod = d.ofPeriod || says(d.label, periodWords)
			}
			if n := len(found); len(rest) > 0 {
				label = rest
			} else if n > 0 {
				label = found[n-1].label
			}
			all = append(all, found...)
		}
	}
	return all
}

// says reports whether one of the words is in a set.
func says(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(word string) bool { return set[word] })
}

// joins reports whether the words between two dates are those of a period: none, or a word such as
// "to".
func joins(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !joiningWords[word] })
}

// datesOf returns the dates in a cell, and the folded words after the last one. Digits are no
// words.
func datesOf(cell string) (found []elsewhere, rest []string) {
	words := wordsOf(cell)
	for i := 0; i < len(words); i++ {
		date, text, n := dateAt(words[i:])
		if n > 0 {
			found = append(found, elsewhere{date: date, text: text, label: rest})
			rest, i = nil, i+n-1
		} else if strings.ContainsFunc(words[i], unicode.IsLetter) {
			rest = append(rest, strings.Fields(written.Fold(words[i]))...)
		}
	}
	return found, rest
}

// wordsOf returns the words of a text. A hyphen separates the dates of a period if their parts have
// other separators.
func wordsOf(text string) []string {
	var words []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return strings.ContainsRune(" ()[]:;,~–—_\u00a0", r)
	}) {
		if strings.ContainsAny(word, "./") {
			words = append(words, strings.Fields(strings.ReplaceAll(word, "-", " "))...)
		} else {
			words = append(words, word)
		}
	}
	return words
}

// dateAt returns the date that the first words are, and their number, or 0.
func dateAt(words []string) (date written.DateText, text string, n int) {
	for _, n := range []int{1, 3} {
		if len(words) < n || !strings.ContainsAny(words[0][:1], "0123456789") && n == 1 {
			continue
		}
		text = strings.Trim(strings.Join(words[:n], " "), ".")
		if date, ok := written.ScanDate(text); ok && date.Orders() != 0 {
			return date, text, n
		}
	}
	return date, "", 0
}

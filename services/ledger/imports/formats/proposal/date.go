package proposal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// order returns the order of the column's dates, and whether it was assumed because the dates do
// not decide it. If all dates are valid in two orders, the evidence is, from strong to weak: the
// rows are sorted in one of the orders only, the locale of the request, and the language and the
// numbers of the file.
func (c *column) order(locale string, daysFirst bool) (order written.Orders, assumed bool) {
	most := c.dates()
	var possible []int
	for i := range c.days {
		if c.days[i] == most {
			possible = append(possible, i)
		}
	}
	all := []written.Orders{written.YMD, written.DMY, written.MDY}
	if len(possible) > 1 && possible[0] == 0 {
		// The years have two digits. They rarely are first.
		if possible, assumed = c.withYear(possible[1:]); assumed || len(possible) == 1 {
			return all[possible[0]], assumed
		}
	}
	if len(possible) == 1 || most == 0 {
		return all[possible[0]], false
	}
	// All dates are valid in both orders. The rows of most files are sorted, in one of the orders
	// only.
	sorted := func(i int) bool { return min(c.up[i], c.down[i]) == 0 && c.up[i]+c.down[i] > 0 }
	if a, b := sorted(possible[0]), sorted(possible[1]); a != b {
		if a {
			return all[possible[0]], !daysFirst || c.example.Separator != '.'
		}
		return all[possible[1]], true
	}
	if order := localeOrder(locale); order != 0 {
		return order, true
	}
	if daysFirst {
		// No language writes the month first between points.
		return written.DMY, c.example.Separator != '.'
	}
	return written.MDY, true
}

// minGap is the span of dates that is longer than that of most files. A wrong order of years and
// days spreads the days of a month over years.
const minGap = 300 * 24 * time.Hour

// withYear decides whether the year is the first part of dates that have other orders, too. It
// returns the best order that remains first, and whether it is assumed.
func (c *column) withYear(others []int) (possible []int, assumed bool) {
	span := func(i int) time.Duration { return c.spanTo[i].Sub(c.spanFrom[i]) }
	shortest := slices.MinFunc(others, func(a, b int) int { return cmp.Compare(span(a), span(b)) })
	first, last := span(0), span(shortest)
	switch {
	case first > max(minGap, 3*last):
		return others, false
	case last > max(minGap, 3*first):
		return []int{0}, false
	case first < last:
		return []int{0}, true
	}
	return []int{shortest}, true
}

// maxDelay is the longest time between two days of one payment, such as those of the order and of
// the posting.
const maxDelay = 366 * 24 * time.Hour

// localeOrder returns the order of a locale's dates, or 0 for ymd and for no locale.
func localeOrder(locale string) written.Orders {
	language, region, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	switch region = strings.ToUpper(region); {
	case language == "":
		return 0
	case region == "US" || language == "en" && (region == "" || region == "PH"):
		return written.MDY
	}
	return written.DMY
}

// warnOfDates adds the warning that another column may have the days of the payments, if no heading
// decides, or that the name of a month is another month in another language.
func (p *Profile) warnOfDates(in *statement.Input, date int, order written.Orders) {
	isNamed := p.rank(date, mapping.FieldDate) == 1
	for i := range p.columns {
		isOther := p.rank(i, mapping.FieldDate) == secondRank || p.isOther(i) ||
			isNamed && p.title(i) != p.title(date)
		if i == date || isOther || p.columns[i].dates()*2 < p.columns[date].filled {
			continue
		}
		_, rows := p.examples(i, func(string) bool { return true })
		rows = slices.DeleteFunc(rows, func(n int) bool {
			a, isDay := written.ParseDate(at(p.sample[n-1], date), order)
			b, ok := written.ParseDate(at(p.sample[n-1], i), order)
			return !isDay || !ok || a.Equal(b)
		})
		isFar := func(n int) bool {
			a, _ := written.ParseDate(at(p.sample[n-1], date), order)
			b, _ := written.ParseDate(at(p.sample[n-1], i), order)
			return a.Sub(b).Abs() > maxDelay
		}
		far := slices.DeleteFunc(slices.Clone(rows), func(n int) bool { return !isFar(n) })
		if len(far)*2 > len(rows) {
			continue // References, such as 440227.
		}
		if len(rows) > 0 {
			in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_DIFFER",
				"column", p.name(date), "other", p.name(i)), rows...)
		}
	}
	if example, rows := p.examples(date, written.HasAmbiguousMonth); example != "" {
		day, _ := written.ParseDate(example, order)
		in.Assume(statement.DateOrderAssumed, statement.Shows("MONTHS_AMBIGUOUS",
			"example", quoted(example), "date", day.Format(time.DateOnly)), rows...)
	}
}

// isTransaction reports whether a row has a date and a number, and does not state a balance. The
// line of a period only has dates.
func isTransaction(cells []string) bool {
	return slices.ContainsFunc(cells, isDate) && slices.ContainsFunc(cells, isAmount) &&
		!slices.ContainsFunc(cells, statesBalance)
}

// isAmount reports whether a cell is a number that is no date. Six or seven digits may be both.
func isAmount(cell string) bool {
	if _, ok := written.ScanNumber(cell); !ok {
		return false
	}
	d, ok := written.ScanDate(cell)
	hasYear := d.Parts[0].Digits == 4 || d.Parts[2].Digits == 4
	return !ok || d.Orders() == 0 || d.Separator == 0 && !hasYear
}

func statesBalance(cell string) bool { return written.StatedBalance(cell) != "" }

// isDate reports whether a cell is a day of the calendar in some order.
func isDate(cell string) bool {
	d, ok := written.ScanDate(cell)
	return ok && d.Orders() != 0
}

// dates returns the number of dates by the order that explains most.
func (c *column) dates() int { return slices.Max(c.days[:]) }

package proposal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
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

// warnOfDates adds the warning that the order of day and month is assumed, that another column may
// have the days of the payments, or both, or that the name of a month is another month in another
// language.
func (p *Profile) warnOfDates(
	in *statement.Input, date int, order written.Orders, assumed bool,
) {
	example, ambiguous := p.examples(date, isDate)
	layout := p.columns[date].example.Layout(order)
	other, apart := p.otherDays(date, order)
	switch {
	case assumed && other != none:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_UNCLEAR", "example", example,
			"layout", layout, "column", p.name(date), "other", p.name(other)), ambiguous...)
	case assumed:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_AMBIGUOUS",
			"example", example, "layout", layout), ambiguous...)
	case other != none:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_DIFFER",
			"column", p.name(date), "other", p.name(other)), apart...)
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

// day is what the heading of a date says about it.
type day int

const (
	unnamedDay day = iota // No heading says that the column has dates.
	someDay               // "Date".
	postedDay             // The bank has booked the payment.
	paidDay               // The user has paid.
	secondDay             // The day of the interest.
)

// dayOf returns what the heading of a column says about its dates.
func (p *Profile) dayOf(i int) day {
	title := folded([]string{headings.SplitCamel(p.title(i))})
	rank := p.rank(i, mapping.FieldDate)
	switch {
	case rank == 0:
		return unnamedDay
	case rank == secondRank:
		return secondDay
	case says(title, "posted"):
		return postedDay
	case says(title, "paid"):
		return paidDay
	case rank > wholeRank:
		return unnamedDay
	}
	return someDay
}

// byDays replaces the day of a posting with the day of the payment if the rows are sorted by the
// latter only: then it is the day by which the bank shows them.
func (p *Profile) byDays(columns Columns, taken map[int]bool) {
	date, ok := columns[mapping.FieldDate]
	if !ok {
		return
	}
	order, _ := p.columns[date].order(p.options.Locale, p.prefersDays())
	for i := range p.columns {
		if taken[i] || !p.mayBePaid(date, i) || !p.columns[i].fits(mapping.FieldDate) ||
			p.isSorted(date, order) || !p.isSorted(i, order) ||
			len(p.daysApart(date, i, order)) == 0 {
			continue
		}
		columns[mapping.FieldDate], taken[date], taken[i] = i, false, true
		return
	}
}

// mayBePaid reports whether the headings say that another column rather has the days of the
// payments.
func (p *Profile) mayBePaid(date, other int) bool {
	chosen, second := p.dayOf(date), p.dayOf(other)
	return second == paidDay && chosen != paidDay || second == someDay && chosen == postedDay
}

// isDayOver reports whether the headings or the order of the rows show that one column has the days
// of the payments, and another one has not.
func (p *Profile) isDayOver(date, other int) bool {
	chosen, second := p.dayOf(date), p.dayOf(other)
	switch {
	case second == secondDay:
		return true
	case chosen == secondDay, p.title(date) == p.title(other), p.mayBePaid(date, other):
		return false
	case chosen == paidDay, chosen == someDay && second == postedDay,
		chosen != unnamedDay && second == unnamedDay:
		return true
	}
	order, _ := p.columns[date].order(p.options.Locale, p.prefersDays())
	return chosen != unnamedDay && p.isSorted(date, order) && !p.isSorted(other, order)
}

// isSorted reports whether the dates of a column rise or fall.
func (p *Profile) isSorted(i int, order written.Orders) bool {
	c := &p.columns[i]
	index := slices.Index([]written.Orders{written.YMD, written.DMY, written.MDY}, order)
	return min(c.up[index], c.down[index]) == 0 && c.up[index]+c.down[index] > 0
}

// otherDays returns another column that may have the days of the payments, with the records in
// which it has other ones, or none.
func (p *Profile) otherDays(date int, order written.Orders) (other int, apart []int) {
	for i := range p.columns {
		if i == date || p.isOther(i) || p.isDayOver(date, i) {
			continue
		}
		if apart = p.daysApart(date, i, order); len(apart) > 0 {
			return i, apart
		}
	}
	return none, nil
}

// daysApart returns the records in which two columns have different days, unless one of them has
// references, such as 440227, or is empty in most rows.
func (p *Profile) daysApart(date, other int, order written.Orders) []int {
	if p.columns[other].dates()*2 < p.columns[date].filled {
		return nil
	}
	var apart []int
	far := 0
	for row, cells := range p.sample[p.heading+1:] {
		a, isDay := written.ParseDate(at(cells, date), order)
		b, ok := written.ParseDate(at(cells, other), order)
		if !isDay || !ok || a.Equal(b) {
			continue
		}
		if apart = append(apart, p.heading+row+2); a.Sub(b).Abs() > maxDelay {
			far++
		}
	}
	if far*2 > len(apart) {
		return nil
	}
	return apart
}

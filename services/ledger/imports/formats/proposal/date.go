package proposal

import (
	"maps"
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/daymonth"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxDelay is the longest time between two days of one payment, such as those of the order and of
// the posting.
const maxDelay = 366 * 24 * time.Hour

// warnOfDates adds the warning that the order of day and month is assumed, that another column may
// have the days of the payments, or both, or that the name of a month is another month in another
// language.
func (p *Profile) warnOfDates(in *statement.Input, date int, order ordering) {
	example, ambiguous := p.examples(date, written.IsDate)
	layout := p.columns[date].example.Layout(order.Orders)
	other, apart := p.otherDays(date, p.orderOf(date).Orders)
	if p.undated.Has(date) {
		example, layout = p.undated.Example, p.undated.Layout
		p.warnOfYears(in, date, other, ambiguous)
	}
	if order.evidence.Code != "" {
		in.Assume(statement.DateOrderInferred, order.evidence.With("layout", layout), ambiguous...)
	}
	month, rows := p.examples(date, written.HasAmbiguousMonth)
	day, _ := written.ParseDate(month, order.Orders)
	switch {
	case month != "" && other != none:
		in.Assume(statement.DateOrderAssumed, statement.Shows("MONTHS_UNCLEAR",
			"example", quoted(month), "date", day.Format(time.DateOnly), "column", p.name(date),
			"other", p.name(other)), rows...)
	case month != "":
		in.Assume(statement.DateOrderAssumed, statement.Shows("MONTHS_AMBIGUOUS",
			"example", quoted(month), "date", day.Format(time.DateOnly)), rows...)
	case order.assumed && other != none:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_UNCLEAR", "example", example,
			"layout", layout, "column", p.name(date), "other", p.name(other)), ambiguous...)
	case order.assumed:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_AMBIGUOUS",
			"example", example, "layout", layout), ambiguous...)
	case other != none:
		in.Assume(statement.DateOrderAssumed, statement.Shows("DATES_DIFFER",
			"column", p.name(date), "other", p.name(other)), apart...)
	}
}

// warnOfYears adds the warning that the year of dates without one is assumed, or what shows it.
func (p *Profile) warnOfYears(in *statement.Input, date, other int, rows []int) {
	d := p.undated
	evidence, code := d.Year.With("example", d.Example).With("layout", d.Layout),
		statement.DateOrderInferred
	if d.YearAssumed {
		code = statement.DateOrderAssumed
		if other != none {
			evidence.Code = "YEARS_UNCLEAR"
			evidence = evidence.With("column", p.name(date)).With("other", p.name(other))
		}
	}
	in.Assume(code, evidence, rows...)
}

// firstTransaction returns the position of the first transaction in the sample.
func (p *Profile) firstTransaction() int {
	return max(0, slices.IndexFunc(p.sample, written.IsTransaction))
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
	order := p.orderOf(date).Orders
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

// isSparse reports whether a column has dates in less than half of the rows in which another one
// has some.
func (p *Profile) isSparse(i int) bool {
	for other := range p.columns {
		c := &p.columns[other]
		if c.fits(mapping.FieldDate) && c.dates() > p.columns[i].dates()*2 && !p.isOther(other) {
			return true
		}
	}
	return false
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
	case chosen == postedDay && second == unnamedDay && p.columns[other].example.Separator != 0 &&
		p.precedes(other, date):
		return false // The other heading may name the payment in words that are not known.
	case chosen == secondDay, p.title(date) == p.title(other), p.mayBePaid(date, other):
		return false
	case chosen == paidDay, chosen == someDay && second == postedDay,
		chosen != unnamedDay && second == unnamedDay:
		return true
	}
	order := p.orderOf(date).Orders
	return chosen != unnamedDay && p.isSorted(date, order) && !p.isSorted(other, order)
}

// precedes reports whether a column has different dates, and none after that of another one in its
// row.
func (p *Profile) precedes(i, other int) bool {
	if len(p.columns[i].values) == 1 {
		return false
	}
	order := p.orderOf(other).Orders
	for _, cells := range p.transactions {
		a, isDay := written.ParseDate(at(cells, i), order)
		b, ok := written.ParseDate(at(cells, other), order)
		if isDay && ok && a.After(b) {
			return false
		}
	}
	return true
}

// isSorted reports whether the dates of a column rise or fall.
func (p *Profile) isSorted(i int, order written.Orders) bool {
	c := &p.columns[i]
	index := slices.Index(allOrders, order)
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

// around returns what the file shows about the order of a column's dates.
func (p *Profile) around(i int, possible []written.Orders) *daymonth.File {
	file := &daymonth.File{Orders: possible, Today: p.options.Today}
	file.Around = append(file.Around, p.sample[:max(p.heading, 0)]...)
	for _, cells := range p.sample[p.heading+1:] {
		if !written.IsTransaction(cells) {
			file.Around = append(file.Around, cells)
		} else if date, ok := written.ScanDate(at(cells, i)); ok {
			file.Dates = append(file.Dates, date)
		}
	}
	for other := range p.columns {
		c := &p.columns[other]
		if other != i && c.fits(mapping.FieldDate) {
			var orders written.Orders
			for _, order := range c.possible() {
				orders |= order
			}
			file.Others = append(file.Others, daymonth.Other{
				Name: p.name(other), Example: c.example, Orders: orders,
			})
		}
	}
	if p.heading >= 0 {
		file.Headings = p.sample[p.heading]
	}
	around := slices.Concat(file.Around...)
	file.Currencies, file.Account = p.namedCurrencies(around), p.holdingIBAN(around)
	return file
}

// namedCurrencies returns the currencies that the file names.
func (p *Profile) namedCurrencies(around []string) []string {
	names := make(map[string]bool)
	for i := range p.columns {
		c := &p.columns[i]
		if c.fits(mapping.FieldCurrency) {
			for value := range c.values {
				names[written.CurrencyOf(value)] = true
			}
		}
		for unit := range c.units {
			names[written.CurrencyOf(unit)] = true
		}
		names[headings.Currency(p.title(i))] = true
	}
	for _, text := range around {
		names[written.CurrencyIn(text)] = true
	}
	delete(names, "")
	return slices.Collect(maps.Keys(names))
}

// holdingIBAN returns the IBAN of the account, from the lines around the rows or from a column with
// one value, or "". All rows may have one counterparty, so the heading must name the account.
func (p *Profile) holdingIBAN(around []string) string {
	for _, text := range around {
		if daymonth.IsIBAN(text) {
			return text
		}
	}
	for i := range p.columns {
		if p.title(i) != "" && p.rank(i, mapping.FieldAccount) == 0 {
			continue
		}
		for value := range p.columns[i].values {
			if len(p.columns[i].values) == 1 && daymonth.IsIBAN(value) {
				return value
			}
		}
	}
	return ""
}

package proposal

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/daymonth"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// amountFields are the fields whose numbers decide the decimal mark.
var amountFields = []string{
	mapping.FieldAmount, mapping.FieldDebit, mapping.FieldCredit, mapping.FieldBalance,
}

// hasAnyMark reports whether a cell is a number that is well-formed with each decimal mark, such as
// 1.234.
func hasAnyMark(cell string) bool {
	n, ok := written.ScanNumber(cell)
	return ok && n.Marks() == written.Dot|written.Comma && strings.ContainsAny(n.Digits, ".,")
}

// marks counts the numbers that only one decimal mark explains, and those that each one does.
type marks struct{ dots, commas, either, points, whole int }

// countMarks counts the numbers of the columns with some fields.
func (p *Profile) countMarks(columns Columns, fields ...string) (m marks) {
	for _, field := range fields {
		if i, ok := columns[field]; ok {
			c := &p.columns[i]
			m.dots, m.commas = m.dots+c.dots, m.commas+c.commas
			m.either, m.points = m.either+c.either, m.points+c.points
			m.whole += c.numbers - c.decimals
		}
	}
	return m
}

// mark returns the decimal mark of the file, and whether it was assumed because the numbers do not
// decide it. A wrong mark would change all amounts by a factor of 1000, so an assumed mark always
// causes a warning. Balances only decide if no amount does: some banks write them in another way.
func (p *Profile) mark(columns Columns, mapped *mapping.Mapping) (mark string, assumed bool) {
	amounts := p.countMarks(columns, amountFields[:3]...)
	all := p.countMarks(columns, amountFields...)
	switch {
	case all.dots+all.commas+all.either == 0:
		return p.usualMark(mapped), false
	case amounts.dots != amounts.commas:
		// The rows with the other mark become invalid. A number with each mark may be one of them.
		mixed := amounts.dots > 0 && amounts.commas > 0
		return markOf(amounts.commas > amounts.dots), mixed && amounts.either > 0
	case amounts.dots == 0 && all.dots != all.commas:
		return markOf(all.commas > all.dots), false
	}
	// Only numbers such as 1.234 or 1,234: other columns, such as rates, write numbers in the same
	// way.
	dots, commas := 0, 0
	for i := range p.columns {
		if c := &p.columns[i]; c.numbers*10 >= c.filled*8 && c.dates()*2 < c.filled {
			dots, commas = dots+c.dots, commas+c.commas
		}
	}
	isComma := all.points > 0
	contradicted := isComma && dots > 0 || !isComma && commas > 0
	if all.dots+all.commas == 0 && p.groups(columns, all) && !contradicted {
		return markOf(isComma), false
	}
	if dots != commas {
		return markOf(commas > dots), true
	}
	return p.usualMark(mapped), true
}

// guessMark returns the decimal mark of all numbers of the file, before all columns are chosen.
func (p *Profile) guessMark(columns Columns) written.Marks {
	var all marks
	for i := range p.columns {
		c := &p.columns[i]
		all.dots, all.commas = all.dots+c.dots, all.commas+c.commas
		all.either, all.points = all.either+c.either, all.points+c.points
		all.whole += c.numbers - c.decimals
	}
	isGrouped := all.dots+all.commas == 0 && all.points > 0 && p.groups(columns, all)
	if all.commas > all.dots || isGrouped {
		return written.Comma
	}
	return written.Dot
}

// groups reports whether the separators in numbers such as 1.234 cannot be decimal marks, because
// no amount has three decimals: its currency has none or, beside numbers without a separator, two,
// or the texts are in a script whose languages never write a decimal comma.
func (p *Profile) groups(columns Columns, m marks) bool {
	if m.points > 0 && m.points < m.either {
		return false
	}
	if m.points == 0 && p.hasDecimalPoints() {
		return true
	}
	codes := []string{p.Currency(columns)}
	if i, ok := columns[mapping.FieldCurrency]; ok {
		if codes = nil; p.columns[i].many {
			return false
		}
		for value := range p.columns[i].values {
			codes = append(codes, written.CurrencyOf(value))
		}
	}
	return len(codes) > 0 && !slices.ContainsFunc(codes, func(code string) bool {
		currency, ok := money.ParseCurrency(code)
		isWhole := currency.Decimals() == 0 || written.IsWhole(code)
		return !ok || currency.Decimals() > 2 || !isWhole && m.whole == 0
	})
}

// pointScripts are the scripts of languages that only write a decimal point.
var pointScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
}

// hasDecimalPoints reports whether most transactions have a text in such a script.
func (p *Profile) hasDecimalPoints() bool {
	found := 0
	for _, cells := range p.transactions {
		if slices.ContainsFunc(cells, func(cell string) bool {
			return !written.IsDate(cell) && strings.ContainsFunc(cell, func(r rune) bool {
				return unicode.In(r, pointScripts...)
			})
		}) {
			found++
		}
	}
	return found > 0 && found*2 >= len(p.transactions)
}

// markOf returns the comma or the point.
func markOf(isComma bool) string {
	if isComma {
		return ","
	}
	return "."
}

// usualMark returns the mark that files with this delimiter and these dates usually have.
func (p *Profile) usualMark(m *mapping.Mapping) string {
	return markOf(m.Delimiter != "," &&
		(strings.HasPrefix(m.DateLayout, "DD.") || m.Delimiter == ";"))
}

// ordering is the order of the dates of a column.
type ordering struct {
	written.Orders

	// assumed is set if nothing in the file decides it. Otherwise, evidence is what does, if the
	// dates of the column do not.
	assumed  bool
	evidence statement.Evidence
}

// orderOf returns the order of a column's dates.
func (p *Profile) orderOf(i int) ordering {
	if found, ok := p.orderings[i]; ok {
		return found
	}
	found := p.findOrder(i)
	if p.orderings == nil {
		p.orderings = make(map[int]ordering)
	}
	p.orderings[i] = found
	return found
}

// allOrders are the orders of dates, as columns count them.
var allOrders = []written.Orders{written.YMD, written.DMY, written.MDY}

// possible returns the orders in which most dates of a column are days of the calendar.
func (c *column) possible() []written.Orders {
	var possible []written.Orders
	for i, order := range allOrders {
		if c.days[i] > 0 && c.days[i] == c.dates() {
			possible = append(possible, order)
		}
	}
	return possible
}

// findOrder decides the order of dates that are valid in several ones by the rest of the file, or
// otherwise assumes one.
func (p *Profile) findOrder(i int) ordering {
	c := &p.columns[i]
	possible := c.possible()
	if len(possible) == 0 {
		return ordering{Orders: written.YMD}
	}
	assumed := false
	if len(possible) > 1 && possible[0] == written.YMD {
		// The years have two digits. They rarely are first.
		var left []written.Orders
		if left, assumed = c.withYear(possible[1:]); !assumed {
			possible = left
		}
	}
	if len(possible) == 1 {
		return ordering{Orders: possible[0]}
	}
	if order, evidence, ok := daymonth.Infer(p.around(i, possible)); ok {
		return ordering{Orders: order, evidence: evidence}
	}
	if assumed {
		possible, _ = c.withYear(possible[1:])
		return ordering{Orders: possible[0], assumed: true}
	}
	return c.guess(possible, p.options.Locale, p.prefersDays())
}

// guess returns the most probable of two orders. The reasons are, from strong to weak: the rows are
// sorted in it only, the locale of the request, and the language and the numbers of the file.
func (c *column) guess(possible []written.Orders, locale string, daysFirst bool) ordering {
	// No language writes the month first between points.
	isAssumed := !daysFirst || c.example.Separator != '.'
	sorted := func(o written.Orders) bool {
		i := slices.Index(allOrders, o)
		return min(c.up[i], c.down[i]) == 0 && c.up[i]+c.down[i] > 0
	}
	if a, b := sorted(possible[0]), sorted(possible[1]); a != b {
		if a {
			return ordering{Orders: possible[0], assumed: isAssumed}
		}
		return ordering{Orders: possible[1], assumed: true}
	}
	if order := daymonth.OfLocale(locale); order != 0 {
		return ordering{Orders: order, assumed: true}
	}
	if daysFirst {
		return ordering{Orders: written.DMY, assumed: isAssumed}
	}
	return ordering{Orders: written.MDY, assumed: true}
}

// minGap is the span of dates that is longer than that of most files. A wrong order of years and
// days spreads the days of a month over years.
const minGap = 300 * 24 * time.Hour

// withYear decides whether the year is the first part of dates that have other orders, too. It
// returns the best order that remains first, and whether it is assumed.
func (c *column) withYear(others []written.Orders) (possible []written.Orders, assumed bool) {
	span := func(o written.Orders) time.Duration {
		i := slices.Index(allOrders, o)
		return c.spanTo[i].Sub(c.spanFrom[i])
	}
	shortest := slices.MinFunc(others, func(a, b written.Orders) int {
		return cmp.Compare(span(a), span(b))
	})
	first, last := span(written.YMD), span(shortest)
	switch {
	case first > max(minGap, 3*last):
		return others, false
	case last > max(minGap, 3*first):
		return []written.Orders{written.YMD}, false
	case first < last:
		return []written.Orders{written.YMD}, true
	}
	return []written.Orders{shortest}, true
}

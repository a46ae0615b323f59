package proposal

import (
	"slices"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/internal/money"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
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
			return !isDate(cell) && strings.ContainsFunc(cell, func(r rune) bool {
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

package proposal

import (
	"slices"
	"strings"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Columns holds the columns of a proposal by field. A missing field has no entry.
type Columns map[string]int

// Propose returns the mapping of a CSV file after its last row, and adds the warnings of its
// guesses.
func (p *Profile) Propose(in *statement.Input, delimiter string) mapping.Mapping {
	p.decide()
	m := mapping.Mapping{
		Format: statement.CSV, Delimiter: delimiter, Encoding: "utf-8", AmountMode: mapping.Signed,
		DecimalMark: ".", DateLayout: "YYYY-MM-DD",
	}
	if in.Options.Encoding != "" {
		m.Encoding = in.Options.Encoding
	}
	if m.Header = p.heading >= 0; m.Header {
		m.SkipRows = p.heading
	}
	columns := p.choose()
	p.ProposeForms(in, &m, columns)
	var guess assumed
	if p.Witness, guess = p.amountMode(&m, columns); p.Witness == "" && guess.column != none {
		p.warnOfSign(in, guess)
	}
	p.warnOfAmount(in, columns)
	p.warnOfStatus(in, &m, columns)
	p.setCurrency(in, &m, columns)
	for _, field := range mapping.Fields {
		if i, ok := columns[field]; ok {
			m.Columns = append(m.Columns, mapping.Column{Index: i, Field: field})
		}
	}
	m.Columns = append(m.Columns, p.furtherTexts(columns)...)
	slices.SortFunc(m.Columns, func(a, b mapping.Column) int { return a.Index - b.Index })
	m.Empty = p.unfilled()
	p.compare(in, &m)
	return m
}

// isZero reports whether a column has no number other than 0.
func (c *column) isZero() bool { return c.numbers == c.filled && c.negative+c.positive == 0 }

// unfilled returns the columns without a value other than 0.
func (p *Profile) unfilled() []int {
	var found []int
	for i := range p.columns {
		if p.columns[i].isZero() {
			found = append(found, i)
		}
	}
	// Rows may end before their empty cells.
	for i := len(p.columns); p.heading >= 0 && i < len(p.sample[p.heading]); i++ {
		found = append(found, i)
	}
	return found
}

// compare adds a warning if the balances of the sample contradict the amounts as the mapping reads
// them.
func (p *Profile) compare(in *statement.Input, m *mapping.Mapping) {
	reader, err := m.Compile()
	if err != nil {
		return // The user must complete the mapping first.
	}
	var check mapping.Check
	for i, cells := range p.sample {
		record := statement.Record{N: i + 1, Cells: cells}
		reader.Row(&record)
		check.Add(&record)
		if !record.Skip && record.Problem == "" && record.Currency == "" {
			in.Warn(statement.CurrencyAssumed)
		}
	}
	if a, ok := check.Mismatch(m.MayOwe()); ok {
		in.Assume(a.Code, a.Evidence, a.Rows...)
	}
	_, mayBeCard := p.isCard()
	if a, ok := check.Debt(); ok && !mayBeCard && p.Witness != ByTexts {
		in.Assume(a.Code, a.Evidence, a.Rows...)
	}
}

// ProposeForms sets the layout of the dates and the decimal mark of a mapping, and adds the
// warnings of these guesses.
func (p *Profile) ProposeForms(in *statement.Input, m *mapping.Mapping, columns Columns) {
	if i, ok := columns[mapping.FieldDate]; ok && p.columns[i].dates() > 0 {
		order := p.orderOf(i)
		m.DateLayout = p.columns[i].example.Layout(order.Orders)
		if d := p.undated; d.Has(i) {
			m.DateLayout, m.DatesUntil = d.Layout, d.Until.Format(time.DateOnly)
			order = ordering{Orders: d.Order, assumed: d.Assumed, evidence: d.Shown}
		}
		p.warnOfDates(in, i, order)
	}
	var assumed bool
	if m.DecimalMark, assumed = p.mark(columns, m); assumed {
		var example string
		var rows []int
		for _, field := range amountFields {
			if i, ok := columns[field]; ok && len(rows) == 0 {
				example, rows = p.examples(i, hasAnyMark)
			}
		}
		in.Assume(statement.DecimalsAssumed, statement.Shows("DECIMALS_AMBIGUOUS",
			"example", example, "mark", quoted(m.DecimalMark)), rows...)
	}
}

// examples returns the first cell of a column in the sample that fits, and the numbers of the
// records with such cells.
func (p *Profile) examples(i int, fits func(cell string) bool) (first string, records []int) {
	for row, cells := range p.sample[p.heading+1:] {
		if cell := at(cells, i); fits(cell) {
			if records = append(records, p.heading+row+2); first == "" {
				first = statement.Cut(cell, statement.MaxName)
			}
		}
	}
	return first, records
}

// title returns the heading of a column. Of one in two lines, it is the line that says more: both
// together, or otherwise the second one.
func (p *Profile) title(i int) string {
	if p.heading < 0 {
		return ""
	}
	first, second := at(p.sample[p.heading], i), at(p.second, i)
	if second == "" {
		return first
	}
	whole := both(first, second)
	if isWhole(second) && (isSide(second) || !isWhole(whole)) {
		return second
	}
	return whole
}

// isSide reports whether a heading names debits or credits. Below "Amount", it says more than both
// lines together.
func isSide(title string) bool {
	field := headings.Meanings(title)[0].Field
	return field == mapping.FieldDebit || field == mapping.FieldCredit
}

// both returns the two lines of a heading together.
func both(first, second string) string { return strings.TrimSpace(first + " " + second) }

// isWhole reports whether the vocabulary has a heading as a whole.
func isWhole(title string) bool {
	m := headings.Meanings(title)
	return len(m) > 0 && m[0].Rank <= wholeRank
}

// fits reports whether the contents of a column can have a field. The shares are lower than 100 %
// because rows may have empty or unusual cells. So a heading alone never assigns a column, for
// example "Date" over a column of texts.
func (c *column) fits(field string) bool {
	switch field {
	case mapping.FieldDate:
		return c.dates() > 0 && c.dates()*10 >= c.filled*4
	case mapping.FieldAmount, mapping.FieldBalance:
		return c.numbers > 0 && c.numbers*10 >= c.amounts()*6
	case mapping.FieldDebit, mapping.FieldCredit:
		return c.numbers*10 >= c.amounts()*6
	case mapping.FieldCurrency:
		// Codes that Coffer does not know make their rows invalid. Without the column, their
		// amounts would be in the currency of the wallet.
		return c.filled > 0 && (c.codes*10 >= c.filled*8 ||
			!c.many && c.all(func(s string) bool { return written.CurrencyOf(s) != "" }))
	case mapping.FieldType:
		return c.filled > 0 && !c.many &&
			c.all(func(s string) bool { _, known := written.SignOf(s); return known })
	case mapping.FieldStatus:
		known, _ := c.statuses()
		return known > 0 && known*10 >= c.filled*6
	case mapping.FieldAccount:
		return c.filled > 0 && !c.many && (len(c.values) <= 3 || len(c.values)*10 <= c.filled)
	}
	return c.filled > 0
}

func (c *column) all(ok func(string) bool) bool {
	for value := range c.values {
		if !ok(value) {
			return false
		}
	}
	return len(c.values) > 0
}

// choose assigns columns to fields by their headings, and then by their contents. The order of the
// fields matters: a field with an unmistakable heading takes its column before a field whose
// heading has several meanings.
func (p *Profile) choose() Columns {
	p.describe()
	columns := make(Columns)
	taken := make(map[int]bool)
	p.byStatus(columns, taken)
	for _, field := range []string{
		mapping.FieldDate, mapping.FieldBalance, mapping.FieldDebit, mapping.FieldCredit,
		mapping.FieldAmount, mapping.FieldCurrency, mapping.FieldType, mapping.FieldAccount,
		mapping.FieldCategory, mapping.FieldTags,
	} {
		if i := p.best(field, taken, columns); i >= 0 {
			columns[field], taken[i] = i, true
		}
	}
	p.namedTexts(columns, taken)
	p.byDate(columns, taken)
	p.byDays(columns, taken)
	p.byBalance(columns, taken)
	p.byPair(columns, taken)
	p.byContents(columns, taken)
	p.byCurrency(columns, taken)
	p.ofHeading(columns)
	p.byFees(columns, taken)
	p.byType(columns, taken)
	p.byTypes(columns, taken)
	p.otherTexts(columns, taken)
	return columns
}

// secondRank is the rank of the headings of second dates, such as the value date.
const secondRank = 2

// best returns the column with the best heading for a field, or -1.
func (p *Profile) best(field string, taken map[int]bool, columns Columns) int {
	best, bestRank := -1, 1<<30
	for i := range p.columns {
		if taken[i] || !p.columns[i].fits(field) &&
			!(field == mapping.FieldAccount && p.fromApplication()) &&
			!(field == mapping.FieldType && p.directs(i, columns)) {
			continue
		}
		if field == mapping.FieldDate && p.isSparse(i) {
			continue
		}
		if field == mapping.FieldAmount && p.columns[i].isZero() {
			continue // Another column may have the amounts of another currency.
		}
		for _, h := range headings.Meanings(p.title(i)) {
			if h.Field != field || field == mapping.FieldTags && !p.hasLabels(i, h.Rank) {
				continue
			}
			rank := h.Rank * 1000
			// A column in which many dates are missing is a second date, such as the day of the
			// settlement.
			if field == mapping.FieldDate || field == mapping.FieldAmount {
				rank += 300 * (p.rowsBelow() - p.columns[i].filled) / max(1, p.rowsBelow())
			}
			// Of a second date, such as the day of the interest, the vocabulary has the name.
			if field == mapping.FieldDate && h.Rank == secondRank {
				rank += 1000 * headings.Loose
			}
			if amount, ok := columns[mapping.FieldAmount]; ok && field == mapping.FieldCurrency {
				rank += distance(amount, i)
			}
			if rank < bestRank {
				best, bestRank = i, rank
			}
			break
		}
	}
	return best
}

func (p *Profile) rowsBelow() int { return p.rows - p.heading - 1 }

// distance returns how far a currency's column is from the amount's. Columns after the amount are
// nearer.
func distance(amount, i int) int {
	if i > amount {
		return i - amount
	}
	return 2 * (amount - i)
}

// isOther reports whether a heading names a number that is no amount, such as an exchange rate.
func (p *Profile) isOther(i int) bool {
	m := headings.Meanings(p.title(i))
	return len(m) > 0 && (m[0].Field == headings.Other || m[0].Field == mapping.FieldFee)
}

package proposal

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// directs reports whether a column shows the direction of amounts without signs, although some of
// its values are unknown. Their rows become invalid, which the user sees.
func (p *Profile) directs(index int, columns Columns) bool {
	amount, ok := columns[mapping.FieldAmount]
	column := &p.columns[index]
	if !ok || p.columns[amount].negative > 0 || column.many {
		return false
	}
	known := 0
	for value, n := range column.values {
		if _, ok := written.SignOf(value); ok {
			known += n
		}
	}
	return known > 0 &&
		(p.rank(index, mapping.FieldType) == 1 || column.signs() == 2 && known*2 >= column.filled)
}

// maxUnits is the maximum number of units of a column of amounts that no heading names.
const maxUnits = 3

// pick assigns the column with the highest score to a field that no heading names.
func (p *Profile) pick(
	columns Columns, taken map[int]bool, field string, score func(i int, c *column) int,
) {
	if _, ok := columns[field]; ok {
		return
	}
	best, bestScore := -1, 0
	for i := range p.columns {
		if taken[i] || p.isOther(i) {
			continue
		}
		if s := score(i, &p.columns[i]); s > bestScore {
			best, bestScore = i, s
		}
	}
	if best >= 0 {
		columns[field], taken[best] = best, true
	}
}

// byDate assigns a date that no heading names.
func (p *Profile) byDate(columns Columns, taken map[int]bool) {
	p.pick(columns, taken, mapping.FieldDate, func(i int, c *column) int {
		// Six digits may be a number of the bank.
		if !c.fits(mapping.FieldDate) || c.example.Separator == 0 && c.long*2 < c.dates() {
			return 0
		}
		return c.dates()*1000 - i
	})
}

// byContents assigns an amount and a currency that the headings do not name.
func (p *Profile) byContents(columns Columns, taken map[int]bool) {
	_, debit := columns[mapping.FieldDebit]
	_, credit := columns[mapping.FieldCredit]
	if !debit && !credit {
		p.pick(columns, taken, mapping.FieldAmount, func(i int, c *column) int {
			// "Shop 7" and "Bus 12" look like amounts with many currencies.
			if !c.fits(mapping.FieldAmount) || c.dates()*2 > c.filled || len(c.units) > maxUnits {
				return 0
			}
			score := c.numbers*4 + c.decimals*8 - i
			if c.negative > 0 {
				score += c.numbers * 16
			}
			return score
		})
	}
	amount, ok := columns[mapping.FieldAmount]
	if !ok {
		amount = columns[mapping.FieldCredit]
	}
	p.pick(columns, taken, mapping.FieldCurrency, func(i int, c *column) int {
		if c.filled == 0 || c.currencies*10 < c.filled*9 {
			return 0
		}
		return 10_000 - distance(amount, i)
	})
}

// byType assigns the column that says whether an amount is money out, if no amount has a sign and
// no heading names it.
func (p *Profile) byType(columns Columns, taken map[int]bool) {
	amount, ok := columns[mapping.FieldAmount]
	if !ok || p.columns[amount].negative > 0 {
		return
	}
	p.pick(columns, taken, mapping.FieldType, func(i int, c *column) int {
		short := c.all(func(s string) bool { return len([]rune(s)) <= 3 })
		if !c.fits(mapping.FieldType) || c.filled < p.columns[amount].filled ||
			c.signs() < 2 && !short {
			return 0
		}
		return 10_000 - distance(amount, i)
	})
}

// applicationHeadings are headings that GnuCash and Actual write, and no bank.
var applicationHeadings = map[string]bool{
	"full category path": true, "voller kategorie-pfad": true, "split amount": true,
}

// fromApplication reports whether the file is an export of all accounts of a finance application.
// Its column of accounts may have as many values as the application has accounts. In the file of a
// bank, such a column has the accounts of the other parties.
func (p *Profile) fromApplication() bool {
	return p.heading >= 0 && slices.ContainsFunc(p.sample[p.heading], func(title string) bool {
		return applicationHeadings[written.Fold(title)]
	})
}

// labeledCurrency returns the currency that the lines before the rows name after a label, such as
// "Moneda: Q", and its name.
func (p *Profile) labeledCurrency() (code, text string) {
	for _, cells := range p.sample[:max(p.heading, 0)] {
		for i, cell := range cells {
			label, value, found := strings.Cut(cell, ":")
			if value = strings.TrimSpace(value); !found || value == "" {
				value = at(cells, i+1)
			}
			m := headings.Meanings(label)
			if len(m) == 0 || m[0].Field != mapping.FieldCurrency || m[0].Rank > wholeRank {
				continue
			}
			if code = written.CurrencyOf(value); code != "" {
				return code, value
			}
		}
	}
	return "", ""
}

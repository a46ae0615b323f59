package formats

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// chosen holds the columns of a proposal by field. A missing field has no entry.
type chosen map[string]int

// propose fills the facts' mapping and warnings from the profile.
func (p *profile) propose(in *input, delimiter string) {
	p.decide()
	m := &Mapping{Format: CSV, Delimiter: delimiter, Encoding: "utf-8", AmountMode: Signed, DecimalMark: ".", DateLayout: "YYYY-MM-DD"}
	if in.options.Encoding != "" {
		m.Encoding = in.options.Encoding
	}
	if m.Header = p.heading >= 0; m.Header {
		m.SkipRows = p.heading
	}
	columns := p.choose()
	if i, ok := columns[FieldDate]; ok {
		order, assumed := p.columns[i].order(in.options.Locale, p.prefersDays())
		m.DateLayout = p.columns[i].example.Layout(order)
		if assumed {
			in.warn(DateOrderAssumed)
		}
	}
	mark, assumed := p.mark(columns, m)
	m.DecimalMark = mark
	if assumed {
		in.warn(DecimalsAssumed)
	}
	p.amountMode(m, columns)
	if m.AmountMode == Signed && p.contradicted(columns, markNamed(mark)) {
		in.warn(BalanceMismatch)
	}
	m.Currency = p.currency(columns)
	if _, ok := columns[FieldCurrency]; !ok && m.Currency == "" {
		in.warn(CurrencyAssumed)
	}
	for _, field := range Fields {
		if i, ok := columns[field]; ok {
			m.Columns = append(m.Columns, Column{Index: i, Field: field})
		}
	}
	slices.SortFunc(m.Columns, func(a, b Column) int { return a.Index - b.Index })
	in.facts.Mapping = m
}

// title returns the heading of a column, or "".
func (p *profile) title(i int) string {
	if p.heading < 0 || i >= len(p.sample[p.heading]) {
		return ""
	}
	return p.sample[p.heading][i]
}

// fits reports whether the contents of a column can have a field. The shares are lower than 100 % because rows may have empty or unusual
// cells. So a heading alone never assigns a column, for example "Date" over a column of texts.
func (c *column) fits(field string) bool {
	switch field {
	case FieldDate:
		return c.dates() > 0 && c.dates()*10 >= c.filled*4
	case FieldAmount, fieldBalance:
		return c.numbers > 0 && c.numbers*10 >= c.filled*6
	case FieldDebit, FieldCredit:
		return c.filled == 0 || c.numbers*10 >= c.filled*6
	case FieldCurrency:
		return c.filled > 0 && (c.currencies*10 >= c.filled*8 || !c.many && c.all(func(s string) bool { return written.CurrencyOf(s) != "" }))
	case FieldType:
		return c.filled > 0 && !c.many && c.all(func(s string) bool { _, known := written.SignOf(s); return known })
	case FieldAccount:
		return c.filled > 0 && !c.many && (len(c.values) <= 3 || len(c.values)*10 <= c.filled)
	}
	return c.filled > 0
}

// all reports whether all counted values meet a condition.
func (c *column) all(ok func(string) bool) bool {
	for value := range c.values {
		if !ok(value) {
			return false
		}
	}
	return len(c.values) > 0
}

// choose assigns columns to fields by their headings, and then by their contents. The order of the fields matters: a field with an
// unmistakable heading takes its column before a field whose heading has several meanings.
func (p *profile) choose() chosen {
	columns := make(chosen)
	taken := make(map[int]bool)
	for _, field := range []string{
		FieldDate, fieldBalance, FieldDebit, FieldCredit, FieldAmount, FieldCurrency, FieldType, FieldAccount,
		FieldCategory, FieldTags, FieldPayee, FieldDescription,
	} {
		if i := p.best(field, taken, columns); i >= 0 {
			columns[field], taken[i] = i, true
		}
	}
	p.byBalance(columns, taken)
	p.byContents(columns, taken)
	p.byType(columns, taken)
	p.texts(columns, taken)
	return columns
}

// best returns the column with the best heading for a field, or -1.
func (p *profile) best(field string, taken map[int]bool, columns chosen) int {
	best, bestRank := -1, 1<<30
	for i := range p.columns {
		if taken[i] || !p.columns[i].fits(field) {
			continue
		}
		for _, h := range meanings(p.title(i)) {
			if h.field != field {
				continue
			}
			rank := h.rank * 1000
			// A column in which many dates are missing is a second date, such as the day of the settlement.
			if field == FieldDate || field == FieldAmount {
				rank += 300 * (p.rowsBelow() - p.columns[i].filled) / max(1, p.rowsBelow())
			}
			// "Details" may have texts, or one of the values DEBIT and CREDIT.
			if (field == FieldPayee || field == FieldDescription) && p.columns[i].fits(FieldType) {
				rank += 500
			}
			if amount, ok := columns[FieldAmount]; ok && field == FieldCurrency {
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

// rowsBelow returns the number of rows below the heading.
func (p *profile) rowsBelow() int { return p.rows - p.heading - 1 }

// distance returns how far a currency's column is from the amount's. Columns after the amount are nearer.
func distance(amount, i int) int {
	if i > amount {
		return i - amount
	}
	return 2 * (amount - i)
}

// byContents assigns a date, an amount and a currency that the headings do not name.
func (p *profile) byContents(columns chosen, taken map[int]bool) {
	pick := func(field string, score func(i int, c *column) int) {
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
	pick(FieldDate, func(i int, c *column) int {
		if !c.fits(FieldDate) || c.example.Separator == 0 && c.long == 0 {
			return 0
		}
		return c.dates()*1000 - i
	})
	_, debit := columns[FieldDebit]
	_, credit := columns[FieldCredit]
	if !debit && !credit {
		pick(FieldAmount, func(i int, c *column) int {
			if !c.fits(FieldAmount) || c.dates()*2 > c.filled {
				return 0
			}
			score := c.numbers*4 + c.decimals*8 - i
			if c.negative > 0 {
				score += c.numbers * 16
			}
			return score
		})
	}
	amount, ok := columns[FieldAmount]
	if !ok {
		amount = columns[FieldCredit]
	}
	pick(FieldCurrency, func(i int, c *column) int {
		if c.filled == 0 || c.currencies*10 < c.filled*9 {
			return 0
		}
		return 10_000 - distance(amount, i)
	})
}

// byType assigns the column that says whether an amount is money out, if no amount has a sign and no heading names it.
func (p *profile) byType(columns chosen, taken map[int]bool) {
	amount, ok := columns[FieldAmount]
	if _, has := columns[FieldType]; has || !ok || p.columns[amount].negative > 0 {
		return
	}
	best := -1
	for i := range p.columns {
		c := &p.columns[i]
		if taken[i] || !c.fits(FieldType) || c.filled < p.columns[amount].filled {
			continue
		}
		short := c.all(func(s string) bool { return len([]rune(s)) <= 3 })
		if both := c.signs() == 2; (both || short) && (best < 0 || distance(amount, i) < distance(amount, best)) {
			best = i
		}
	}
	if best >= 0 {
		columns[FieldType], taken[best] = best, true
	}
}

// signs returns the number of different signs that the values of a column mean.
func (c *column) signs() int {
	out, in := 0, 0
	for value := range c.values {
		if negative, _ := written.SignOf(value); negative {
			out = 1
		} else {
			in = 1
		}
	}
	return out + in
}

// isOther reports whether a heading names something that is not a field, such as an exchange rate.
func (p *profile) isOther(i int) bool {
	m := meanings(p.title(i))
	return len(m) > 0 && m[0].field == fieldOther
}

// texts assigns the longest texts to payee and description if no heading names them.
func (p *profile) texts(columns chosen, taken map[int]bool) {
	_, payee := columns[FieldPayee]
	_, description := columns[FieldDescription]
	if payee || description {
		return
	}
	best, bestLength := -1, 0
	for i := range p.columns {
		c := &p.columns[i]
		if taken[i] || c.dates()*2 > c.filled || c.numbers*2 > c.filled || c.filled == 0 {
			continue
		}
		length := 0
		for _, cells := range p.sample[p.heading+1:] {
			if i < len(cells) {
				length += len(cells[i])
			}
		}
		if length > bestLength {
			best, bestLength = i, length
		}
	}
	if best >= 0 {
		columns[FieldDescription], taken[best] = best, true
	}
}

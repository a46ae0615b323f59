package proposal

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
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

// mark returns the decimal mark of the file, and whether it was assumed because the numbers do not
// decide it. A wrong mark would change all amounts by a factor of 1000, so an assumed mark always
// causes a warning.
func (p *Profile) mark(columns Columns, mapped *mapping.Mapping) (mark string, assumed bool) {
	var dots, commas, either int
	for _, field := range amountFields {
		if i, ok := columns[field]; ok {
			dots += p.columns[i].dots
			commas += p.columns[i].commas
			either += p.columns[i].either
		}
	}
	if dots == 0 && commas == 0 && either == 0 {
		return p.usualMark(mapped), false
	}
	if dots != commas {
		return markOf(commas > dots), false
	}
	// Only numbers such as 1.234 or 1,234: other columns, such as rates, write numbers in the same
	// way.
	for i := range p.columns {
		if c := &p.columns[i]; c.numbers*10 >= c.filled*8 && c.dates()*2 < c.filled {
			dots, commas = dots+c.dots, commas+c.commas
		}
	}
	if dots != commas {
		return markOf(commas > dots), true
	}
	return p.usualMark(mapped), true
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

// prefersDays reports whether a file with ambiguous dates probably writes the day first: its
// currency or its numbers are not American.
func (p *Profile) prefersDays() bool {
	var dots, commas int
	for i := range p.columns {
		c := &p.columns[i]
		if c.numbers*10 < c.filled*8 {
			continue
		}
		dots, commas = dots+c.dots, commas+c.commas
	}
	for i := range p.columns {
		c := &p.columns[i]
		if c.values["USD"] > 0 {
			return false
		}
		// A slash is the only separator of American dates.
		if c.dates() > 0 && c.example.Separator != '/' && c.example.Separator != '-' {
			return true
		}
	}
	if commas > dots ||
		p.values("EUR", "GBP", "CHF", "AUD", "INR", "NZD", "BRL", "PLN", "DKK", "NOK") {
		return true
	}
	return p.foreign()
}

// values reports whether a column has one of the values.
func (p *Profile) values(values ...string) bool {
	for i := range p.columns {
		for _, v := range values {
			if p.columns[i].values[v] > 0 {
				return true
			}
		}
	}
	return false
}

// foreign reports whether a heading is not in English, or names a currency that is not American.
func (p *Profile) foreign() bool {
	if p.heading < 0 {
		return false
	}
	for _, title := range p.sample[p.heading] {
		if code := written.CurrencyIn(title); code != "" && code != "USD" || strings.ContainsFunc(
			title, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) },
		) {
			return true
		}
		for word := range strings.FieldsSeq(written.Fold(title)) {
			switch word {
			case "datum", "fecha", "data", "dato", "buchungstag", "betrag", "importe", "montant",
				"bedrag", "importo", "valor", "kwota", "belopp", "paid", "saldo", "solde":
				return true
			}
		}
	}
	return false
}

// rankOf returns the rank of a column's heading as an amount. The rank 1 is an amount of the
// account itself, such as a net amount.
func (p *Profile) rankOf(i int) int {
	return cmp.Or(p.rank(i, mapping.FieldAmount), 1<<30)
}

// grossRank is the rank of the headings of gross amounts.
const grossRank = 3

// warnOfAmount adds the warning that another column may have the amounts, or that fees may lower
// them, if neither balances nor headings decide.
func (p *Profile) warnOfAmount(in *statement.Input, columns Columns) {
	amount, ok := columns[mapping.FieldAmount]
	fees := p.named(mapping.FieldFee)
	others := p.named(mapping.FieldAmount)
	rank := 1 << 30
	if ok {
		rank = p.rankOf(amount)
	}
	unnamed := p.amountsByContents(columns)
	table := p.newTable(withoutStatus(columns), slices.Concat(others, unnamed, fees, []int{amount}))
	unnamed = slices.DeleteFunc(unnamed, func(i int) bool {
		// Beside a column that a heading names, amounts are equal in most rows.
		return rank == 1 || rank < 1<<30 && table.equal(amount, i)*2 < len(table.records)
	})
	// Of a net amount, a tax may be missing instead of a fee.
	isTaxed := len(fees) == 0 && rank == 1
	others = slices.DeleteFunc(others, func(i int) bool {
		return p.rankOf(i) > rank && (!isTaxed || p.rankOf(i) != grossRank)
	})
	if ok && rank == 1<<30 && p.proof == nil {
		p.warnOfUnread(in, amount)
	}
	if ok && p.proof == nil && !p.settled {
		for _, i := range append(others, unnamed...) {
			if rows := table.different(amount, i); len(rows) > 0 {
				in.Assume(statement.AmountAssumed, statement.Shows("AMOUNTS_DIFFER",
					"column", p.name(amount), "other", p.name(i)), rows...)
				return
			}
		}
	}
	if _, lowered := columns[mapping.FieldFee]; lowered || p.proof == nil && rank == 1 {
		return
	}
	for _, i := range fees {
		if rows := table.nonzero(i); len(rows) > 0 && p.mayLower(i) {
			in.Assume(statement.AmountAssumed,
				statement.Shows("FEES_UNPROVEN", "column", p.name(i)), rows...)
			return
		}
	}
}

// warnOfUnread adds the warning that another column seems to have amounts that cannot be read. No
// heading names the column of the amounts.
func (p *Profile) warnOfUnread(in *statement.Input, amount int) {
	for i := range p.columns {
		if c := &p.columns[i]; i != amount && c.unread > 0 && c.unread*2 >= c.filled {
			example, rows := p.examples(i, isUnread)
			in.Assume(statement.AmountAssumed, statement.Shows("AMOUNTS_UNREAD",
				"column", p.name(amount), "other", p.name(i), "value", quoted(example)), rows...)
			return
		}
	}
}

// amountsByContents returns the columns that have different numbers with decimals, but neither a
// field nor a heading of amounts.
func (p *Profile) amountsByContents(columns Columns) []int {
	taken := make(map[int]bool)
	for _, i := range columns {
		taken[i] = true
	}
	return slices.DeleteFunc(p.numeric(taken), func(i int) bool {
		isAmount := func(m headings.Meaning) bool {
			return slices.Contains(amountFields, m.Field) && m.Rank < headings.Loose
		}
		c := &p.columns[i]
		isConstant := c.filled > 1 && len(c.values) == 1
		return c.decimals == 0 || isConstant ||
			slices.ContainsFunc(headings.Meanings(p.title(i)), isAmount)
	})
}

// mayLower reports whether the balances do not show if a fee lowers them.
func (p *Profile) mayLower(fee int) bool {
	if p.proof == nil {
		return true
	}
	with := *p.proof
	with.fee = fee
	measured, _ := with.table.measure(with)
	return measured.matches == p.proof.matches
}

// hasPlus reports whether a positive amount of a column has an explicit sign.
func (p *Profile) hasPlus(amount int) bool {
	marked, _ := p.marks(amount)
	return marked > 0
}

// marksIncome reports whether the amounts of a column are money out unless they are marked, as in
// statements of cards.
func (p *Profile) marksIncome(amount int) bool {
	marked, bare := p.marks(amount)
	return p.columns[amount].negative == 0 && marked > 0 && bare > 0
}

// marks counts the positive amounts of a column with and without an explicit sign.
func (p *Profile) marks(amount int) (marked, bare int) {
	for _, cells := range p.sample[p.heading+1:] {
		n, ok := written.ScanNumber(at(cells, amount))
		switch {
		case !ok || n.Negative || !strings.ContainsAny(n.Digits, "123456789"):
		case n.Signed:
			marked++
		default:
			bare++
		}
	}
	return marked, bare
}

package proposal

import (
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// mark returns the decimal mark of the file, and whether it was assumed because the numbers do not
// decide it. A wrong mark would change all amounts by a factor of 1000, so an assumed mark always
// causes a warning.
func (p *Profile) mark(columns Columns, m *mapping.Mapping) (mark string, assumed bool) {
	var dots, commas, either int
	for _, field := range []string{
		mapping.FieldAmount, mapping.FieldDebit, mapping.FieldCredit, headings.Balance,
	} {
		if i, ok := columns[field]; ok {
			dots += p.columns[i].dots
			commas += p.columns[i].commas
			either += p.columns[i].either
		}
	}
	if dots == 0 && commas == 0 && either == 0 {
		return p.usualMark(m), false
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
	return p.usualMark(m), true
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
		for unit := range c.units {
			if unit == "$" {
				return false
			}
		}
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
		if code := written.CurrencyIn(title); code != "" && code != "USD" {
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

// amountMode chooses between a signed amount, an amount with a type, and debit and credit.
func (p *Profile) amountMode(m *mapping.Mapping, columns Columns) {
	amount, hasAmount := columns[mapping.FieldAmount]
	_, hasType := columns[mapping.FieldType]
	_, hasDebit := columns[mapping.FieldDebit]
	_, hasCredit := columns[mapping.FieldCredit]
	switch {
	case hasAmount && p.columns[amount].negative > 0 ||
		hasAmount && !hasType && !(hasDebit && hasCredit):
		delete(columns, mapping.FieldDebit)
		delete(columns, mapping.FieldCredit)
		delete(columns, mapping.FieldType)
	case hasDebit && hasCredit || hasDebit && !hasAmount || hasCredit && !hasAmount:
		m.AmountMode = mapping.DebitCredit
		delete(columns, mapping.FieldAmount)
		delete(columns, mapping.FieldType)
		return
	case hasAmount && hasType:
		m.AmountMode = mapping.TypeColumn
		delete(columns, mapping.FieldDebit)
		delete(columns, mapping.FieldCredit)
		return
	}
	if !hasAmount {
		return
	}
	if balance, ok := columns[headings.Balance]; ok {
		mark := markNamed(m.DecimalMark)
		best, ok := p.follow([]int{balance}, []int{amount}, mark, false)
		if ok && best.matches > 1 {
			m.Invert = best.inverted
			return
		}
	}
	m.Invert = p.inverted(amount) || p.paid(amount)
}

// markNamed returns the mark of a mapping.
func markNamed(s string) written.Marks {
	if s == "," {
		return written.Comma
	}
	return written.Dot
}

// payments are texts of payments to the issuer of a card.
var payments = []string{
	"thank you", "autopay", "directpay", "payment received", "payments and credits", "full balance",
	"merci", "ihre zahlung", "zahlung erhalten", "online payment", "automatic payment", "su pago",
	"pago recibido", "vielen dank", "uw betaling",
}

// paid reports whether the few negative amounts of a file are payments to the issuer of a card.
// Positive amounts are then purchases, and so money out.
func (p *Profile) paid(amount int) bool {
	negative, paid, positive := 0, 0, 0
	for _, cells := range p.sample[p.heading+1:] {
		if amount >= len(cells) {
			continue
		}
		n, ok := written.ScanNumber(cells[amount])
		if !ok {
			continue
		}
		text := written.Fold(strings.Join(cells, " "))
		found := false
		for _, phrase := range payments {
			found = found || strings.Contains(text, phrase)
		}
		switch {
		case !n.Negative && found:
			return false
		case !n.Negative:
			positive++
		case found:
			paid++
		}
		if n.Negative {
			negative++
		}
	}
	return paid > 0 && positive > negative && paid*2 >= negative
}

// inverted reports whether positive amounts are probably money out: most amounts of a card's
// statement are purchases.
func (p *Profile) inverted(amount int) bool {
	c := &p.columns[amount]
	if p.heading < 0 || c.positive <= c.negative {
		return false
	}
	card := false
	for _, title := range p.sample[p.heading] {
		words := " " + written.Fold(headings.SplitCamel(title)) + " "
		if strings.Contains(words, " customer ") || strings.Contains(words, " payout ") {
			return false
		}
		for _, word := range []string{
			" merchant ", " card member ", " cardmember ", " cardholder ", " card holder ",
			" card used ", " appears on your statement as ", " karteninhaber ", " kartennummer ",
			" mcc ",
		} {
			card = card || strings.Contains(words, word)
		}
	}
	return card
}

// Currency returns the currency that headings, amounts or the lines before the heading name, if all
// agree.
func (p *Profile) Currency(columns Columns) string {
	if _, ok := columns[mapping.FieldCurrency]; ok {
		return ""
	}
	for _, field := range []string{mapping.FieldAmount, mapping.FieldCredit, mapping.FieldDebit} {
		i, ok := columns[field]
		if !ok {
			continue
		}
		if code := written.CurrencyIn(headings.SplitCamel(p.title(i))); code != "" {
			return code
		}
		for unit := range p.columns[i].units {
			if code := written.CurrencyOf(unit); code != "" && len(p.columns[i].units) == 1 {
				return code
			}
		}
	}
	found := ""
	for i := range p.heading + 1 {
		for _, cell := range p.sample[i] {
			if code := written.CurrencyIn(cell); code != "" && len(cell) < 100 {
				if found != "" && found != code {
					return ""
				}
				found = code
			}
		}
	}
	return found
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

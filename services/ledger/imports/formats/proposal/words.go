package proposal

import (
	_ "embed" // For words.txt.
	"maps"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// vocabulary is the list of words in statements of cards.
//
//go:embed words.txt
var vocabulary string

// words holds the folded phrases of each section of the vocabulary, between spaces.
var words = newWords()

func newWords() map[string][]string {
	w := make(map[string][]string)
	for section, phrase := range written.Phrases(vocabulary) {
		if folded := written.Fold(phrase); folded != "" {
			w[section] = append(w[section], " "+folded+" ")
		}
	}
	return w
}

// says reports whether a text between spaces has a phrase of a section.
func says(text, section string) bool {
	for _, phrase := range words[section] {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// folded returns the texts of a row for says.
func folded(cells []string) string { return " " + written.Fold(strings.Join(cells, " ")) + " " }

// saysIn reports whether the texts of a row are those of money in.
func saysIn(cells []string) bool {
	text := folded(cells)
	return says(text, "payment") || says(text, "income") || says(text, "refund")
}

// votes are the rows whose texts show the direction of their amounts.
type votes struct {
	// normal and inverted are the rows in which a positive amount is money in, or money out.
	normal, inverted int
	refunds          int // Negative refunds, which a card or a shop has.
	// transferred are positive amounts with texts of transfers, which may be money in or out.
	transferred int
	// weak are inverted rows with a text that an account may have, too.
	weak int
}

// textVotes counts the rows whose texts show the direction of a column's amounts.
func (p *Profile) textVotes(amount int) votes {
	var v votes
	for _, cells := range p.sample[p.heading+1:] {
		n, ok := written.ScanNumber(at(cells, amount))
		if !ok {
			continue
		}
		text, in := folded(cells), saysIn(cells)
		switch {
		case in && n.Negative && !says(text, "payment") && !says(text, "income"):
			v.refunds++
		case in && n.Negative:
			v.inverted++
		case in, !n.Negative && written.HasNonzero(n.Digits) && says(text, "arrival"):
			v.normal++
		case !n.Negative && written.HasNonzero(n.Digits) && says(text, "transferred"):
			v.transferred++
		case n.Negative && says(text, "transfer"):
			v.weak++
		}
	}
	return v
}

// isCard reports whether the headings are those of a card's statement. mayBe is set if accounts may
// have them, too.
func (p *Profile) isCard() (card, mayBe bool) {
	if p.heading < 0 {
		return false, false
	}
	for _, title := range p.sample[p.heading] {
		text := " " + written.Fold(headings.SplitCamel(title)) + " "
		if says(text, "account") {
			return false, false
		}
		card, mayBe = card || says(text, "card"), mayBe || says(text, "merchant")
	}
	return card, card || mayBe
}

// types are the rows in which a column of types agrees with the signs of the amounts, or not.
type types struct {
	agreed, opposed int
	// proven is set if words that mean the same in each kind of account oppose the signs. A sale
	// is money out of a card, and money in for a shop.
	proven bool
}

// typeVotes compares the signs of the amounts with columns whose headings name a direction, or
// whose few values do. The direction of a payment depends on the kind of the account: it only
// proves that a positive purchase is money out. A single value in all rows may be the kind of a
// card.
func (p *Profile) typeVotes(amount int) (votes types) {
	if p.columns[amount].negative == 0 {
		return votes
	}
	for i := range p.columns {
		c := &p.columns[i]
		isNamed := p.rank(i, mapping.FieldType) > 0
		if !isNamed && !c.hasTypes() || len(c.values) == 1 {
			continue
		}
		for _, cells := range p.sample[p.heading+1:] {
			n, ok := written.ScanNumber(at(cells, amount))
			value := at(cells, i)
			out, known := written.SignOf(value)
			isPayment := strings.Contains(written.Fold(value), "payment")
			switch {
			case !ok || !known || !isNamed && !written.IsSign(value):
			case isPayment:
				votes.proven = votes.proven || n.Negative
			case out == n.Negative:
				votes.agreed++
			default:
				votes.opposed++
				votes.proven = votes.proven || written.IsDirection(value)
			}
		}
	}
	return votes
}

// hasTypes reports whether values of a column mean both directions in each kind of account, or all
// of its values mean directions.
func (c *column) hasTypes() bool {
	found := make(map[bool]bool)
	for value := range c.values {
		if out, _ := written.SignOf(value); written.IsSign(value) && written.IsDirection(value) {
			found[out] = true
		}
	}
	return len(found) == 2 || len(c.values) > 1 && c.all(written.IsSign)
}

// opposedType returns a value of a column of types that opposes the signs of its amounts in all
// rows, although other values of the column agree with theirs, or "". Brokers write purchases
// without a sign beside withdrawals with one.
func (p *Profile) opposedType(amount int) (kind int, value string) {
	for i := range p.columns {
		if p.rank(i, mapping.FieldType) == 0 || p.columns[i].many {
			continue
		}
		agreed, opposed := make(map[string]int), make(map[string]int)
		for _, cells := range p.transactions {
			n, ok := written.ScanNumber(at(cells, amount))
			value := at(cells, i)
			out, known := written.SignOf(value)
			switch {
			case !ok || !known || !written.HasNonzero(n.Digits) || !written.IsDirection(value):
			case out == n.Negative:
				agreed[value]++
			default:
				opposed[value]++
			}
		}
		for _, value := range slices.Sorted(maps.Keys(opposed)) {
			if agreed[value] == 0 && len(agreed) > 0 {
				return i, value
			}
		}
	}
	return none, ""
}

// opposed reads the directions from a column of types of which a value opposes the signs of the
// amounts. If it has unknown values, too, the signs are read.
func (p *Profile) opposed(
	m *mapping.Mapping, columns Columns, kind int, value string,
) (Witness, assumed) {
	amount := columns[mapping.FieldAmount]
	out, _ := written.SignOf(value)
	if p.columns[kind].fits(mapping.FieldType) {
		m.AmountMode = mapping.TypeColumn
		columns[mapping.FieldType] = kind
	} else {
		out = !out
	}
	return "", assumed{statement.Shows("TYPE_"+direction(out),
		"value", quoted(value), "column", p.name(kind)), amount}
}

// unnamed returns the assumption that the first of two columns has the debits.
func (p *Profile) unnamed(debit, credit int) assumed {
	return assumed{statement.Shows("PAIR_UNNAMED",
		"column", p.name(debit), "other", p.name(credit)), debit}
}

// unnamedPair returns the witness for two columns without a heading that explain the balances. If
// the balance is the debt of a card, they are the wrong way round. Texts of payments that the
// issuer has received show that, and most amounts of each account are money out.
func (p *Profile) unnamedPair(columns Columns, debit, credit int) (Witness, assumed) {
	paid, spent, received := 0, 0, 0
	for _, cells := range p.transactions {
		isDebit := written.HasNonzero(at(cells, debit))
		switch {
		case isDebit && says(folded(cells), "payment"):
			paid++
		case isDebit:
			spent++
		case written.HasNonzero(at(cells, credit)):
			received++
		}
	}
	switch {
	case paid > 0 && received > 0:
		columns[mapping.FieldDebit], columns[mapping.FieldCredit] = credit, debit
		return ByTexts, assumed{}
	case paid > 0 || spent <= received:
		return "", p.unnamed(debit, credit)
	}
	return ByBalance, assumed{}
}

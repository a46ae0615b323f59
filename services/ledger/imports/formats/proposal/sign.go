package proposal

import (
	"strconv"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// Witness is the evidence in the file that shows which amounts are money out. Without one, the sign
// is a guess, and the commit waits for the user.
type Witness string

// The witnesses, from strong to weak.
const (
	ByBalance Witness = "balance" // Balances change by the amounts.
	ByType    Witness = "type"    // A column says debit or credit.
	ByHeading Witness = "heading" // A heading says money out or money in.
	ByMarks   Witness = "marks"   // Only money in has a mark: "+" or "CR".
	ByTexts   Witness = "texts"   // Payments to a card's issuer, salaries and refunds.
	ByCard    Witness = "card"    // Headings of a card's statement: most amounts are purchases.
	BySigns   Witness = "signs"   // Amounts have both signs, and most are negative.
)

// assumed is the result of a rule that has found no witness.
type assumed struct {
	evidence statement.Evidence
	column   int // With the amounts.
}

// amountMode chooses between a signed amount, an amount with a type, and debit and credit. It
// returns the witness of the sign, or what is assumed without one.
func (p *Profile) amountMode(m *mapping.Mapping, columns Columns) (Witness, assumed) {
	amount, hasAmount := columns[mapping.FieldAmount]
	kind, hasType := columns[mapping.FieldType]
	debit, hasDebit := columns[mapping.FieldDebit]
	credit, hasCredit := columns[mapping.FieldCredit]
	keep := func(fields ...string) {
		for _, field := range []string{
			mapping.FieldAmount, mapping.FieldType, mapping.FieldDebit, mapping.FieldCredit,
		} {
			if i, ok := columns[field]; ok {
				delete(columns, field)
				for _, kept := range fields {
					if kept == field {
						columns[field] = i
					}
				}
			}
		}
	}
	switch {
	case hasAmount && (p.columns[amount].negative > 0 || !hasType && !(hasDebit && hasCredit)):
		keep(mapping.FieldAmount)
		if p.marksIncome(amount) {
			m.AmountMode = mapping.TypeColumn
			columns[mapping.FieldType] = amount
			return ByMarks, assumed{}
		}
		if kind, value := p.opposedType(amount); value != "" && p.proof == nil {
			return p.opposed(m, columns, kind, value)
		}
		return p.signed(m, amount)
	case !hasAmount && hasDebit != hasCredit && p.hasSigns(max(debit, credit), hasCredit):
		// "Inflow" alone, with spending as negative numbers.
		columns[mapping.FieldAmount] = max(debit, credit)
		keep(mapping.FieldAmount)
		m.Invert = hasDebit
		return ByHeading, assumed{}
	case hasDebit && hasCredit || !hasAmount && (hasDebit || hasCredit):
		m.AmountMode = mapping.DebitCredit
		keep(mapping.FieldDebit, mapping.FieldCredit)
		return p.pairMode(columns)
	case hasAmount:
		keep(mapping.FieldAmount, mapping.FieldType)
		return p.typeMode(m, amount, kind)
	}
	return "", assumed{column: none}
}

// pairMode returns the witness of debits and credits, or what is assumed without one.
func (p *Profile) pairMode(columns Columns) (Witness, assumed) {
	debit, hasDebit := columns[mapping.FieldDebit]
	credit, hasCredit := columns[mapping.FieldCredit]
	switch {
	case p.proof != nil && hasDebit && hasCredit &&
		p.rank(debit, mapping.FieldDebit)+p.rank(credit, mapping.FieldCredit) == 0:
		return p.unnamedPair(columns, debit, credit)
	case p.proof != nil:
		return ByBalance, assumed{}
	case !hasDebit:
		return "", assumed{statement.Shows("ONLY_CREDITS", "column", p.name(credit)), credit}
	case p.pair != nil && *p.pair != "":
		return *p.pair, assumed{}
	case p.pair != nil && p.columns[debit].negative > p.columns[credit].positive &&
		p.columns[credit].negative == 0:
		return BySigns, assumed{}
	case p.pair != nil:
		return "", p.unnamed(debit, credit)
	}
	return ByHeading, assumed{}
}

// typeMode returns the witness of a column of types, or what is assumed without one.
func (p *Profile) typeMode(m *mapping.Mapping, amount, kind int) (Witness, assumed) {
	m.AmountMode = mapping.TypeColumn
	if p.typed != nil {
		return p.witnessOfTypes(m, amount)
	}
	if negative, ok := p.legend(kind); ok {
		m.Negative = negative
		return ByHeading, assumed{}
	}
	if negative, ok := p.blankType(kind); ok {
		m.Negative = negative
		return ByType, assumed{}
	}
	if value := p.ambiguousType(kind); value != "" {
		return "", assumed{statement.Shows("PAYMENT_TYPE",
			"value", quoted(value), "column", p.name(kind)), amount}
	}
	if value := p.doubtfulType(kind); value != "" {
		out, _ := written.SignOf(value)
		return "", assumed{statement.Shows("TYPE_"+direction(out),
			"value", quoted(value), "column", p.name(kind)), amount}
	}
	return ByType, assumed{}
}

// hasSigns reports whether the only column of debits or credits has a sign: a column of credits has
// negative numbers, or one of debits both signs. Some banks write all debits as negative numbers.
func (p *Profile) hasSigns(i int, credit bool) bool {
	return p.columns[i].negative > 0 && (credit || p.columns[i].positive > 0)
}

// ambiguousType returns a value of a type column whose direction depends on the kind of the
// account, or "".
func (p *Profile) ambiguousType(i int) string {
	for value := range p.columns[i].values {
		if folded := written.Fold(value); folded == "payment" || folded == "payments" {
			return value
		}
	}
	return ""
}

// signed decides whether positive amounts of a signed column are money out.
func (p *Profile) signed(m *mapping.Mapping, amount int) (Witness, assumed) {
	c, v, types := &p.columns[amount], p.textVotes(amount), p.typeVotes(amount)
	card, mayBeCard := p.isCard()
	if c.negative > c.positive || v.normal+v.transferred == c.positive {
		v.normal += v.transferred // No card has more payments than purchases, or only transfers.
	}
	spends := v.inverted > 0 && v.normal == 0 && (card || c.positive >= c.negative &&
		(v.inverted+v.refunds)*2 >= c.negative)
	purchases := mayBeCard && c.positive > c.negative
	if p.proof != nil && (p.proof.matches > 1 || !p.proof.inverted && c.negative > 0) {
		m.Invert = p.proof.inverted
		if m.Invert && c.negative >= c.positive && v.inverted <= v.normal {
			m.Invert = false
			return "", assumed{
				statement.Shows("CARD_BALANCE_NEGATIVE", "column", p.name(amount)), amount,
			}
		}
		if !m.Invert && (spends || purchases) {
			m.Invert = true
			return "", assumed{statement.Shows("CARD_BALANCE", "column", p.name(amount)), amount}
		}
		if evidence, ok := p.deviation(amount, m.Invert); ok {
			return "", assumed{evidence, amount}
		}
		if c.negative == 0 && !p.hasPlus(amount) {
			// No balance proves the direction of the first amount.
			return "", assumed{p.fewNegative(m, amount), amount}
		}
		if !m.Invert && c.positive > c.negative && v.normal+types.agreed == 0 &&
			len(p.named(mapping.FieldFee)) == 0 {
			// The balance may be the debt of a card, which lists no fees beside its amounts.
			return "", assumed{p.fewNegative(m, amount), amount}
		}
		return ByBalance, assumed{}
	}
	switch {
	case c.negative+c.positive == 0:
		return "", assumed{column: none}
	case types.agreed > 0 && types.opposed == 0:
		return ByType, assumed{}
	case types.opposed > 0 && types.agreed == 0 && (types.proven || mayBeCard):
		m.Invert = true
		return ByType, assumed{}
	case spends:
		m.Invert = true
		return ByTexts, assumed{}
	case c.negative > 0 && v.normal*minShare >= c.positive && v.normal > 0 && v.inverted == 0:
		return ByTexts, assumed{}
	case purchases && card:
		m.Invert = true
		return ByCard, assumed{}
	case purchases:
		m.Invert = true
		return "", assumed{p.fewNegative(m, amount), amount}
	case (v.inverted+v.refunds)*2 <= c.negative && (v.inverted == 0 || v.normal > 0) &&
		(c.negative > c.positive || p.hasPlus(amount)):
		return BySigns, assumed{}
	case c.negative == 0:
		return "", assumed{statement.Shows("NO_SIGNS", "column", p.name(amount)), amount}
	}
	m.Invert = (v.weak > 0 || types.opposed > types.agreed) && c.positive > c.negative
	return "", assumed{p.fewNegative(m, amount), amount}
}

// fewNegative returns the evidence that signs do not show which amounts are money out.
func (p *Profile) fewNegative(m *mapping.Mapping, amount int) statement.Evidence {
	c := &p.columns[amount]
	return statement.Shows("FEW_NEGATIVE_"+direction(m.Invert),
		"positive", strconv.Itoa(c.positive), "column", p.name(amount),
		"negative", strconv.Itoa(c.negative))
}

// minShare is the number of positive amounts for which the text of one says that it is money in.
const minShare = 4

// direction returns the direction of positive amounts, as a part of the code of an evidence.
func direction(inverted bool) string {
	if inverted {
		return "OUT"
	}
	return "IN"
}

// warnOfSign adds the warning about a sign without a witness.
func (p *Profile) warnOfSign(in *statement.Input, a assumed) {
	_, rows := p.examples(a.column, func(cell string) bool {
		n, ok := written.ScanNumber(cell)
		return ok && written.HasNonzero(n.Digits)
	})
	in.Assume(statement.SignAssumed, a.evidence, rows...)
}

// name returns a column's heading in quotes, or its number.
func (p *Profile) name(i int) string {
	if title := p.title(i); title != "" {
		return quoted(title)
	}
	return strconv.Itoa(i + 1)
}

// quoted returns a text of the file as a parameter of an evidence.
func quoted(s string) string { return strconv.Quote(statement.Text(s, statement.MaxName)) }

// signs returns the number of different signs that the known values of a column mean.
func (c *column) signs() int {
	out, in := 0, 0
	for value := range c.values {
		switch negative, known := written.SignOf(value); {
		case known && negative:
			out = 1
		case known:
			in = 1
		}
	}
	return out + in
}

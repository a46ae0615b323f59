package proposal

import (
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// minHolderRows is the number of rows from which equal texts in most of them can be the holder of
// the account.
const minHolderRows = 5

// isHolder reports whether a column names the holder of the account, and not the other party. All
// of its texts are equal, and a line before the heading has the same text, or a longer heading
// names the other party, such as "Naam tegenpartij" beside "Naam". Without either of them, a
// heading that can mean both, such as "Name", is the holder's if no other text of the rows mentions
// the name.
func (p *Profile) isHolder(index int) bool {
	texts := p.texts[index]
	if !texts.isConstant() {
		return false
	}
	for _, cells := range p.sample[:max(p.heading, 0)] {
		if slices.Contains(cells, texts.frequent) {
			return true
		}
	}
	title := written.Fold(p.title(index)) + " "
	for other := range p.columns {
		if strings.HasPrefix(written.Fold(p.title(other)), title) &&
			p.rank(other, mapping.FieldPayee) > 0 {
			return true
		}
	}
	return p.rank(index, mapping.FieldPayee) > 1 && texts.filled >= minHolderRows &&
		!p.isMentioned(index)
}

// isMentioned reports whether half of the rows have the most frequent text of a column in another
// column, too.
func (p *Profile) isMentioned(i int) bool {
	rows, found := 0, 0
	text := p.texts[i].frequent
	folded := written.Fold(text)
	for _, cells := range p.transactions {
		if at(cells, i) != text {
			continue
		}
		rows++
		for other, cell := range cells {
			if other != i && strings.Contains(written.Fold(cell), folded) {
				found++
				break
			}
		}
	}
	return found*2 >= rows
}

// payer returns the free column with the parties that pay, beside a column with those that receive,
// or -1. A column that has the holder of the account even where money comes in names no payer.
func (p *Profile) payer(columns Columns, taken map[int]bool) int {
	payee, ok := columns[mapping.FieldPayee]
	if !ok || p.rank(payee, mapping.FieldPayer) > 0 ||
		p.rank(payee, mapping.FieldPayee) != 1 {
		return -1
	}
	for i := range p.columns {
		t := p.texts[i]
		if taken[i] || p.rank(i, mapping.FieldPayer) != 1 || t.saysNothing() {
			continue
		}
		everywhere := t.isConstant() && t.filled*10 >= len(p.transactions)*9
		if !everywhere || !p.hasBothDirections(columns) {
			return i
		}
	}
	return -1
}

// hasBothDirections reports whether some amounts of the sample are money in, and others money out.
// Debits and credits of zero are neither.
func (p *Profile) hasBothDirections(columns Columns) bool {
	kind, hasKind := columns[mapping.FieldType]
	in, out := false, false
	for _, cells := range p.transactions {
		for _, field := range []string{
			mapping.FieldAmount, mapping.FieldDebit, mapping.FieldCredit,
		} {
			i, ok := columns[field]
			if !ok {
				continue
			}
			n, ok := written.ScanNumber(at(cells, i))
			if !ok || !strings.ContainsAny(n.Digits, "123456789") {
				continue
			}
			isOut, known := n.Negative || field == mapping.FieldDebit, true
			if hasKind {
				isOut, known = written.SignOf(at(cells, kind))
			}
			in, out = in || known && !isOut, out || known && isOut
		}
	}
	return in && out
}

package proposal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

const (
	// maxName is the mean length of texts up to which they can be names. If a file has only one
	// column of texts, shorter ones are payees, and longer ones descriptions.
	maxName = 50
	// minSentence is the mean length of texts that are notes under an unknown heading.
	minSentence = 20
	// minRows is the number of rows from which equal texts in most of them mean something.
	minRows = 3
	// wholeRank is the highest rank of a heading that is in the vocabulary as a whole.
	wholeRank = 5
)

// rank returns the rank of a heading as the name of a field, or 0. Lower ranks are better.
func (p *Profile) rank(i int, field string) int {
	for _, m := range headings.Meanings(p.title(i)) {
		if m.Field == field {
			return m.Rank
		}
	}
	return 0
}

// cost compares columns for a field of texts by headings and contents. The heading decides, unless
// its column says little: many cells are empty, or most texts are equal. ok is false if the column
// cannot have the field.
func (p *Profile) cost(i int, field string) (cost int, ok bool) {
	rank, texts := p.rank(i, field), p.texts[i]
	payees := field == mapping.FieldPayee
	if rank == 0 || texts.saysNothing() && !(payees && rank == 1 && texts.onlyKinds()) ||
		payees && p.isHolder(i) {
		return 0, false
	}
	rows := len(p.transactions)
	cost = rank*1000 + 1500*(rows-texts.filled)/rows
	if texts.saysNothing() {
		// Payees such as "Bank" look like kinds of payments. The heading decides if no other column
		// has payees.
		cost += 5000
	}
	if rows >= minRows {
		cost += 1200 * texts.top / texts.filled
	}
	if field == mapping.FieldDescription {
		cost -= min(texts.mean(), maxName) * 5
	}
	return cost, true
}

// cheapest returns the free column with the lowest cost for a field of texts, or -1.
func (p *Profile) cheapest(field string, taken map[int]bool) int {
	best, bestCost := -1, 0
	for i := range p.columns {
		if taken[i] {
			continue
		}
		if cost, ok := p.cost(i, field); ok && (best < 0 || cost < bestCost) {
			best, bestCost = i, cost
		}
	}
	return best
}

// empty returns the free column that has no texts in this file, but whose heading names a field
// without doubt, or -1. The next file of the bank may have texts there.
func (p *Profile) empty(field string, taken map[int]bool) int {
	for i := range p.columns {
		if !taken[i] && p.rank(i, field) == 1 && p.columns[i].filled == 0 {
			return i
		}
	}
	return -1
}

// untextual returns the free column whose heading names a field without doubt, and whose contents
// look like numbers or dates, or -1. "Shop 501" looks like an amount with a currency.
func (p *Profile) untextual(field string, taken map[int]bool) int {
	for i := range p.columns {
		if !taken[i] && p.rank(i, field) == 1 && p.columns[i].filled > 0 &&
			!p.columns[i].textual() {
			return i
		}
	}
	return -1
}

// namedTexts assigns payee and description by their headings and contents. If a bank's file has
// only descriptions, and they are short, the best ones are payees: "REWE BERLIN" is all that the
// bank knows about the payee.
func (p *Profile) namedTexts(columns Columns, taken map[int]bool) {
	assign := func(field string, i int) {
		if i >= 0 {
			columns[field], taken[i] = i, true
		}
	}
	payee := p.cheapest(mapping.FieldPayee, taken)
	if payee < 0 {
		payee = p.untextual(mapping.FieldPayee, taken)
	}
	if payee < 0 {
		payee = p.empty(mapping.FieldPayee, taken)
	}
	assign(mapping.FieldPayee, payee)
	description := p.cheapest(mapping.FieldDescription, taken)
	if payee < 0 && description >= 0 && p.texts[description].mean() <= maxName &&
		!p.fromApplication() {
		assign(mapping.FieldPayee, description)
		description = p.cheapest(mapping.FieldDescription, p.without(taken, description))
	}
	if description < 0 {
		description = p.untextual(mapping.FieldDescription, taken)
	}
	if description < 0 {
		description = p.empty(mapping.FieldDescription, taken)
	}
	assign(mapping.FieldDescription, description)
}

// without returns the taken columns and those that only repeat the texts of another column.
func (p *Profile) without(taken map[int]bool, repeated int) map[int]bool {
	excluded := make(map[int]bool)
	for i := range p.columns {
		excluded[i] = taken[i] || p.repeats(i, repeated)
	}
	return excluded
}

// repeats reports whether nearly all texts of a column are part of the texts of another one.
func (p *Profile) repeats(i, other int) bool {
	filled, repeated := 0, 0
	for _, cells := range p.transactions {
		cell := written.Fold(at(cells, i))
		if cell == "" {
			continue
		}
		filled++
		if strings.Contains(written.Fold(at(cells, other)), cell) {
			repeated++
		}
	}
	return filled > 0 && repeated*10 >= filled*9
}

// otherTexts assigns payee and description by their contents if no heading names them. The longest
// texts are the description, and the first other column with names is the payee.
func (p *Profile) otherTexts(columns Columns, taken map[int]bool) {
	_, hasPayee := columns[mapping.FieldPayee]
	_, hasDescription := columns[mapping.FieldDescription]
	if hasPayee || hasDescription {
		return
	}
	var free []int
	poor := -1
	for i := range p.columns {
		switch t := p.texts[i]; {
		case taken[i] || p.isOther(i):
		case !t.saysNothing():
			free = append(free, i)
		case t.filled > 0 && (t.kinds > 0 || p.rank(i, mapping.FieldDescription) == 1):
			poor = i
		}
	}
	if len(free) == 0 {
		// A kind of payment or a code is better than no text.
		if poor >= 0 {
			columns[mapping.FieldDescription], taken[poor] = poor, true
		}
		return
	}
	longest := slices.MaxFunc(free, func(a, b int) int {
		return cmp.Compare(p.texts[a].length, p.texts[b].length)
	})
	isName := func(i int) bool {
		t := p.texts[i]
		rows := len(p.transactions)
		return t.mean() <= maxName && (!t.isConstant() || rows < minRows)
	}
	name := slices.IndexFunc(free, func(i int) bool { return i != longest && isName(i) })
	switch {
	case name >= 0:
		columns[mapping.FieldPayee], taken[free[name]] = free[name], true
		columns[mapping.FieldDescription], taken[longest] = longest, true
	case isName(longest):
		columns[mapping.FieldPayee], taken[longest] = longest, true
	default:
		columns[mapping.FieldDescription], taken[longest] = longest, true
	}
}

// furtherTexts returns the columns whose texts have no better place, so that no text of the file is
// lost. A column of payers has the payees of money in. A description in several columns, such as
// "Omschrijving-1" and "Omschrijving-2", is joined. The others become notes: further descriptions,
// and sentences under any other heading.
func (p *Profile) furtherTexts(columns Columns) []mapping.Column {
	taken := make(map[int]bool)
	for _, i := range columns {
		taken[i] = true
	}
	var found []mapping.Column
	if i := p.payer(columns, taken); i >= 0 {
		taken[i] = true
		found = append(found, mapping.Column{Index: i, Field: mapping.FieldPayer})
	}
	description, ok := columns[mapping.FieldDescription]
	if kind := p.kindOfPayment(taken); kind >= 0 && (!ok || p.texts[description].filled == 0) {
		taken[kind] = true
		found = append(found, mapping.Column{Index: kind, Field: mapping.FieldDescription})
	}
	for _, field := range []string{mapping.FieldPayee, mapping.FieldDescription} {
		if i, ok := columns[field]; ok {
			taken = p.without(taken, i)
		}
	}
	for index := range p.columns {
		texts := p.texts[index]
		if !taken[index] && p.continues(index, columns) {
			found = append(found, mapping.Column{Index: index, Field: mapping.FieldDescription})
			continue
		}
		if taken[index] || texts.saysNothing() || p.isOther(index) ||
			texts.isConstant() && len(p.transactions) >= minRows && texts.filled > 1 {
			continue
		}
		rank := cmp.Or(p.rank(index, mapping.FieldDescription), p.rank(index, mapping.FieldNotes))
		sentences := texts.words >= texts.filled*3 && texts.mean() >= minSentence || p.heading < 0
		if rank > 0 && rank <= wholeRank || sentences && !p.isNamed(index) {
			found = append(found, mapping.Column{Index: index, Field: mapping.FieldNotes})
		}
	}
	return found
}

// isNamed reports whether the vocabulary has the heading as a whole.
func (p *Profile) isNamed(i int) bool {
	return isWhole(p.title(i))
}

// kindOfPayment returns the free column that is headed like a description and has only kinds of
// payments, or -1. "Salary" is better than no description.
func (p *Profile) kindOfPayment(taken map[int]bool) int {
	for i := range p.columns {
		if !taken[i] && p.rank(i, mapping.FieldDescription) == 1 && p.texts[i].onlyKinds() {
			return i
		}
	}
	return -1
}

// continues reports whether a column continues the payee or the description: their headings differ
// only in a number.
func (p *Profile) continues(i int, columns Columns) bool {
	series := seriesOf(p.title(i))
	if series == "" || p.columns[i].filled == 0 {
		return false
	}
	for _, field := range []string{mapping.FieldPayee, mapping.FieldDescription} {
		if first, ok := columns[field]; ok && seriesOf(p.title(first)) == series {
			return true
		}
	}
	return false
}

// seriesOf returns a heading without the number at its end.
func seriesOf(title string) string {
	return strings.TrimRight(written.Fold(title), "0123456789- ")
}

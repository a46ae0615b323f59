package proposal

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxDirections is the maximum number of values of a type column with unknown words: money out,
// money in and neither.
const maxDirections = 3

// deviation returns the evidence that a row may have the other direction than those whose direction
// the balances prove. The balances do not prove the oldest amount of an account, or one that is
// pending. Without signs, a column that differs in such a row may be a type column with unknown
// words.
func (p *Profile) deviation(amount int, inverted bool) (e statement.Evidence, ok bool) {
	if p.columns[amount].negative > 0 || p.hasPlus(amount) {
		return e, false
	}
	for i := range p.columns {
		if usual, other := p.deviating(i); other != "" {
			return statement.Shows("UNPROVEN_"+direction(inverted), "column", p.name(amount),
				"other", p.name(i), "value", quoted(other), "usual", quoted(usual)), true
		}
	}
	return e, false
}

// deviating returns two of the few values of a column if no balance proves the direction of the
// rows with the other one, or "".
func (p *Profile) deviating(i int) (usual, other string) {
	c := &p.columns[i]
	few := len(c.values) == 2 || len(c.values) == maxDirections && c.filled >= 2*maxDirections
	if !c.textual() || !few {
		return "", ""
	}
	proven := maps.Clone(c.values)
	for row, cells := range p.sample[p.heading+1:] {
		_, isBooked := slices.BinarySearch(p.proof.table.records, p.heading+row+2)
		if value := at(cells, i); !isBooked && value != "" && isTransaction(cells) {
			proven[value]--
		}
	}
	values := slices.SortedFunc(maps.Keys(proven), func(a, b string) int {
		return cmp.Or(cmp.Compare(proven[b], proven[a]), strings.Compare(a, b))
	})
	accounts := slices.Compact(slices.Sorted(slices.Values(p.proof.table.accounts)))
	last := len(values) - 1
	if proven[values[last]] > len(accounts) {
		return "", ""
	}
	return values[0], values[last]
}

// doubtfulType returns a value of a type column that may have another meaning than money in or out,
// or "": one of its words is known, but not the whole value, or it is the only direction of the
// file. "Credit" in all rows may be the kind of a card.
func (p *Profile) doubtfulType(i int) string {
	c := &p.columns[i]
	values := slices.Sorted(maps.Keys(c.values))
	for _, value := range values {
		if _, known := written.SignOf(value); known && !written.IsSign(value) {
			return value
		}
	}
	isIn := func(value string) bool { out, known := written.SignOf(value); return known && !out }
	at := slices.IndexFunc(values, isIn)
	if at < 0 || c.signs() != 1 {
		return ""
	}
	return values[at]
}

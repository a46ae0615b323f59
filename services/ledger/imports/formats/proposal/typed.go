package proposal

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/statement"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxTypes is the maximum number of unknown values of a type column that balances can explain.
const maxTypes = 3

// typed is a column whose values say which amounts without signs are money out.
type typed struct {
	column   int
	negative []string // Its values that mean money out, or nil if the vocabulary knows all.
}

// byTypes looks for a column of types that, together with the amounts, explains the balances. It
// needs no word of any vocabulary: of the ways to assign directions to the values, exactly one
// explains most balances.
func (p *Profile) byTypes(columns Columns, taken map[int]bool) {
	amount, ok := columns[mapping.FieldAmount]
	if !ok || p.proof != nil || p.columns[amount].negative > 0 {
		return
	}
	others := p.numeric(taken)
	stated := others
	if i, known := columns[mapping.FieldBalance]; known {
		stated = []int{i}
	} else if p.heading >= 0 {
		stated = slices.DeleteFunc(slices.Clone(others), p.isNamed)
	}
	kinds := p.kinds(columns, taken)
	if len(stated) == 0 || len(kinds) == 0 {
		return
	}
	fees := p.named(mapping.FieldFee)
	table := p.newTable(columns, slices.Concat(stated, fees, others, []int{amount}))
	signed := len(p.columns) // No column of the file has this index.
	best, count := chain{}, 0
	var found typed
	for _, kind := range kinds {
		for _, negative := range p.directions(kind) {
			table.numbers[signed] = p.withSigns(table, amount, kind, negative)
			measured, ok := table.prove(stated, [][2]int{{signed, signed}}, fees, others)
			switch {
			case !ok || measured.inverted || measured.matches < 2,
				negative != nil && measured.broken > 0:
			case measured.matches > best.matches:
				best, count, found = measured, 1, typed{kind, negative}
			case measured.matches == best.matches:
				count++
			}
		}
	}
	if count != 1 {
		return
	}
	table.numbers[signed] = p.withSigns(table, amount, found.column, found.negative)
	p.proof = &best
	if found.column != amount {
		p.typed = &found
		columns[mapping.FieldType], taken[found.column] = found.column, true
	}
	columns[mapping.FieldBalance], taken[best.balance] = best.balance, true
	if best.fee != none {
		columns[mapping.FieldFee], taken[best.fee] = best.fee, true
	}
}

// kinds returns the columns that may say which amounts are money out: the one that was found, that
// of the amounts if those of money in have a mark, or those with few values.
func (p *Profile) kinds(columns Columns, taken map[int]bool) []int {
	amount := columns[mapping.FieldAmount]
	if i, ok := columns[mapping.FieldType]; ok {
		return []int{i}
	} else if p.marksIncome(amount) {
		return []int{amount}
	}
	var found []int
	for i := range p.columns {
		c := &p.columns[i]
		if !taken[i] && c.textual() && len(c.values) > 1 && len(c.values) <= maxTypes &&
			c.filled >= len(p.transactions) {
			found = append(found, i)
		}
	}
	return found
}

// directions returns the sets of values of a column that may mean money out. If one is a known
// word, the only set is nil: then those that are not known mean neither direction.
func (p *Profile) directions(kind int) [][]string {
	c := &p.columns[kind]
	values := slices.Sorted(maps.Keys(c.values))
	if c.many || !c.textual() || slices.ContainsFunc(values, written.IsSign) {
		return [][]string{nil}
	}
	isNoWord := func(value string) bool { return !strings.ContainsFunc(value, unicode.IsLetter) }
	if len(values) > maxTypes || slices.ContainsFunc(values, isNoWord) {
		return nil
	}
	var sets [][]string
	for set := 1; set < 1<<len(values)-1; set++ {
		var negative []string
		for i, value := range values {
			if set&(1<<i) != 0 {
				negative = append(negative, value)
			}
		}
		sets = append(sets, negative)
	}
	return sets
}

// withSigns returns the amounts of a table with the signs that the values of a column mean.
func (p *Profile) withSigns(t *table, amount, kind int, negative []string) []number {
	numbers := slices.Clone(t.numbers[amount])
	for row, n := range t.records {
		value := at(p.sample[n-1], kind)
		out, known := written.SignOf(value)
		switch {
		case negative != nil:
			out, known = slices.Contains(negative, value), true
		case kind == amount:
			mark, _ := written.ScanNumber(value)
			out, known = !mark.Signed, true
		}
		switch {
		case !known:
			numbers[row].Unknown = true
		case out:
			numbers[row].Sum = numbers[row].Negated()
		}
	}
	return numbers
}

// witnessOfTypes returns the witness of a column of types that explains the balances. The balance
// of a card is a debt: without a word that says which values are money out, they may be the wrong
// way round.
func (p *Profile) witnessOfTypes(m *mapping.Mapping, amount int) (Witness, assumed) {
	if m.Negative = p.typed.negative; m.Negative == nil {
		return ByBalance, assumed{}
	}
	c := &p.columns[p.typed.column]
	for value := range c.values {
		isOut := slices.Contains(m.Negative, value)
		if negative, known := written.SignOf(value); known && written.IsDirection(value) &&
			negative == isOut {
			return ByBalance, assumed{}
		}
	}
	if legend, ok := p.legend(p.typed.column); ok && slices.Equal(legend, m.Negative) {
		return ByBalance, assumed{}
	}
	return "", assumed{statement.Shows("TYPE_OUT",
		"value", quoted(m.Negative[0]), "column", p.name(p.typed.column)), amount}
}

// legend returns the values of a type column that mean money out if its heading explains them:
// "CARGO/ABONO" above C and A.
func (p *Profile) legend(kind int) (negative []string, ok bool) {
	names := strings.Split(written.Fold(strings.ReplaceAll(p.title(kind), "/", " / ")), " ")
	var sides [2]string
	for _, name := range names {
		switch out, known := written.SignOf(name); {
		case !known || len(name) < 3:
		case out:
			sides[0] = name
		default:
			sides[1] = name
		}
	}
	if sides[0] == "" || sides[1] == "" || sides[0][0] == sides[1][0] {
		return nil, false
	}
	for _, value := range slices.Sorted(maps.Keys(p.columns[kind].values)) {
		folded := written.Fold(value)
		switch {
		case folded == "":
			return nil, false
		case strings.HasPrefix(sides[0], folded):
			negative = append(negative, value)
		case !strings.HasPrefix(sides[1], folded):
			return nil, false
		}
	}
	return negative, len(negative) > 0
}

// blankType returns the values that mean money out if a column of types is empty in the rows of one
// direction, such as "Cr" and nothing. Its values mean the same in each kind of account.
func (p *Profile) blankType(i int) (negative []string, ok bool) {
	c := &p.columns[i]
	if c.filled >= len(p.transactions) || c.signs() != 1 || !c.all(written.IsDirection) ||
		!c.all(written.IsSign) {
		return nil, false
	}
	for value := range c.values {
		if out, _ := written.SignOf(value); !out {
			return []string{""}, true
		}
		negative = append(negative, value)
	}
	slices.Sort(negative)
	return negative, true
}

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
		if value := at(cells, i); !isBooked && value != "" && written.IsTransaction(cells) {
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
// or "": one of its words is known, but not the whole value; or it is a plus in most rows, as the
// purchases with a card have in some files; or it is the only direction of the file. "Credit" in
// all rows may be the kind of a card.
func (p *Profile) doubtfulType(i int) string {
	c := &p.columns[i]
	values := slices.Sorted(maps.Keys(c.values))
	for _, value := range values {
		if _, known := written.SignOf(value); known && !written.IsSign(value) {
			return value
		}
	}
	if c.values["+"] > c.values["-"] {
		return "+"
	}
	isIn := func(value string) bool { out, known := written.SignOf(value); return known && !out }
	at := slices.IndexFunc(values, isIn)
	if at < 0 || c.signs() != 1 {
		return ""
	}
	return values[at]
}

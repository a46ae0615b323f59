package proposal

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
)

// maxNumeric is the maximum number of columns with numbers that are compared with a balance.
const maxNumeric = 8

// none is the index of a column that does not exist.
const none = -1

// chain describes how a column of balances follows from columns of amounts. It is the strongest
// evidence in a CSV file: it proves which column has the amounts, which sign means money out, and
// whether a fee lowers the balance beside the amount, without any heading.
type chain struct {
	balance, debit, credit int // Columns; debit and credit are equal for a signed amount.
	fee                    int // A column, or none.
	inverted               bool
	matches, broken        int    // Balances that follow, or not.
	covered                int    // Rows with an amount.
	table                  *table // With the numbers of the columns.
}

// better reports whether a chain explains more than another one. Of two that explain the same, the
// one whose signs need no inversion is better, and then the one with amounts in more rows.
func (c chain) better(other chain) bool {
	switch {
	case c.matches != other.matches:
		return c.matches > other.matches
	case c.inverted != other.inverted:
		return other.inverted
	}
	return c.covered > other.covered
}

// prove returns the chain that explains the balances in most rows. It reports false if none
// explains at least four of five balances. A pair is the columns of debits and credits. The columns
// in fees have headings of fees, and those in others may have fees beside the amounts.
func (t *table) prove(
	stated []int, pairs [][2]int, fees, others []int,
) (best chain, ok bool) {
	for n, fee := range slices.Concat([]int{none}, fees, others) {
		for _, b := range stated {
			for _, pair := range pairs {
				c := chain{balance: b, debit: pair[0], credit: pair[1], fee: fee}
				if b == c.credit || b == c.debit || fee == c.credit || fee == c.debit ||
					c.debit != c.credit && t.isNegative(c.credit) ||
					n > len(fees) && (fee == b || !t.sharesRows(fee, c)) {
					continue
				}
				measured, follows := t.measure(c)
				isMore := measured.matches > best.matches || fee == none || fee == best.fee
				if follows && (!ok || isMore && measured.better(best)) {
					best, ok = measured, true
				}
			}
		}
	}
	return best, ok
}

// numeric returns up to maxNumeric columns that contain numbers, are not dates and have no field
// yet, and whose headings do not exclude amounts. prove compares each pair of them, so their number
// is limited.
func (p *Profile) numeric(taken map[int]bool) []int {
	var found []int
	for i := range p.columns {
		c := &p.columns[i]
		isNumber := c.numbers > 0 && c.numbers*10 >= c.amounts()*8 && c.dates()*2 <= c.filled
		if isNumber && !taken[i] && !p.isOther(i) && len(found) < maxNumeric {
			found = append(found, i)
		}
	}
	return found
}

// named returns the columns with numbers whose best meaning is a field.
func (p *Profile) named(field string) []int {
	var found []int
	for i := range p.columns {
		m := headings.Meanings(p.title(i))
		if len(m) > 0 && m[0].Field == field && p.columns[i].fits(mapping.FieldAmount) &&
			len(found) < maxNumeric {
			found = append(found, i)
		}
	}
	return found
}

// byBalance chooses the amounts by the balance: among several amounts, for columns without
// headings, and whether a fee is a part of the amount.
func (p *Profile) byBalance(columns Columns, taken map[int]bool) {
	_, known := columns[mapping.FieldBalance]
	free := p.numeric(taken)
	stated, fees := free, p.named(mapping.FieldFee)
	if known {
		stated = p.named(mapping.FieldBalance)
	} else if p.heading >= 0 {
		stated = slices.DeleteFunc(slices.Clone(free), func(i int) bool {
			// "Total" may be a running total.
			return p.isNamed(i) && p.rank(i, mapping.FieldAmount) == 0
		})
	}
	pairs := p.amountPairs(columns, taken, free)
	var others []int // Whatever its heading, a fee makes more balances follow.
	if len(pairs)*len(stated) <= maxNumeric {
		others = free
	}
	wanted := slices.Concat(stated, fees, others)
	for _, pair := range pairs {
		wanted = append(wanted, pair[0], pair[1])
	}
	best, ok := p.newTable(columns, wanted).prove(stated, pairs, fees, others)
	if currency, has := columns[mapping.FieldCurrency]; has && len(p.columns[currency].values) > 1 {
		// If balances follow across currencies, the column has the currencies of the shops. It
		// stays taken.
		one := without(columns, mapping.FieldCurrency)
		if of, follows := p.newTable(one, wanted).prove(stated, pairs, fees, others); follows &&
			(!ok || of.matches > best.matches) {
			best, ok = of, true
			delete(columns, mapping.FieldCurrency)
		}
	}
	if !ok || !known && best.matches < 2 && (best.inverted || p.heading >= 0) {
		return
	}
	p.proof = &best
	for _, field := range []string{
		mapping.FieldAmount, mapping.FieldDebit, mapping.FieldCredit,
	} {
		if i, ok := columns[field]; ok {
			taken[i] = false
			delete(columns, field)
		}
	}
	columns[mapping.FieldBalance] = best.balance
	if best.credit == best.debit {
		columns[mapping.FieldAmount] = best.credit
	} else {
		columns[mapping.FieldCredit], columns[mapping.FieldDebit] = best.credit, best.debit
	}
	if best.fee != none {
		columns[mapping.FieldFee] = best.fee
		taken[best.fee] = true
	}
	taken[best.balance], taken[best.credit], taken[best.debit] = true, true, true
}

// amountPairs returns the columns that can have the debits and the credits, equal ones for signed
// amounts. Headings that name a debit or a credit are never contradicted: the balance of a card is
// a debt, which debits raise.
func (p *Profile) amountPairs(columns Columns, taken map[int]bool, free []int) [][2]int {
	amount, hasAmount := columns[mapping.FieldAmount]
	debit, hasDebit := columns[mapping.FieldDebit]
	credit, hasCredit := columns[mapping.FieldCredit]
	var pairs [][2]int
	switch {
	case hasDebit && hasCredit:
		pairs = append(pairs, [2]int{debit, credit})
	case hasAmount:
		pairs = append(pairs, [2]int{amount, amount})
		for _, i := range p.named(mapping.FieldAmount) {
			if !taken[i] {
				pairs = append(pairs, [2]int{i, i})
			}
		}
	case hasDebit:
		for _, i := range free {
			pairs = append(pairs, [2]int{debit, i})
		}
	case hasCredit:
		pairs = append(pairs, [2]int{credit, credit})
		for _, i := range free {
			pairs = append(pairs, [2]int{i, credit})
		}
	default:
		for x, i := range free {
			pairs = append(pairs, [2]int{i, i})
			for _, other := range free[x+1:] {
				pairs = append(pairs, [2]int{i, other}, [2]int{other, i})
			}
		}
	}
	return pairs
}

// pairTexts looks for the texts of money in beside the amounts of two columns, of which one is
// given. It reports whether that column has the credits.
func (p *Profile) pairTexts(table *table, column int) (witness Witness, isCredit bool) {
	here, there := 0, 0
	for row, n := range table.records {
		switch {
		case !saysIn(p.sample[n-1]):
		case table.numbers[column][row].Units != 0:
			here++
		default:
			there++
		}
	}
	if (here > 0) != (there > 0) {
		witness = ByTexts
	}
	return witness, witness != "" && here > 0
}

// byPair assigns debits and credits of which no heading names one or both: two columns of numbers
// of one sign each, of which each row has exactly one.
func (p *Profile) byPair(columns Columns, taken map[int]bool) {
	_, hasAmount := columns[mapping.FieldAmount]
	debit, hasDebit := columns[mapping.FieldDebit]
	credit, hasCredit := columns[mapping.FieldCredit]
	if hasAmount || hasDebit && hasCredit {
		return
	}
	free := slices.DeleteFunc(p.numeric(taken), func(i int) bool {
		return p.columns[i].negative > 0 && p.columns[i].positive > 0
	})
	firsts := free
	switch {
	case hasDebit:
		firsts = []int{debit}
	case hasCredit:
		firsts = []int{credit}
	}
	table := p.newTable(columns, slices.Concat(free, firsts))
	for _, first := range firsts {
		for _, second := range free {
			if second == first || !hasDebit && !hasCredit && second < first ||
				!table.alternate(first, second) {
				continue
			}
			witness, swap := ByHeading, hasCredit
			if !hasDebit && !hasCredit {
				if witness, swap = p.pairTexts(table, first); witness == "" {
					swap = table.isNegative(second)
				}
			}
			if p.pair = &witness; swap {
				first, second = second, first
			}
			columns[mapping.FieldDebit], columns[mapping.FieldCredit] = first, second
			taken[first], taken[second] = true, true
			return
		}
	}
}

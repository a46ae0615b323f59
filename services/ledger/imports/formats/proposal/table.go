package proposal

import (
	"maps"
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ledger/imports/formats/balances"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// number is a cell as a number. Other texts are unknown, and empty cells are 0.
type number struct {
	written.Sum

	filled bool
}

// table holds the rows of the sample that are transactions, and the numbers of some columns.
type table struct {
	records  []int // Numbers of the records.
	days     []time.Time
	accounts []string
	numbers  map[int][]number
}

// newTable reads columns of the sample. Payments that are not booked change no balance.
func (p *Profile) newTable(columns Columns, wanted []int) *table {
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	table := &table{numbers: make(map[int][]number)}
	mark, order := p.guessMark(columns), written.YMD
	date, hasDate := columns[mapping.FieldDate]
	state, hasState := columns[mapping.FieldStatus]
	if hasDate {
		order = p.orderOf(date).Orders
	}
	for index, cells := range p.sample[p.heading+1:] {
		if !written.IsTransaction(cells) {
			continue
		}
		status, known := written.StatusOf(at(cells, state))
		if hasState && known && status != written.Booked {
			continue
		}
		var day time.Time
		if hasDate {
			var ok bool
			if day, ok = written.ParseDate(at(cells, date), order); !ok {
				continue
			}
		}
		table.records = append(table.records, p.heading+index+2)
		table.days = append(table.days, day)
		account := ""
		for _, field := range []string{mapping.FieldAccount, mapping.FieldCurrency} {
			if i, ok := columns[field]; ok {
				account += at(cells, i) + "\x00"
			}
		}
		table.accounts = append(table.accounts, account)
		for _, i := range wanted {
			table.numbers[i] = append(table.numbers[i], numberOf(at(cells, i), mark))
		}
	}
	return table
}

// at returns a cell, or "" for none and beyond the end of the row.
func at(cells []string, i int) string {
	if i >= 0 && i < len(cells) {
		return cells[i]
	}
	return ""
}

// without returns the columns without a field. Without the status, newTable reads payments of each
// status.
func without(columns Columns, field string) Columns {
	all := maps.Clone(columns)
	delete(all, field)
	return all
}

// numberOf reads a cell with a decimal mark.
func numberOf(cell string, mark written.Marks) number {
	if isDash(cell) {
		return number{}
	}
	amount, _, ok := written.ParseAmount(cell, mark)
	if !ok {
		return number{written.Sum{Unknown: true}, true}
	}
	return number{written.SumOf(amount), true}
}

// amount returns the signed amount of a row.
func (t *table) amount(c chain, row int) written.Sum {
	amount := t.numbers[c.credit][row].Sum
	if c.debit != c.credit {
		amount = magnitude(amount).Plus(magnitude(t.numbers[c.debit][row].Sum).Negated())
	}
	if c.fee != none {
		amount = amount.Plus(magnitude(t.numbers[c.fee][row].Sum).Negated())
	}
	return amount
}

// magnitude returns a sum without its sign.
func magnitude(s written.Sum) written.Sum {
	if s.Units < 0 {
		return s.Negated()
	}
	return s
}

// measure counts the balances that a chain explains.
func (t *table) measure(chain chain) (measured chain, follows bool) {
	chain.table, chain.covered = t, 0
	var trail balances.Trail
	for row, n := range t.records {
		amount := t.amount(chain, row)
		if amount.Units != 0 {
			chain.covered++
		}
		balance := t.numbers[chain.balance][row]
		trail.Add(balances.Row{
			N: n, Account: t.accounts[row], Date: t.days[row], Amount: amount,
			Balance: balance.Sum, Stated: balance.filled,
		})
	}
	verdict := trail.Verdict()
	chain.inverted, follows = verdict.Follows()
	chain.matches = max(verdict.Agreed, verdict.Opposed)
	chain.broken = verdict.Agreed + verdict.Opposed + verdict.Other - chain.matches
	return chain, follows && (!chain.inverted || chain.debit == chain.credit)
}

// different returns the records in which column b has an amount that column a has not.
func (t *table) different(a, b int) []int {
	var found []int
	for row, n := range t.records {
		x, y := t.numbers[a][row], t.numbers[b][row]
		if y.Units != 0 && (!x.filled || magnitude(x.Sum).Differs(magnitude(y.Sum))) {
			found = append(found, n)
		}
	}
	return found
}

// equal returns the number of records in which two columns have the same amount.
func (t *table) equal(a, b int) (n int) {
	for row := range t.records {
		x, y := t.numbers[a][row], t.numbers[b][row]
		if x.filled && y.filled && !magnitude(x.Sum).Differs(magnitude(y.Sum)) {
			n++
		}
	}
	return n
}

// isNegative reports whether a column has amounts, and only negative ones.
func (t *table) isNegative(i int) bool {
	found := false
	for _, n := range t.numbers[i] {
		if n.Units > 0 {
			return false
		}
		found = found || n.Units < 0
	}
	return found
}

// sharesRows reports whether a column has a number beside an amount in some row.
func (t *table) sharesRows(i int, c chain) bool {
	for row := range t.records {
		c.fee = none
		if t.numbers[i][row].Units != 0 && t.amount(c, row).Units != 0 {
			return true
		}
	}
	return false
}

// nonzero returns the records in which a column has a number that is not 0.
func (t *table) nonzero(i int) []int {
	var found []int
	for row, n := range t.records {
		if t.numbers[i][row].Units != 0 {
			found = append(found, n)
		}
	}
	return found
}

// alternate reports whether each row has a number other than 0 in exactly one of two columns, and
// both columns have some.
func (t *table) alternate(a, b int) bool {
	counts := [2]int{}
	for row := range t.records {
		x, y := t.numbers[a][row].Units != 0, t.numbers[b][row].Units != 0
		switch {
		case x == y:
			return false
		case x:
			counts[0]++
		default:
			counts[1]++
		}
	}
	return counts[0] > 0 && counts[1] > 0
}

// isLess reports whether each amount of column a is that of column b less all fees, of which there
// are some.
func (t *table) isLess(a, b int, fees []int) bool {
	found := false
	for row := range t.records {
		less := t.numbers[b][row].Sum
		if less.Unknown || t.numbers[a][row].Unknown {
			return false
		}
		for _, fee := range fees {
			n := t.numbers[fee][row]
			less = less.Plus(magnitude(n.Sum).Negated())
			found = found || n.Units != 0
		}
		if t.numbers[a][row].Differs(less) {
			return false
		}
	}
	return found
}

package proposal

import (
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/headings"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/mapping"
	"github.com/coffer-budget/coffer/services/ledger/imports/formats/written"
)

// maxNumeric is the maximum number of columns with numbers that a chain compares with a balance.
const maxNumeric = 8

// chain describes how a column of balances follows from columns of amounts: each balance is the
// neighboring one plus or minus the amount of a row. It is the strongest evidence in a CSV file: it
// proves which column has the amounts, and which sign means money out, without any heading.
type chain struct {
	balance, debit, credit int  // Columns; debit and credit are equal for a signed amount.
	inverted               bool // A positive amount lowers the balance.
	matches                int
	covered                int // Rows with an amount.
}

// follow returns the amounts that explain the balance in most rows of the sample, preferring the
// given columns. It reports false if none explains at least four of five rows.
func (p *Profile) follow(
	balances, amounts []int, mark written.Marks, pairs bool,
) (best chain, ok bool) {
	sample := p.sample[p.heading+1:]
	values := make(map[int][]written.Sum)
	for _, i := range append(append([]int{}, balances...), amounts...) {
		if values[i] == nil {
			values[i] = columnSums(sample, i, mark)
		}
	}
	for _, b := range balances {
		for x, a := range amounts {
			if a == b {
				continue
			}
			best.improve(chain{balance: b, debit: a, credit: a}, values)
			for _, other := range amounts[x+1:] {
				if pairs && other != b {
					best.improve(chain{balance: b, debit: a, credit: other}, values)
					best.improve(chain{balance: b, debit: other, credit: a}, values)
				}
			}
		}
	}
	return best, best.matches > 0 && best.matches*5 >= (len(sample)-1)*4
}

// columnSums returns the numbers of a column. Empty cells are 0 and other texts are unknown.
func columnSums(sample [][]string, i int, mark written.Marks) []written.Sum {
	sums := make([]written.Sum, len(sample))
	for row, cells := range sample {
		if i >= len(cells) || cells[i] == "" {
			continue
		}
		if amount, _, ok := written.ParseAmount(cells[i], mark); ok {
			sums[row] = written.SumOf(amount)
		} else {
			sums[row].Unknown = true
		}
	}
	return sums
}

// improve replaces the chain by another one that explains more rows. It tries both orders of the
// rows, the oldest first and the newest first, and both signs. Of two chains with equally many
// matches, the one with amounts in more rows wins.
func (c *chain) improve(other chain, values map[int][]written.Sum) {
	for _, inverted := range []bool{false, true} {
		if inverted && other.debit != other.credit {
			continue
		}
		rising, falling := 0, 0
		balances := values[other.balance]
		for row := 1; row < len(balances); row++ {
			difference := balances[row].Units - balances[row-1].Units
			if balances[row].Unknown || balances[row-1].Unknown {
				continue
			}
			if v, ok := other.amount(values, row, inverted); ok && v == difference && v != 0 {
				rising++
			}
			if v, ok := other.amount(values, row-1, inverted); ok && v == -difference && v != 0 {
				falling++
			}
		}
		covered := 0
		for row := range balances {
			if v, ok := other.amount(values, row, inverted); ok && v != 0 {
				covered++
			}
		}
		matches := max(rising, falling)
		if matches > c.matches || matches > 0 && matches == c.matches && covered > c.covered {
			*c = other
			c.inverted, c.matches, c.covered = inverted, matches, covered
		}
	}
}

// amount returns the signed amount of a row.
func (c chain) amount(values map[int][]written.Sum, row int, inverted bool) (int64, bool) {
	credit, debit := values[c.credit][row], values[c.debit][row]
	v := credit.Units
	if c.debit != c.credit {
		v = max(credit.Units, -credit.Units) - max(debit.Units, -debit.Units)
	}
	if inverted {
		v = -v
	}
	return v, !credit.Unknown && !debit.Unknown
}

// numeric returns up to maxNumeric columns that contain numbers, are not dates and have no field
// yet. follow compares each pair of them, so their number is limited.
func (p *Profile) numeric(taken map[int]bool) []int {
	var found []int
	for i := range p.columns {
		c := &p.columns[i]
		if !taken[i] && c.numbers > 0 && c.numbers*10 >= c.filled*8 && c.dates()*2 <= c.filled &&
			len(found) < maxNumeric {
			found = append(found, i)
		}
	}
	return found
}

// guessMark returns the decimal mark of all numbers of the file, before columns are chosen.
func (p *Profile) guessMark() written.Marks {
	dots, commas := 0, 0
	for i := range p.columns {
		dots, commas = dots+p.columns[i].dots, commas+p.columns[i].commas
	}
	if commas > dots {
		return written.Comma
	}
	return written.Dot
}

// byBalance chooses the amounts by the balance: among several amounts, and for columns without
// headings.
func (p *Profile) byBalance(columns Columns, taken map[int]bool) {
	balance, known := columns[headings.Balance]
	amount, hasAmount := columns[mapping.FieldAmount]
	_, hasDebit := columns[mapping.FieldDebit]
	_, hasCredit := columns[mapping.FieldCredit]
	if hasDebit && hasCredit || len(p.sample)-p.heading-1 < 2 ||
		p.heading >= 0 && (!known || !hasAmount) {
		return
	}
	if p.heading >= 0 {
		candidates := []int{amount}
		for i := range p.columns {
			m := headings.Meanings(p.title(i))
			if len(m) > 0 && m[0].Field == mapping.FieldAmount && i != amount && !taken[i] &&
				p.columns[i].fits(mapping.FieldAmount) && len(candidates) < maxNumeric {
				candidates = append(candidates, i)
			}
		}
		if best, ok := p.follow([]int{balance}, candidates, p.guessMark(), false); ok {
			taken[amount], taken[best.credit] = false, true
			columns[mapping.FieldAmount] = best.credit
		}
		return
	}
	numbers := p.numeric(taken)
	best, ok := p.follow(numbers, numbers, p.guessMark(), true)
	if !ok || best.matches < 2 && best.inverted {
		return
	}
	columns[headings.Balance] = best.balance
	taken[best.balance], taken[best.credit], taken[best.debit] = true, true, true
	if best.credit == best.debit {
		columns[mapping.FieldAmount] = best.credit
	} else {
		columns[mapping.FieldCredit], columns[mapping.FieldDebit] = best.credit, best.debit
	}
}

// contradicted reports whether the balances change by the amounts, but not in the direction of
// their signs: the file has no sign that the mapping could use.
func (p *Profile) contradicted(columns Columns, mark written.Marks) bool {
	balance, ok := columns[headings.Balance]
	amount, hasAmount := columns[mapping.FieldAmount]
	if !ok || !hasAmount || p.columns[amount].negative > 0 {
		return false
	}
	sample := p.sample[p.heading+1:]
	balances, amounts := columnSums(sample, balance, mark), columnSums(sample, amount, mark)
	var pairs, rising, falling, up, down int
	for row := 1; row < len(sample); row++ {
		if balances[row].Unknown || balances[row-1].Unknown || amounts[row].Unknown ||
			amounts[row-1].Unknown {
			continue
		}
		pairs++
		difference := balances[row].Units - balances[row-1].Units
		if v := amounts[row].Units; v != 0 && (v == difference || v == -difference) {
			rising++
		}
		if v := amounts[row-1].Units; v != 0 && (v == difference || v == -difference) {
			falling++
		}
		if difference > 0 {
			up++
		} else if difference < 0 {
			down++
		}
	}
	return up > 0 && down > 0 && max(rising, falling) > 1 && max(rising, falling)*5 >= pairs*4
}

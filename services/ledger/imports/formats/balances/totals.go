package balances

import "github.com/coffer-budget/coffer/services/ledger/imports/formats/written"

const (
	// minTerms is the number of rows from which an equal total is no coincidence.
	minTerms = 3
	// edge is the number of rows at the end of a file that may be totals.
	edge = 5
)

// Totals finds rows at the end of a file whose amount is that of the rows before it: a closing
// balance, or the total of all debits or credits. A row that changes the stated balance is none.
// The zero value is empty.
type Totals struct {
	accounts map[string]*sums
	last     int // The number of the last total.
	since    int // Rows after it.
	rows     int
	top, end [2]Row // The first two rows, and the last two.
}

// sums are the totals of an account.
type sums struct {
	first   written.Sum
	total   written.Sum
	sides   [2]written.Sum // Money out and in, without the first row.
	terms   [2]int
	started bool
	balance written.Sum // Of the last row, if it is stated.
	stated  bool
}

// Add adds the next row of the file.
func (t *Totals) Add(r Row) {
	if t.accounts == nil {
		t.accounts = make(map[string]*sums)
	}
	s := t.accounts[r.Account]
	if s == nil {
		s = &sums{}
		t.accounts[r.Account] = s
	}
	t.since++
	if t.rows < len(t.top) {
		t.top[t.rows] = r
	}
	t.end = [2]Row{r, t.end[0]}
	t.rows++
	moved := r.Stated && s.stated && r.Balance.Plus(s.balance.Negated()) == r.Amount
	s.balance, s.stated = r.Balance, r.Stated
	if !moved && s.explains(r.Amount) {
		t.last, t.since = r.N, 0
		return
	}
	s.add(r.Amount)
}

// Last returns the number of the last total at the end of the file, or 0.
func (t *Totals) Last() int {
	if t.since >= edge {
		return 0
	}
	return t.last
}

// Edge returns the number of the first or the last row if it seems to state a balance, or 0: its
// amount is also its balance, or its balance is that of the next row.
func (t *Totals) Edge() int {
	for _, pair := range [][2]Row{t.top, t.end} {
		row, next := pair[0], pair[1]
		repeats := next.Stated && !next.Balance.Differs(row.Balance)
		isBalance := row.Stated && row.Amount.Units != 0 && !row.Balance.Unknown
		if isBalance && (repeats || row.Amount == row.Balance) && t.rows > minTerms {
			return row.N
		}
	}
	return 0
}

// side returns the index of a direction.
func side(amount written.Sum) int {
	if amount.Units > 0 {
		return 1
	}
	return 0
}

func (s *sums) add(amount written.Sum) {
	s.total = s.total.Plus(amount)
	if !s.started {
		s.first, s.started = amount, true
		return
	}
	i := side(amount)
	s.sides[i] = s.sides[i].Plus(amount)
	s.terms[i]++
}

// explains reports whether an amount is a total of the rows before it. The first row may be a
// balance: the opening one, or the closing one in a file with the newest row first.
func (s *sums) explains(amount written.Sum) bool {
	if amount.Unknown || amount.Units == 0 || s.terms[0]+s.terms[1] < minTerms {
		return false
	}
	isEqual := func(total written.Sum) bool {
		return !total.Unknown && total.Units == amount.Units
	}
	i := side(amount)
	newest := s.first.Plus(s.sides[0].Plus(s.sides[1]).Negated())
	isSide := s.terms[i] >= minTerms && (isEqual(s.sides[i]) ||
		side(s.first) == i && isEqual(s.sides[i].Plus(s.first)))
	return isSide || isEqual(s.total) || isEqual(newest)
}

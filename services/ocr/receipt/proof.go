package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

type proof struct {
	points float64
	// sums counts the sums of other figures that equal the amount. Several figures are rarely
	// misread so that they still agree. copies counts other places with the same figure, which may
	// repeat the same error.
	sums, copies int
	// rows is the number of rows with the amount, in the reading that has the most.
	rows int
}

// proof weighs the evidence that v is the total: payments, subtotals, lines of goods, and how often
// v is printed.
func (j *join) proof(v int64) proof {
	p := j.sums.proof(v)
	lines := 0.0
	for _, draft := range j.drafts {
		lines = max(lines, linesProof(reconciler{v, &j.sums}.reconcile(draft)))
	}
	for _, r := range j.readings {
		p.rows = max(p.rows, occurrences(v, r.lines))
	}
	if lines == severalLines {
		p.sums++
	} else if lines > 0 {
		p.copies++
	}
	if p.rows > 3 {
		p.copies++
	}
	p.points += lines + min(float64(p.rows-1)*0.5, 1.5)
	return p
}

// proof weighs the evidence of the labeled sums alone.
func (s *sums) proof(v int64) proof {
	var p proof
	equals := func(l labeled) bool { return l.Value == v }
	if s.paid(v) {
		p.points += 3
		p.sums++
	}
	if slices.ContainsFunc(s.cash, equals) {
		p.points += 1.5
		p.copies++
	}
	if s.composed(v) {
		p.points += 3
		p.sums++
	} else if slices.ContainsFunc(s.subtotals, equals) {
		p.points += 1
	}
	if s.beforeRounding(v) || s.partOfTotal(v) {
		p.points -= 3
	}
	return p
}

// severalLines is the number of points for several lines that add up to the total without a repair.
const severalLines = 3

// linesProof returns the points for lines that add up to the total. A single line proves little,
// because it is a copy of the total, and a repair can make a few lines add up to any amount.
func linesProof(it items) float64 {
	switch {
	case !it.reconciled:
		return 0
	case it.repairs == 0 && len(it.list) > 1:
		return severalLines
	case it.repairs == 0:
		return 1.5
	case len(it.list) > 2:
		return 1
	}
	return 0
}

// paid reports whether cash minus change is v, or v rounded.
func (s *sums) paid(v int64) bool {
	for _, cash := range s.cash {
		for _, change := range s.change {
			if change.Value == 0 {
				continue
			}
			for _, r := range roundings(s.rounding) {
				if cash.Value-abs(change.Value) == v+r.value {
					return true
				}
			}
		}
	}
	return false
}

// composed reports whether v is a subtotal or an earlier total adjusted by tax, tip, rounding and
// discount, or the sum of two subtotals.
func (s *sums) composed(v int64) bool {
	for _, base := range slices.Concat(s.subtotals, s.totals) {
		// A total is not the base of a smaller total, except by rounding. Otherwise every subtotal
		// would be proved by the total.
		isTotal := base.at != nil && base.at.Kind == printed.KindTotal
		if base.Value == v || isTotal && base.Value-v >= 100 {
			continue
		}
		if _, ok := s.adjustments(base.Value, v); ok {
			return true
		}
		// Two subtotals belong to two tax rates. One of them is negative if mostly returned goods
		// have that rate.
		rest := func(o labeled) bool { return !o.inferred && o.Value+base.Value == v }
		if base.Value > 0 && !base.inferred && slices.ContainsFunc(s.subtotals, rest) {
			return true
		}
	}
	return false
}

// beforeRounding reports whether v plus or minus the printed rounding is another total, a multiple
// of the smallest coin. Then v is the amount before rounding.
func (s *sums) beforeRounding(v int64) bool {
	for _, r := range s.rounding {
		if r.Value == 0 || abs(r.Value) >= 1000 {
			continue
		}
		for _, t := range s.totals {
			rounded := t.Value == v+r.Value || t.Value == v-r.Value
			if t.Value != v && rounded && t.Value%coinOf(s.currency) == 0 {
				return true
			}
		}
	}
	return false
}

// partOfTotal reports whether v and a subtotal add up to an amount with an unambiguous total label.
// Then v is a part, too.
func (s *sums) partOfTotal(v int64) bool {
	for _, t := range s.totals {
		rest := func(o labeled) bool { return o.Value != v && o.Value+v == t.Value }
		if t.strong && t.Value > v && slices.ContainsFunc(s.subtotals, rest) {
			return true
		}
	}
	return false
}

func occurrences(v int64, lines []*printed.Line) int {
	n := 0
	equals := func(a printed.Amount) bool { return a.IsPrice() && a.Value == v }
	for _, l := range lines {
		if slices.ContainsFunc(l.Amounts, equals) {
			n++
		}
	}
	return n
}

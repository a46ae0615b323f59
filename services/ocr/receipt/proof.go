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
	// paid is set if the payment less the change is exactly the amount, and tendered if a payment
	// is.
	paid, tendered bool
}

// proof weighs the evidence that v is the total: payments, subtotals, lines of goods, and how often
// v is printed.
func (j *join) proof(v int64) proof {
	proof := j.sums.proof(v)
	lines := 0.0
	for _, draft := range j.drafts {
		lines = max(lines, linesProof(reconciler{v, &j.sums}.reconcile(draft)))
	}
	for _, r := range j.readings {
		proof.rows = max(proof.rows, occurrences(v, r.lines))
	}
	if lines == severalLines {
		proof.sums++
	} else if lines > 0 {
		proof.copies++
	}
	if proof.rows > 3 {
		proof.copies++
	}
	proof.points += lines + min(float64(proof.rows-1)*0.5, 1.5)
	return proof
}

// proof weighs the evidence of the labeled sums alone.
func (s *sums) proof(value int64) proof {
	var proof proof
	equals := func(l labeled) bool { return l.Value == value }
	paid := s.paid(value)
	if paid != nil {
		proof.points += 3
		proof.sums++
	}
	proof.paid = paid != nil && *paid == value
	if proof.tendered = slices.ContainsFunc(s.cash, equals); proof.tendered {
		proof.points += 1.5
		proof.copies++
	}
	if s.composed(value) {
		proof.points += 3
		proof.sums++
	} else if slices.ContainsFunc(s.subtotals, equals) {
		proof.points += 1
	}
	return proof
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

// paid returns cash minus change if it is v, or v rounded, and otherwise nil. Not every till prints
// the rounding.
func (s *sums) paid(v int64) *int64 {
	for _, cash := range s.cash {
		for _, change := range s.change {
			paid := cash.Value - abs(change.Value)
			rounded := func(o option) bool { return paid == v+o.value }
			if change.Value != 0 && (s.roundedTo(v, paid) ||
				slices.ContainsFunc(roundings(s.rounding), rounded)) {
				return &paid
			}
		}
	}
	return nil
}

// composed reports whether value is a subtotal or an earlier total adjusted by tax, tip, rounding
// and discount, or the sum of two subtotals.
func (s *sums) composed(value int64) bool {
	for _, base := range slices.Concat(s.subtotals, s.totals) {
		// A total is not the base of a smaller total, except by rounding. Otherwise every subtotal
		// would be proved by the total.
		isTotal := base.at != nil && base.at.Kind == printed.KindTotal
		if base.Value == value || isTotal && base.Value-value >= 100 {
			continue
		}
		if _, ok := s.adjustments(base.Value, value); ok {
			return true
		}
		// Two subtotals belong to two tax rates. One of them is negative if mostly returned goods
		// have that rate.
		rest := func(o labeled) bool { return !o.inferred && o.Value+base.Value == value }
		if base.Value > 0 && !base.inferred && slices.ContainsFunc(s.subtotals, rest) {
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

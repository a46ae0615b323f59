package receipt

import (
	"cmp"
	"slices"
)

// A receipt is an equation whose parts are printed from top to bottom:
//
//	lines = subtotal; subtotal + charges ± rounding = total; total = payments − change
//
// The solver takes each likely amount for the total, and finds the sums before it from which
// printed amounts lead to it. The score of such a solution is the evidence for the amounts that it
// explains, so a total explains its subtotal, but not the other way round. The best solution wins.

// Points of a solution. An amount also has the points of its label.
const (
	// severalLines is the evidence of several lines that add up without a repair.
	severalLines = 3.0
	// exactPayment is that of payments less the change.
	exactPayment = 3.0
	// tenderedAmount is that of a payment of the amount.
	tenderedAmount = 1.5
	// printedParts is that of a sum that printed amounts lead to.
	printedParts = 2.0
	// unknownCharge is that of a sum to which only an amount leads that was not read.
	unknownCharge = -2.0
)

// maxSteps is the number of sums before the total. A receipt has only a few kinds of sums.
const maxSteps = 4

// solution explains amounts of the receipt by one of them as the total.
type solution struct {
	candidate
	// before explains the sum before the total, to which the step leads from it. It is nil if the
	// goods lead to the total.
	before *solution
	step
	// labels, goods and payment are the evidence of the labels, of the lines and of the payment.
	labels, goods, payment float64
	// equations is the number of sums of several amounts that hold. copies counts other places
	// with the total, which may repeat its error.
	equations, copies int
	// paid is set if the payment less the change is exactly the total, and tendered if a payment
	// is.
	paid, tendered bool
}

func (s solution) score() float64 { return s.labels + s.goods + s.payment }

// explains reports whether the amount is the total or a sum before it.
func (s *solution) explains(value int64) bool {
	return s != nil && (s.value == value || s.before.explains(value))
}

// solver has the solutions without sums before the total, and the steps between any two.
type solver struct {
	alone []solution
	steps map[[2]int]step
	// solved has the results of solve by total and steps. Without them, the number of paths through
	// a crafted text would be the fifth power of the number of amounts.
	solved map[[2]int]solution
}

// solutions returns a solution for each likely total, best first. Of equal scores, the lowest row
// and then the larger amount wins.
func (j *join) solutions() []solution {
	s := solver{steps: map[[2]int]step{}, solved: map[[2]int]solution{}}
	for _, c := range j.likeliestSums() {
		s.alone = append(s.alone, j.alone(c))
	}
	for i, from := range s.alone {
		for k, to := range s.alone {
			if step, ok := j.next(from, to); ok {
				s.steps[[2]int{i, k}] = step
			}
		}
	}
	var out []solution
	for i := range s.alone {
		out = append(out, s.solve(i, maxSteps))
	}
	slices.SortFunc(out, func(a, b solution) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), b.at.Index-a.at.Index,
			cmp.Compare(b.value, a.value))
	})
	return out
}

// solve returns the best solution for a total with at most the given number of sums before it.
func (s *solver) solve(total, steps int) solution {
	key := [2]int{total, steps}
	if found, ok := s.solved[key]; ok {
		return found
	}
	best := s.alone[total]
	for from := range s.alone {
		step, ok := s.steps[[2]int{from, total}]
		if !ok || steps == 0 {
			continue
		}
		before := s.solve(from, steps-1)
		if before.explains(best.value) {
			continue
		}
		if out := s.alone[total].after(before, step); out.score() > best.score() {
			best = out
		}
	}
	s.solved[key] = best
	return best
}

// alone returns the evidence for a total without sums before it.
func (j *join) alone(c candidate) solution {
	s := solution{candidate: c, step: step{explained: true}}
	s.labels = c.label + min(float64(c.rows-1)*0.5, 1.5)
	if c.rows > 3 {
		s.copies++
	}
	if paid := j.sums.paid(c.value); paid != nil {
		s.payment = exactPayment
		s.equations++
		s.paid = *paid == c.value
	}
	equals := func(l labeled) bool { return l.Value == c.value }
	if s.tendered = slices.ContainsFunc(j.sums.cash, equals); s.tendered {
		s.labels += tenderedAmount
		s.copies++
	}
	for _, draft := range j.drafts {
		s.goods = max(s.goods, linesProof(reconciler{c.value, &j.sums}.reconcile(draft)))
	}
	if s.goods == severalLines {
		s.equations++
	} else if s.goods > 0 {
		s.copies++
	}
	return s
}

// linesProof returns the points for lines that add up to the total. A single line proves little,
// because it is a copy of the total, and a repair can make a few lines add up to any amount.
func linesProof(it items) float64 {
	switch {
	case !it.reconciled:
		return 0
	case it.repairs == 0 && len(it.list) > 1:
		return severalLines
	case it.repairs == 0:
		return severalLines / 2
	case len(it.list) > 2:
		return 1
	}
	return 0
}

// after returns the solution that also explains the sums before the total. The payment is that of
// the total alone.
func (s solution) after(before solution, by step) solution {
	s.before, s.step = &before, by
	if s.rows > 0 {
		// An amount that is only calculated explains no row.
		s.labels += before.labels
	}
	s.goods = max(s.goods, before.goods)
	s.equations = max(s.equations, before.equations)
	s.copies = max(s.copies, before.copies)
	s.label = max(s.label, before.label)
	s.totalRows = max(s.totalRows, before.totalRows)
	if by.explained {
		s.labels += printedParts
		s.equations++
	} else {
		s.labels += unknownCharge
	}
	return s
}

// confidence converts the score of the best solution to a confidence. lead is the distance to the
// best solution with another chain of sums. The coefficients were fitted to the share
// of correct totals with a given score and lead. Points alone never reach confidentTotal: equations
// must hold, too.
func (s solution) confidence(others []solution) float64 {
	lead := s.score()
	for _, o := range others {
		if !s.explains(o.value) && !o.explains(s.value) {
			lead -= o.score()
			break
		}
	}
	x := 0.22 + 0.06*min(s.label, 4) + 0.06*min(s.score()-s.label, 5) +
		0.07*max(min(lead, 3), -3)
	if s.corroborated() && lead >= 2 {
		x = max(x, confidentTotal)
	} else {
		x = min(x, confidentTotal-0.01)
	}
	return max(0.01, min(0.99, x))
}

// corroborated reports whether the amount is labeled as a total and one of these holds: two
// equations hold; one does and the amount was read in another reading or place; or two readings
// and several places have it. Text needs no second reading. An unknown charge contradicts all.
func (s solution) corroborated() bool {
	for at := &s; at != nil; at = at.before {
		if !at.explained {
			return false
		}
	}
	repeated := s.totalRows > 1 || s.at.Exact
	proven := s.equations > 1 || s.equations == 1 && (repeated || s.copies > 0) ||
		repeated && s.copies > 1
	return s.label >= 3 && proven
}

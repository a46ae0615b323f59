package receipt

import "slices"

// proof is what speaks for an amount apart from what it is called: points, and how much of that is sums of other figures,
// which are not misread together, and how much is the same figure elsewhere, which may be.
type proof struct {
	points       float64
	sums, copies int
}

// proofs adds up the sums that come out at v.
func proofs(v int64, readings []Reading, goods [][]draftItem, s *sums) proof {
	var p proof
	if paid(v, s) {
		p.points += 3
		p.sums++
	}
	if slices.ContainsFunc(s.cash, func(c labelled) bool { return c.value == v }) {
		p.points += 1.5
		p.copies++
	}
	if composed(v, s) {
		p.points += 3
		p.sums++
	} else if slices.ContainsFunc(s.subtotals, func(c labelled) bool { return c.value == v }) {
		p.points += 1
	}
	if roundedAway(v, s) || partOfTotal(v, s) {
		p.points -= 3
	}
	lines, often := 0.0, 0
	for _, draft := range goods {
		lines = max(lines, linesProof(reconcile(draft, v, s)))
	}
	for _, r := range readings {
		often = max(often, occurrences(v, r.lines))
	}
	if lines == severalLines {
		p.sums++
	} else if lines > 0 {
		p.copies++
	}
	if often > 3 {
		p.copies++
	}
	p.points += lines + min(float64(often-1)*0.5, 1.5)
	return p
}

// severalLines is the proof of lines that come out at the total as they were read.
const severalLines = 3

// linesProof is what it says for a total that the lines come out at it. A single line comes out at anything.
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

// paid: cash less change is v, or v rounded.
func paid(v int64, s *sums) bool {
	for _, cash := range s.cash {
		for _, change := range s.change {
			if change.value == 0 {
				continue
			}
			for _, r := range roundings(s.rounding) {
				if cash.value-abs(change.value) == v+r.value {
					return true
				}
			}
		}
	}
	return false
}

// composed: a subtotal, or an earlier total, with tax, tip, rounding and discount makes v.
func composed(v int64, s *sums) bool {
	for _, base := range slices.Concat(s.subtotals, s.totals) {
		// A total is never taken for the start of a smaller one, but for rounding: that way every subtotal would be proved.
		if base.value == v || base.at != nil && base.at.kind == kindTotal && base.value-v >= 100 {
			continue
		}
		if _, ok := adjustments(base.value, v, s); ok {
			return true
		}
		// Subtotals of two rates of tax; what was given back may outweigh one.
		if slices.ContainsFunc(s.subtotals, func(o labelled) bool { return !o.near && o.value+base.value == v }) && base.value > 0 && !base.near {
			return true
		}
	}
	return false
}

// roundedAway: v with the rounding makes another amount that is called a total.
func roundedAway(v int64, s *sums) bool {
	for _, r := range s.rounding {
		if r.value == 0 || abs(r.value) >= 1000 {
			continue
		}
		for _, t := range s.totals {
			if t.value != v && (t.value == v+r.value || t.value == v-r.value) && t.value%50 == 0 {
				return true
			}
		}
	}
	return false
}

// partOfTotal: v and a subtotal make what is surely called the total.
func partOfTotal(v int64, s *sums) bool {
	return slices.ContainsFunc(s.totals, func(t labelled) bool {
		return t.strong && t.value > v && slices.ContainsFunc(s.subtotals, func(o labelled) bool { return o.value != v && o.value+v == t.value })
	})
}

func occurrences(v int64, lines []*line) int {
	n := 0
	for _, l := range lines {
		if slices.ContainsFunc(l.amounts, func(a amount) bool { return a.money() && a.value == v }) {
			n++
		}
	}
	return n
}

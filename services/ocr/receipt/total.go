package receipt

import (
	"cmp"
	"slices"
)

// sureTotal is the confidence from which a total is right in at least 98 of 100 receipts.
const sureTotal = 0.9

// candidate is an amount that may be the total, with what speaks for it.
type candidate struct {
	value      int64
	at         *line
	start, end int
	label      float64
	proofs     float64
	confidence float64
}

func (c candidate) score() float64 { return c.label + c.proofs }

// ballot collects the amounts that may be the total.
type ballot map[int64]*candidate

func (b ballot) add(v int64, at *line, a amount, label float64) {
	// What a refund comes to is below zero; on a picture that is more often dirt.
	if at == nil || v == 0 || v < 0 && !(at.exact && at.kind == kindTotal) {
		return
	}
	c := b[v]
	if c == nil {
		c = &candidate{value: v, label: -1}
		b[v] = c
	}
	if label > c.label {
		c.at, c.start, c.end, c.label = at, a.start, a.end, label
	}
}

// rankTotals weighs every amount that may be the total: what it is called, and which sums come out at it. s is what all
// the readings found.
func rankTotals(readings []Reading, s *sums) []candidate {
	b := ballot{}
	for i, t := range s.totals {
		b.add(t.value, t.at, t.amount, totalLabel(t, i, len(s.totals)))
	}
	for _, t := range s.subtotals {
		b.add(t.value, t.at, t.amount, 1.5)
	}
	for _, t := range s.cash {
		b.add(t.value, t.at, t.amount, 1)
	}
	for _, r := range readings {
		for _, l := range r.lines {
			for _, a := range l.amounts {
				if a.money() && l.kind == kindNone {
					b.add(a.value, l, a, 0.2)
				}
			}
		}
	}
	b.derive(s)
	var out []candidate
	for _, c := range b {
		c.proofs = proofs(c.value, readings, s)
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), cmp.Compare(b.at.index, a.at.index), cmp.Compare(b.value, a.value))
	})
	judge(out)
	return out
}

func totalLabel(t labelled, i, n int) float64 {
	label := 3.0
	if t.strong {
		label = 4
	}
	if t.near {
		label -= 1
	}
	if t.certainty < 0.5 {
		label -= 0.5
	}
	label += 0.4 * float64(min(t.seen, 3)-1)
	// Later totals have less left to add; but what follows the payment is mostly a table of taxes.
	return label + 0.3*float64(i)/float64(n)
}

// derive proposes what the total must have been where it was misread: cash less change, an earlier total rounded, or, where
// none was read, the subtotal with its tax.
func (b ballot) derive(s *sums) {
	if len(s.totals) == 0 {
		b.deriveTaxed(s)
	}
	for _, cash := range s.cash {
		for _, change := range s.change {
			if v := cash.value - abs(change.value); v > 0 {
				b.add(v, cash.at, cash.amount, 0)
			}
		}
	}
	for _, r := range s.rounding {
		for _, t := range s.totals {
			for _, v := range []int64{t.value + r.value, t.value - r.value} {
				if r.value != 0 && abs(r.value) < 100 && v%50 == 0 && t.value%50 != 0 {
					b.add(v, t.at, t.amount, 0.5)
				}
			}
		}
	}
}

func (b ballot) deriveTaxed(s *sums) {
	for _, base := range s.subtotals {
		for _, tax := range s.taxes {
			taxed := base.value + abs(tax.value)
			if tax.value == 0 || taxed >= 2*base.value {
				continue
			}
			b.add(taxed, base.at, base.amount, 0)
			for _, r := range roundings(s.rounding)[1:] {
				if v := taxed + r.value; v%50 == 0 {
					b.add(v, base.at, base.amount, 0.5)
				}
			}
		}
	}
}

// proofs adds up the sums that come out at v.
func proofs(v int64, readings []Reading, s *sums) float64 {
	p := 0.0
	if paid(v, s) {
		p += 3
	}
	if slices.ContainsFunc(s.cash, func(c labelled) bool { return c.value == v }) {
		p += 1.5
	}
	if composed(v, s) {
		p += 3
	} else if slices.ContainsFunc(s.subtotals, func(c labelled) bool { return c.value == v }) {
		p += 1
	}
	if roundedAway(v, s) || partOfTotal(v, s) {
		p -= 3
	}
	lines, often := 0.0, 0
	for _, r := range readings {
		lines = max(lines, linesProof(reconcile(r.draft, v, s)))
		often = max(often, occurrences(v, r.lines))
	}
	return p + lines + min(float64(often-1)*0.5, 1.5)
}

// linesProof is what it says for a total that the lines come out at it. A single line comes out at anything.
func linesProof(it items) float64 {
	switch {
	case !it.reconciled:
		return 0
	case it.repairs == 0 && len(it.list) > 1:
		return 3
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

// judge turns points into confidences. The figures come from measuring which share of totals with so many points, and
// such a lead over the next, are right.
func judge(c []candidate) {
	for i := range c {
		lead := c[i].score()
		if len(c) > 1 {
			other := c[0]
			if i == 0 {
				other = c[1]
			}
			lead -= other.score()
		}
		x := 0.22 + 0.06*min(c[i].label, 4) + 0.06*min(c[i].proofs, 5) + 0.07*max(min(lead, 3), -3)
		c[i].confidence = max(0.01, min(0.99, x))
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

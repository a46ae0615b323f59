package receipt

import (
	"cmp"
	"slices"
)

const (
	// sureTotal is the confidence from which a total is right in at least 98 of 100 receipts.
	sureTotal = 0.9
	// likelyTotal is the confidence below which a total may well be wrong.
	likelyTotal = 0.75
)

// candidate is an amount that may be the total, with what speaks for it.
type candidate struct {
	value      int64
	at         *line
	start, end int
	label      float64
	// seen is how often it is called a total.
	seen int
	proof
	confidence float64
}

func (c candidate) score() float64 { return c.label + c.points }

// ballot collects the amounts that may be the total.
type ballot map[int64]*candidate

func (b ballot) add(v int64, at *line, a amount, label float64) {
	// What a refund comes to is below zero, and an exchange to nothing; on a picture that is more often dirt.
	if at == nil || v <= 0 && !(at.exact && at.kind == kindTotal) {
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
func rankTotals(readings []Reading, goods [][]draftItem, s *sums) []candidate {
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
		c.proof = proofs(c.value, readings, goods, s)
		c.seen = witnesses(c.value, readings)
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), cmp.Compare(b.at.index, a.at.index), cmp.Compare(b.value, a.value))
	})
	judge(out)
	return out
}

// witnesses counts the rows of all readings that call v a total. Looks at single rows are one, however many they are: they
// tend to make the same mistake.
func witnesses(v int64, readings []Reading) int {
	n, looked := 0, 0
	for _, r := range readings {
		for _, t := range r.sums.totals {
			switch {
			case t.value != v:
			case r.rowsOnly:
				looked = 1
			default:
				n++
			}
		}
	}
	return n + looked
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

// judge turns points into confidences. The figures come from measuring which share of totals with so many points, and
// such a lead over the next, are right. Points alone make no total sure: it must agree with other figures.
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
		x := 0.22 + 0.06*min(c[i].label, 4) + 0.06*min(c[i].points, 5) + 0.07*max(min(lead, 3), -3)
		if c[i].agrees() && lead >= 2 {
			x = max(x, sureTotal)
		} else {
			x = min(x, sureTotal-0.01)
		}
		c[i].confidence = max(0.01, min(0.99, x))
	}
}

// agrees: it is called the total, and two sums come out at it; or one, and another reading or place says the same; or
// two readings and several places do. Text needs no second reading.
func (c candidate) agrees() bool {
	again := c.seen > 1 || c.at.exact
	return c.label >= 3 && (c.sums > 1 || c.sums == 1 && (again || c.copies > 0) || again && c.copies > 1)
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

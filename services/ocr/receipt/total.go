package receipt

import (
	"cmp"
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

const (
	// confidentTotal is the confidence from which a total is right on at least 98 of 100 receipts.
	confidentTotal = 0.9
	// likelyTotal is the confidence below which a total is often wrong.
	likelyTotal = 0.75
	// minScore is the score below which no amount is taken for the total.
	minScore = 1
	// derivedLabel is the number of points for an amount that a printed rounding leads to.
	derivedLabel = 0.5
	// printedLabel is the lowest number of points for an amount that is printed beside a word for a
	// sum or a payment.
	printedLabel = 1
	// clearlyRead is the confidence of a word from which its digits are rarely wrong.
	clearlyRead = 0.85
)

type candidate struct {
	value int64
	// at is the line with the best label. start and end delimit the amount in its text.
	at         *printed.Line
	start, end int
	// label is the number of points for what the line calls the amount: 3 and more for a total,
	// less for other words.
	label float64
	// strong is set if a label says nothing but total, and clear if that row was read well.
	strong, clear bool
	// totalRows is the number of independent rows that call the amount a total.
	totalRows int
	proof
}

func (c candidate) score() float64 { return c.label + c.points }

// candidates collects the amounts that may be the total, by value in thousandths.
type candidates map[int64]*candidate

// add proposes v, printed as an amount on the line at. The best label of an amount counts.
func (b candidates) add(v int64, at *printed.Line, amount printed.Amount, label float64) {
	// A refund has a negative total, and an exchange may have the total zero. On an image such
	// amounts are more often dirt, unless the goods show that it is a refund.
	if at == nil || v <= 0 && !((at.Exact || at.Refund) && at.Kind == printed.KindTotal) {
		return
	}
	c := b[v]
	if c == nil {
		c = &candidate{value: v, label: -1}
		b[v] = c
	}
	if label > c.label {
		c.at, c.start, c.end, c.label = at, amount.Start, amount.End, label
	}
}

// rankTotals returns every amount that may be the total, best first. Of equal scores, the lowest
// row and then the larger amount wins.
func (j *join) rankTotals() []candidate {
	var out []candidate
	proposed := j.proposeTotals()
	for _, t := range proposed {
		t.proof = j.proof(t.value)
		t.totalRows = totalRows(t.value, j.readings)
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		byScore := cmp.Compare(b.score(), a.score())
		return cmp.Or(byScore, b.at.Index-a.at.Index, cmp.Compare(b.value, a.value))
	})
	return out
}

// proposeTotals collects the labeled sums, every price without a label, and amounts derived from
// other sums.
func (j *join) proposeTotals() candidates {
	out, sums := candidates{}, &j.sums
	for i, t := range sums.totals {
		out.add(t.Value, t.at, t.Amount, totalLabel(t, i, len(sums.totals)))
		if c := out[t.Value]; c != nil && t.strong {
			c.strong, c.clear = true, !t.inferred && t.MinConfidence >= clearlyRead
		}
	}
	for _, t := range sums.subtotals {
		out.add(t.Value, t.at, t.Amount, 1.5)
	}
	for _, t := range sums.cash {
		out.add(t.Value, t.at, t.Amount, printedLabel)
	}
	for _, r := range j.readings {
		for _, l := range r.lines {
			for _, a := range l.Amounts {
				if a.IsPrice() && l.Kind == printed.KindNone {
					// An unlabeled price reaches minScore only with proof.
					out.add(a.Value, l, a, 0.2)
				}
			}
		}
	}
	out.derive(sums)
	return out
}

// totalRows counts the rows of all readings that call v a total. All readings of single rows count
// as one, because they tend to repeat the same error.
func totalRows(v int64, readings []Reading) int {
	number, rowsOnly := 0, 0
	for _, r := range readings {
		for _, t := range r.sums.totals {
			switch {
			case t.Value != v:
			case r.rowsOnly:
				rowsOnly = 1
			default:
				number++
			}
		}
	}
	return number + rowsOnly
}

// totalLabel returns the points for the label of a total, which is the total index of number on the
// receipt.
func totalLabel(labeled labeled, index, number int) float64 {
	label := 3.0
	if labeled.strong {
		label = 4
	}
	if labeled.inferred {
		label -= 1
	}
	if labeled.MinConfidence < 0.5 {
		label -= 0.5
	}
	label += 0.4 * float64(min(labeled.readings, 3)-1)
	// A later total is more likely final. The preference is small, because a table of taxes often
	// follows the payment.
	return label + 0.3*float64(index)/float64(number)
}

// derive proposes totals that were misread but follow from other sums: cash minus change, an
// earlier total rounded, or, if no total was read, the subtotal plus tax.
func (b candidates) derive(sums *sums) {
	if len(sums.totals) == 0 {
		b.deriveTaxed(sums)
	}
	for _, cash := range sums.cash {
		for _, change := range sums.change {
			if v := cash.Value - abs(change.Value); v > 0 {
				b.add(v, cash.at, cash.Amount, 0)
			}
		}
	}
	coin := coinOf(sums.currency)
	for _, r := range sums.rounding {
		for _, t := range sums.totals {
			for _, v := range []int64{t.Value + r.Value, t.Value - r.Value} {
				// Some tills round down only, so the rounding may be almost two coins of 0.05.
				if r.Value != 0 && abs(r.Value) < 2*coin && v%coin == 0 && t.Value%coin != 0 {
					b.add(v, t.at, t.Amount, derivedLabel)
				}
			}
		}
	}
}

// deriveTaxed proposes each subtotal plus each tax, also rounded to the smallest coin. A tax of 100
// % or more is a misread amount.
func (b candidates) deriveTaxed(sums *sums) {
	for _, base := range sums.subtotals {
		for _, tax := range sums.taxes {
			taxed := base.Value + abs(tax.Value)
			if tax.Value == 0 || tax.included || taxed >= 2*base.Value {
				continue
			}
			b.add(taxed, base.at, base.Amount, 0)
			// The first option is no rounding.
			for _, r := range roundings(sums.rounding)[1:] {
				if v := taxed + r.value; v%coinOf(sums.currency) == 0 {
					b.add(v, base.at, base.Amount, derivedLabel)
				}
			}
		}
	}
}

// confidence converts the score of a candidate to a confidence. lead is the distance to the best
// other candidate. The coefficients were fitted to the share of correct totals with a given score
// and lead. Points alone never reach confidentTotal: other figures must agree with the total, too.
func (c candidate) confidence(lead float64) float64 {
	x := 0.22 + 0.06*min(c.label, 4) + 0.06*min(c.points, 5) + 0.07*max(min(lead, 3), -3)
	if c.corroborated() && lead >= 2 {
		x = max(x, confidentTotal)
	} else {
		x = min(x, confidentTotal-0.01)
	}
	return max(0.01, min(0.99, x))
}

// corroborated reports whether the amount is labeled as a total and one of these holds: two sums
// equal it; one sum does and it was read in another reading or place; or two readings and several
// places have it. Text needs no second reading.
func (c candidate) corroborated() bool {
	repeated := c.totalRows > 1 || c.at.Exact
	proven := c.sums > 1 || c.sums == 1 && (repeated || c.copies > 0) || repeated && c.copies > 1
	return c.label >= 3 && proven
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

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
	// subtotalLabel is the number of points for a subtotal.
	subtotalLabel = 1.5
	// printedLabel is the lowest number of points for an amount that is printed beside a word for a
	// sum or a payment.
	printedLabel = 1
	// clearlyRead is the confidence of a word from which its digits are rarely wrong.
	clearlyRead = 0.85
)

// candidate is an amount that may be the total or a sum before it.
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
	// totalRows is the number of independent rows that call the amount a total, and rows the number
	// of rows with the amount in the reading that has the most.
	totalRows, rows int
}

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

// maxCandidates limits the amounts for which the equation is solved. They are those with the best
// labels and the most rows. Goods have more amounts than that on long receipts only.
const maxCandidates = 32

// likeliestSums returns the amounts that may be the total or a sum before it, those with the best
// labels first.
func (j *join) likeliestSums() []candidate {
	rows := map[int64]int{}
	for _, r := range j.readings {
		for value, n := range rowsOf(r.lines) {
			rows[value] = max(rows[value], n)
		}
	}
	var out []candidate
	for _, c := range j.proposeTotals() {
		c.totalRows, c.rows = totalRows(c.value, j.readings), rows[c.value]
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.label, a.label), b.rows-a.rows, b.at.Index-a.at.Index,
			cmp.Compare(b.value, a.value))
	})
	return out[:min(len(out), maxCandidates)]
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
		out.add(t.Value, t.at, t.Amount, subtotalLabel)
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

// derive proposes totals that were misread but follow from other sums: cash minus change, or, if no
// total was read, the subtotal plus tax.
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

// rowsOf returns the number of lines with each price.
func rowsOf(lines []*printed.Line) map[int64]int {
	last, out := map[int64]*printed.Line{}, map[int64]int{}
	for _, l := range lines {
		for _, a := range l.Amounts {
			if a.IsPrice() && last[a.Value] != l {
				last[a.Value] = l
				out[a.Value]++
			}
		}
	}
	return out
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

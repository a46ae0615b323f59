package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// step is a way from one sum to the next. explained is set if printed amounts explain the
// difference. They are charges, unless they belong to goods with another tax rate.
type step struct {
	charges   adjustment
	explained bool
}

// next returns the step from a sum to another one. An explained step precedes others.
func (j *join) next(from, to solution) (step, bool) {
	if from.value == to.value {
		return step{}, false
	}
	for _, by := range []func(from, to solution) (step, bool){
		j.charged, j.rounded, unknownCharged,
	} {
		if s, ok := by(from, to); ok {
			return s, true
		}
	}
	return step{}, false
}

// charged returns the step to a total that is the sum plus charges or minus discounts in the rows
// between the two. What the charges are called does not matter. A payment with change is no such
// total. From a subtotal, labeled amounts in any row lead to the total.
func (j *join) charged(from, to solution) (step, bool) {
	if from.paid {
		return step{}, false
	}
	difference := to.value - from.value
	subtotal := func(l labeled) bool { return l.Value == from.value && !l.inferred }
	another := to.at.Kind == printed.KindSubtotal && to.rows > 0
	if !another && slices.ContainsFunc(j.sums.subtotals, subtotal) {
		adj, ok := j.sums.adjustments(from.value, to.value)
		rounded := adj.rounding == 0 || to.rows == 0 || j.roundable(to)
		if ok && rounded && adj.plausible(from.value) {
			return step{adj, true}, true
		}
		if j.otherRate(from.value, to.value) {
			return step{explained: true}, true
		}
	}
	// Amounts of a folded page may be a row too low. Their labels are then those of other amounts.
	if from.label >= subtotalLabel && to.label < printedLabel && to.rows > 1 && difference > 0 {
		if _, ok := j.sums.adjustments(from.value, to.value); ok {
			return step{explained: true}, true
		}
	}
	cash := to.at.Kind == printed.KindCash && len(j.sums.change) == 0 && difference > 0
	sum := from.label >= subtotalLabel || from.goods == severalLines
	final := to.at.Kind == printed.KindTotal || cash
	if !sum || from.at.Kind == printed.KindCash || !final {
		return step{}, false
	}
	for _, r := range j.readings {
		between := r.between(from.value, to.value)
		adj, ok := between.adjustments(from.value, to.value)
		switch {
		case ok && adj.plausible(from.value):
			return step{adj, true}, true
		case ok:
			return step{explained: true}, true
		}
	}
	return step{}, false
}

// otherRate reports whether a subtotal of goods with another tax rate leads from a subtotal to a
// total.
func (j *join) otherRate(from, to int64) bool {
	return slices.ContainsFunc(j.sums.subtotals, func(other labeled) bool {
		_, ok := j.sums.adjustments(from+other.Value, to)
		return ok && !other.inferred && other.Value != from
	})
}

// between returns the charges and discounts in the rows between the last row with the amount from
// and the total or payment to after it.
func (r Reading) between(from, to int64) (out sums) {
	start := -1
	for i, line := range r.lines {
		amount, ok := line.LastPrice()
		found := labeled{Amount: amount, at: line}
		switch ends := line.Kind == printed.KindTotal || line.Kind == printed.KindCash; {
		case !ok:
		case amount.Value == from:
			start, out = i, sums{}
		case start >= 0 && amount.Value == to && ends:
			return out
		case line.Kind == printed.KindTip:
			out.tips = append(out.tips, found)
		case line.Kind == printed.KindDiscount:
			out.discounts = append(out.discounts, found)
		case line.Kind == printed.KindTax, line.Kind == printed.KindNone && amount.Value > 0:
			out.taxes = append(out.taxes, found)
		}
	}
	return sums{}
}

// rounded returns the step to the amount that coins can pay. Tills print it below the sum or beside
// the payment. If only the payment less the change shows it, the rounding belongs to the payment,
// and the total is the printed one.
func (j *join) rounded(from, to solution) (step, bool) {
	difference := to.value - from.value
	labeled := slices.ContainsFunc(roundings(j.sums.rounding), func(o option) bool {
		return o.used && o.value == difference
	})
	// Two readings of a row have different amounts if one is misread.
	coin, rounds := smallestCoins[j.currency.Value]
	near := rounds && 2*abs(difference) <= coin && !printed.SameRow(from.at, to.at)
	if from.value%coinOf(j.currency.Value) == 0 || !j.roundable(to) || !labeled && !near {
		return step{}, false
	}
	// Instead of a rounding down, a small tax may lead from the amount to the sum.
	if adj, ok := j.sums.adjustments(to.value, from.value); ok && adj.rounding == 0 {
		return step{}, false
	}
	return step{adjustment{rounding: difference}, true}, true
}

// roundable reports whether coins can pay an amount that is printed as a sum or as a payment, or in
// several rows. A single price without a label is an article.
func (j *join) roundable(to solution) bool {
	_, rounds := smallestCoins[j.currency.Value]
	shown := to.label >= printedLabel || rounds && to.rows > 1
	return shown && to.value%coinOf(j.currency.Value) == 0 && to.at.Kind != printed.KindSubtotal
}

// unknownCharged returns the step to a clearly read amount due below a sum of the lines. The rest
// is a charge that was not read, and the lines get a warning. A payment proves the sum instead.
func unknownCharged(from, to solution) (step, bool) {
	clear := to.strong && (to.clear || to.totalRows > 1)
	final := from.strong || from.paid || from.tendered
	higher := to.value > from.value && 2*to.value <= 3*from.value
	return step{}, clear && higher && !final && to.at.Index > from.at.Index
}

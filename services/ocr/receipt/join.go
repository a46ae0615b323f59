package receipt

import (
	"slices"
	"time"

	"github.com/coffer-budget/coffer/services/ocr/receipt/dates"
	"github.com/coffer-budget/coffer/services/ocr/receipt/merchant"
	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// Join combines several readings of the same image into one receipt. Dates more than two days after
// now are rejected.
//
// Each stage uses the results of the stages before it. Without a total the receipt has the texts,
// and the lines of the longest draft.
func Join(now time.Time, readings ...Reading) Receipt {
	j := join{readings: signRows(readings), now: now}
	j.chooseTexts()
	j.collectFigures()
	if j.chooseTotal() {
		j.chooseGoods()
		j.chooseCharges()
	} else {
		longest := func(a, b []draftItem) int { return len(a) - len(b) }
		j.goods = items{confidence: unreconciledConfidence}
		if len(j.drafts) > 0 {
			j.goods.list = slices.MaxFunc(j.drafts, longest)
		}
	}
	return j.receipt()
}

// join is the state of one call of Join: the readings and the results of the stages. A stage writes
// only its own results.
type join struct {
	readings []Reading
	now      time.Time

	merchant, date, currency printed.Field
	swappable                bool

	drafts [][]draftItem
	sums   sums

	// total is zero if chooseTotal found none.
	total      solution
	confidence float64
	goods      items
	// charges are the amounts between the goods and the total, and subtotal is the printed sum
	// before them, or nil. chooseCharges writes both.
	charges  adjustment
	subtotal *labeled
}

func (j *join) chooseTexts() {
	j.merchant = merchant.Pick(namesOf(j.readings))
	j.currency = pickCurrency(j.readings)
	var found []dates.Date
	var lines []*printed.Line
	for _, r := range j.readings {
		found = append(found, r.dates...)
		lines = append(lines, r.lines...)
	}
	j.date, j.swappable = dates.Pick(found, lines, j.currency.Value, j.now)
}

func (j *join) collectFigures() {
	j.drafts = draftReadings(j.readings)
	j.sums.currency = j.currency.Value
	for _, reading := range j.readings {
		j.sums.add(reading.sums)
	}
}

// chooseTotal takes the best solution of the equation. It returns false if no amount is likely
// enough.
func (j *join) chooseTotal() bool {
	solutions := j.solutions()
	if len(solutions) == 0 || solutions[0].score() < minScore {
		return false
	}
	j.total = solutions[0]
	j.confidence = j.total.confidence(solutions)
	return true
}

// chooseGoods chooses the most confident lines that lead to the total, or to a sum before it. If no
// draft reconciles, it chooses one whose sum is nearest to the total.
func (j *join) chooseGoods() {
	best := j.goodsOf(j.total.value)
	charges := j.total.charges
	for sum := j.total.before; sum != nil; sum = sum.before {
		found := j.goodsOf(sum.value)
		complete := sum.value+charges.sum() == j.total.value
		if complete && found.reconciled && found.confidence > best.confidence {
			best = found
			best.adjustment = best.adjustment.plus(charges)
		}
		charges = charges.plus(sum.charges)
	}
	// On an image, an item with the amount 0 is mostly dirt.
	dirt := func(it draftItem) bool { return it.amount.Value == 0 && !it.free() }
	best.list = slices.DeleteFunc(slices.Clone(best.list), dirt)
	j.goods = best
}

// goodsOf reconciles every draft with a sum and returns the most confident result.
func (j *join) goodsOf(total int64) items {
	off := func(it items) int64 { return abs(sumOf(it.list) - total) }
	var best items
	for _, draft := range j.drafts {
		it := reconciler{total, &j.sums}.reconcile(draft)
		nearer := it.confidence == best.confidence && !it.reconciled && off(it) < off(best)
		if it.confidence > best.confidence || len(best.list) == 0 || nearer {
			best = it
		}
	}
	return best
}

// chooseCharges chooses tax, tip, discount, rounding and the subtotal. If the goods do not
// reconcile, the charges come from a printed subtotal that leads to the total; without one there
// are none.
func (j *join) chooseCharges() {
	total := j.total.value
	j.charges = j.goods.adjustment
	if !j.goods.reconciled {
		j.charges = j.sums.adjustmentOfSubtotal(total)
	}
	for i, s := range j.sums.subtotals {
		if s.Value > 0 && s.Value+j.charges.sum() == total {
			j.subtotal = &j.sums.subtotals[i]
			break
		}
	}
}

// pickCurrency returns the currency with the highest sum of confidences over all readings, divided
// by their number.
func pickCurrency(readings []Reading) printed.Field {
	var best printed.Field
	for _, reading := range readings {
		field := reading.currency
		votes := 0.0
		for _, other := range readings {
			if other.currency.Value == field.Value {
				votes += other.currency.Confidence
			}
		}
		if votes > best.Confidence && field.Value != "" {
			best = printed.Field{Value: field.Value, Confidence: votes, At: field.At}
		}
	}
	best.Confidence /= float64(max(len(readings), 1))
	return best
}

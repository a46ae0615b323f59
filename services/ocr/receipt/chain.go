package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

// A receipt prints a chain of sums from top to bottom: the goods, a subtotal, with charges the
// total, and with the rounding the amount paid. Each step is an equation. The ranking finds the sum
// with the most support, which may be any of them, and the chain leads from there to its end.

// step is a way from one sum to the next. explained is set if printed amounts explain the
// difference.
type step struct {
	to        candidate
	charges   adjustment
	explained bool
}

// follow sets the total to the end of the chain that begins at the best supported candidate.
func (j *join) follow(ranked []candidate) {
	j.first, j.total = ranked[0], ranked[0]
	// A chain has at most as many steps as a receipt has kinds of sums.
	for range 4 {
		next, ok := j.next(j.total, ranked)
		if !ok {
			break
		}
		j.steps = append(j.steps, next)
		j.total = next.to
	}
	best := 0.0
	for _, c := range ranked {
		if c.value == j.total.value || j.inChain(c, j.total) {
			best = max(best, c.confidence(c.score()-j.nextScore(ranked, c)))
		}
	}
	if slices.ContainsFunc(j.steps, func(s step) bool { return !s.explained }) {
		best = min(best, confidentTotal-0.01)
	}
	j.confidence = best
}

// nextScore returns the score of the best candidate besides c that is not in the same chain, or 0
// if there is none. An amount that only a rounding leads to is no competitor, because it is not
// printed.
func (j *join) nextScore(ranked []candidate, c candidate) float64 {
	for _, other := range ranked {
		near := 2*abs(other.value-c.value) <= defaultCoin
		derived := other.label <= derivedLabel && other.rows == 0 && near
		if other.value != c.value && !derived && !j.inChain(other, c) && !j.inChain(c, other) {
			return other.score()
		}
	}
	return 0
}

// inChain reports whether printed amounts explain the step from one sum to another.
func (j *join) inChain(from, to candidate) bool {
	if from.value == to.value {
		return false
	}
	_, charged := j.charged(from, to)
	_, rounded := j.rounded(from, to)
	return charged || rounded
}

// next returns the step from a sum. An explained step precedes others.
func (j *join) next(from candidate, ranked []candidate) (step, bool) {
	for _, by := range []func(from, to candidate) (step, bool){
		j.charged, j.rounded, j.unexplained,
	} {
		for _, to := range ranked {
			if to.value == from.value {
				continue
			}
			if s, ok := by(from, to); ok {
				return s, true
			}
		}
	}
	return step{}, false
}

// charged returns the step to a total that is the sum plus charges or minus discounts in the rows
// between the two. What the charges are called does not matter. A payment with change is no such
// total.
func (j *join) charged(from, to candidate) (step, bool) {
	cash := to.at.Kind == printed.KindCash && len(j.sums.change) == 0 && to.value > from.value
	if from.paid || from.at.Kind == printed.KindCash || to.at.Kind != printed.KindTotal && !cash {
		return step{}, false
	}
	difference := to.value - from.value
	part := func(o labeled) bool { return o.Value == difference }
	if to.strong && slices.ContainsFunc(j.sums.subtotals, part) {
		// The sum belongs to one tax rate, and the subtotal to another one.
		return step{to: to, explained: true}, true
	}
	for _, r := range j.readings {
		tax, tip, discount := r.between(from.value, to.value)
		for _, tax := range options(tax) {
			for _, tip := range options(tip) {
				for _, off := range options(discount) {
					adj := adjustment{
						tax: abs(tax.value), tip: abs(tip.value), discount: abs(off.value),
					}
					if adj.sum() == difference {
						return step{to, adj, true}, true
					}
				}
			}
		}
	}
	return step{}, false
}

// between returns the amounts in the rows between the last row with the amount from and the total
// or payment to after it, by kind.
func (r Reading) between(from, to int64) (charges, tips, discounts []labeled) {
	start := -1
	for i, line := range r.lines {
		amount, ok := line.LastPrice()
		switch ends := line.Kind == printed.KindTotal || line.Kind == printed.KindCash; {
		case !ok:
		case amount.Value == from:
			start, charges, tips, discounts = i, nil, nil, nil
		case start >= 0 && amount.Value == to && ends:
			return charges, tips, discounts
		case line.Kind == printed.KindTip:
			tips = append(tips, labeled{Amount: amount, at: line})
		case line.Kind == printed.KindDiscount:
			discounts = append(discounts, labeled{Amount: amount, at: line})
		case line.Kind == printed.KindTax, line.Kind == printed.KindNone && amount.Value > 0:
			charges = append(charges, labeled{Amount: amount, at: line})
		}
	}
	return nil, nil, nil
}

// rounded returns the step to the amount that coins can pay. Tills print it below the sum or beside
// the payment. If only the payment less the change shows it, the rounding belongs to the payment,
// and the total is the printed one.
func (j *join) rounded(from, to candidate) (step, bool) {
	coin, rounds := smallestCoins[j.currency.Value]
	if !rounds {
		coin = defaultCoin
	}
	difference := to.value - from.value
	if from.value%coin == 0 || to.value%coin != 0 || to.at.Kind == printed.KindSubtotal {
		return step{}, false
	}
	labeled := slices.ContainsFunc(roundings(j.sums.rounding), func(o option) bool {
		return o.used && o.value == difference
	})
	near := 2*abs(difference) <= coin
	// A single price without a label is an article.
	shown := to.label >= printedLabel || rounds && to.rows > 1
	if !shown || !labeled && !(near && rounds) ||
		j.sums.charged(to.value, from.value) {
		return step{}, false
	}
	return step{to, adjustment{rounding: difference}, true}, true
}

// unexplained returns the step to a clearly read amount due below a sum of the lines. The rest is a
// charge that was not read, and the lines get a warning. A payment proves the sum instead.
func (j *join) unexplained(from, to candidate) (step, bool) {
	clear := to.strong && (to.clear || to.totalRows > 1)
	final := from.strong || from.paid || from.tendered
	higher := to.value > from.value && 2*to.value <= 3*from.value
	if final || !clear || !higher || to.at.Index <= from.at.Index {
		return step{}, false
	}
	return step{to: to}, true
}

func (s *sums) charged(base, total int64) bool {
	adj, ok := s.adjustments(base, total)
	return ok && adj.tax+adj.tip+adj.discount != 0
}

// defaultCoin applies to currencies that smallestCoins does not list. Some tills in countries with
// smaller coins round, too.
const defaultCoin = 50

// smallestCoins are the smallest coins, in thousandths, of currencies whose cash amounts are
// rounded.
var smallestCoins = map[string]int64{
	"AUD": 50, "CAD": 50, "CHF": 50, "CZK": 1000, "DKK": 500, "HKD": 100, "HUF": 5000,
	"MYR": 50, "NOK": 1000, "NZD": 100, "SEK": 1000, "SGD": 50,
}

func coinOf(currency string) int64 {
	if coin, ok := smallestCoins[currency]; ok {
		return coin
	}
	return defaultCoin
}

// roundedTo reports whether the total is the sum rounded to the smallest coin. Not every till
// prints the difference. In currencies that are usually not rounded, the sum must be printed.
func (s *sums) roundedTo(sum, total int64) bool {
	coin := coinOf(s.currency)
	if sum == total || 2*abs(total-sum) > coin || total%coin != 0 || sum%coin == 0 {
		return false
	}
	if _, rounds := smallestCoins[s.currency]; rounds {
		return true
	}
	equals := func(l labeled) bool { return l.Value == sum }
	return slices.ContainsFunc(s.totals, equals) || slices.ContainsFunc(s.subtotals, equals)
}

// roundedAdjustments returns the printed amounts that lead from base to a printed total, and the
// rounding from there to total.
func (s *sums) roundedAdjustments(base, total int64) (adjustment, bool) {
	for _, t := range s.totals {
		if !s.roundedTo(t.Value, total) {
			continue
		}
		if adj, ok := s.adjustments(base, t.Value); ok && adj.rounding == 0 {
			adj.rounding = total - t.Value
			return adj, true
		}
	}
	return adjustment{}, false
}

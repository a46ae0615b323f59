package receipt

import "slices"

// adjustment holds the amounts between the sum of the goods and the total, in thousandths. Tax, tip
// and discount are not negative; a discount is subtracted.
type adjustment struct {
	tax, tip, discount, rounding int64
}

func (a adjustment) sum() int64 { return a.tax + a.tip - a.discount + a.rounding }

func (a adjustment) plus(b adjustment) adjustment {
	return adjustment{
		a.tax + b.tax, a.tip + b.tip, a.discount + b.discount, a.rounding + b.rounding,
	}
}

// plausible reports whether tax and tip are at most as high as the goods.
func (a adjustment) plausible(goods int64) bool { return a.tax+a.tip <= abs(goods) }

// option is one selection of the printed amounts of a kind: none, one of them, or the sum of
// several.
type option struct {
	value int64
	// used is false only for the selection of none.
	used bool
}

// selection is an adjustment and the number of its kinds.
type selection struct {
	adjustment
	kinds int
}

// adjustments returns the printed tax, tip, discount and rounding that lead from base to total. It
// prefers fewer kinds.
func (s *sums) adjustments(base, total int64) (adjustment, bool) {
	if s.untaxed == nil {
		s.untaxed = s.selectUntaxed()
	}
	// fewest starts above the number of kinds, so that any solution is accepted.
	best, fewest := adjustment{}, 5
	for _, tax := range s.taxOptions(base) {
		found, ok := s.untaxed[total-base-abs(tax.value)]
		if n := count(tax.used) + found.kinds; ok && n < fewest {
			best, fewest = found.adjustment, n
			best.tax = abs(tax.value)
		}
	}
	return best, fewest < 5
}

// selectUntaxed returns the selections of tips, discounts and roundings by their sum, each with the
// fewest kinds. A receipt asks for thousands of differences, so they are not searched for each.
func (s *sums) selectUntaxed() map[int64]selection {
	discounts, rounds := options(s.discounts), roundings(s.rounding)
	out := map[int64]selection{}
	for _, tip := range options(s.tips) {
		for _, off := range discounts {
			for _, round := range rounds {
				// Signs are ignored, because discounts are printed with and without a minus.
				adj := adjustment{
					tip: abs(tip.value), discount: abs(off.value), rounding: round.value,
				}
				n := count(tip.used, off.used, round.used)
				if found, ok := out[adj.sum()]; !ok || n < found.kinds {
					out[adj.sum()] = selection{adj, n}
				}
			}
		}
	}
	return out
}

// adjustmentOfSubtotal returns the amounts that lead from the first suitable subtotal to the total,
// or none.
func (s *sums) adjustmentOfSubtotal(total int64) adjustment {
	for _, base := range s.subtotals {
		if adj, ok := s.adjustments(base.Value, total); ok && adj.plausible(base.Value) {
			return adj
		}
	}
	return adjustment{}
}

// singleAdjustments returns no adjustment, each printed tax alone, and each rounding alone. Repairs
// that can change an amount to any value use these only, because more combinations would make every
// total reachable.
func (s *sums) singleAdjustments() []adjustment {
	out := []adjustment{{}}
	for _, t := range s.taxes {
		if !t.afterTotal {
			out = append(out, adjustment{tax: abs(t.Value)})
		}
	}
	for _, r := range roundings(s.rounding)[1:] {
		out = append(out, adjustment{rounding: r.value})
	}
	return out
}

// taxOptions returns the options of the printed taxes. For each of the first two rates whose amount
// was not read, it adds the tax at this rate on base, and on base plus another charge.
func (s *sums) taxOptions(base int64) []option {
	out := options(s.taxes)
	listed := len(out)
	for _, rate := range s.rates[:min(len(s.rates), 2)] {
		// The first option is no charge, so it yields the tax on base alone.
		for _, c := range out[:listed] {
			charge := abs(c.value)
			// Amounts are in thousandths and the rate in thousandths of a percent. The tax is
			// rounded to hundredths.
			tax := ((base+charge)*rate/100_000 + 5) / 10 * 10
			out = append(out, option{tax + charge, true})
		}
	}
	return out
}

func count(used ...bool) int {
	n := 0
	for _, u := range used {
		if u {
			n++
		}
	}
	return n
}

// options returns none, each of the first six amounts, their sum, and their pairs. Six limits the
// search, whose cost is the product of the options of all kinds. Amounts after the total are not
// used.
func options(of []labeled) []option {
	out := []option{{}}
	sum := int64(0)
	for _, l := range of[:min(len(of), 6)] {
		if l.Value != 0 && !l.afterTotal {
			sum += abs(l.Value)
			out = append(out, option{l.Value, true})
		}
	}
	if len(of) > 1 && sum != 0 {
		out = append(out, option{sum, true})
	}
	return append(out, pairs(of)...)
}

// pairs returns the sums of two amounts that several readings found, if there are more than two
// amounts. The others may be misread.
func pairs(of []labeled) []option {
	if len(of) <= 2 {
		return nil
	}
	var out []option
	usable := func(l labeled) bool { return l.readings > 1 && !l.afterTotal && l.Value != 0 }
	for i, a := range of[:min(len(of), 6)] {
		for _, b := range of[:i] {
			if usable(a) && usable(b) {
				out = append(out, option{abs(a.Value) + abs(b.Value), true})
			}
		}
	}
	return out
}

// roundings returns none, then up to two roundings with both signs, because the minus of a small
// amount is often not read.
func roundings(of []labeled) []option {
	out := []option{{}}
	for _, l := range of {
		// The smallest coin of every currency is worth less than one unit.
		if l.Value != 0 && abs(l.Value) < 1000 && len(out) < 5 {
			out = append(out, option{l.Value, true}, option{-l.Value, true})
		}
	}
	return out
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

package receipt

import "slices"

// adjustment is what lies between the lines and the total.
type adjustment struct {
	tax, tip, discount, rounding int64
}

// plausible: no more is put on the goods than they cost.
func (a adjustment) plausible(goods int64) bool { return a.tax+a.tip <= abs(goods) }

// roundedTo: the sum is printed, and the total is that to the next five hundredths, as cash goes where there are no smaller
// coins. Not every till prints the difference.
func (s *sums) roundedTo(sum, total int64) bool {
	if sum == total || abs(total-sum) >= 50 || total%50 != 0 || sum%50 == 0 {
		return false
	}
	return slices.ContainsFunc(slices.Concat(s.subtotals, s.totals), func(l labelled) bool { return l.value == sum })
}

// choice is one way to take one sort of amount: not at all, one of them, or all of them together.
type choice struct {
	value int64
	used  bool
}

// adjustments finds tax, tip, discount and rounding, as printed, that together lead from base to total; the fewest first.
func adjustments(base, total int64, s *sums) (adjustment, bool) {
	difference := total - base
	taxes, tips, discounts := s.taxChoices(base), choices(s.tips), choices(s.discounts)
	best, fewest := adjustment{}, 5
	for _, tax := range taxes {
		for _, tip := range tips {
			for _, discount := range discounts {
				for _, rounding := range roundings(s.rounding) {
					n := count(tax.used, tip.used, discount.used, rounding.used)
					if n == 0 && difference != 0 || n >= fewest {
						continue
					}
					if abs(tax.value)+abs(tip.value)-abs(discount.value)+rounding.value == difference {
						best = adjustment{tax: abs(tax.value), tip: abs(tip.value), discount: abs(discount.value), rounding: rounding.value}
						fewest = n
					}
				}
			}
		}
	}
	return best, fewest < 5
}

// taxChoices are the taxes that are printed, and those that must be where only the rate was read: on what the lines come
// to, and on that with another charge.
func (s *sums) taxChoices(base int64) []choice {
	out := choices(s.taxes)
	printed := len(out)
	for _, rate := range s.rates[:min(len(s.rates), 2)] {
		for _, c := range out[:printed] {
			charge := abs(c.value)
			tax := ((base+charge)*rate/100_000 + 5) / 10 * 10
			out = append(out, choice{tax + charge, true})
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

// choices bounds the search: a table of taxes has a few rows, never many.
func choices(of []labelled) []choice {
	out := []choice{{}}
	sum := int64(0)
	for i, l := range of {
		if i == 6 {
			break
		}
		if !l.late {
			sum += abs(l.value)
		}
		if l.value != 0 && !l.late {
			out = append(out, choice{l.value, true})
		}
	}
	if len(of) > 1 && sum != 0 {
		out = append(out, choice{sum, true})
	}
	return append(out, pairs(of)...)
}

// pairs are two of more than two together, where several readings saw both: the others may be misread.
func pairs(of []labelled) []choice {
	var out []choice
	for i, a := range of[:min(len(of), 6)] {
		for _, b := range of[:i] {
			if len(of) > 2 && a.seen > 1 && b.seen > 1 && !a.late && !b.late && a.value != 0 && b.value != 0 {
				out = append(out, choice{abs(a.value) + abs(b.value), true})
			}
		}
	}
	return out
}

// roundings tries both signs: the minus before a rounding is the first thing that a printer's dirt takes.
func roundings(of []labelled) []choice {
	out := []choice{{}}
	for _, l := range of {
		// The smallest coin anywhere is worth less than one unit.
		if l.value != 0 && abs(l.value) < 1000 && len(out) < 5 {
			out = append(out, choice{l.value, true}, choice{-l.value, true})
		}
	}
	return out
}

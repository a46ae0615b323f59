package receipt

import "slices"

// labelled is an amount with the line that says what it is.
type labelled struct {
	amount
	at *line
	// strong: the words leave no doubt that it is what is to be paid.
	strong bool
	// near: the words stand on the line above, or the figure had to be guessed at.
	near bool
	// seen: in how many readings.
	seen int
	// late: below the last total, where tables of taxes and of savings repeat what is in it already.
	late bool
}

// sums are the amounts below the items, by what they are called.
type sums struct {
	totals, subtotals, taxes, cash, change, tips, discounts, rounding []labelled
	// rates of taxes whose amount was not read, in thousandths of a percent.
	rates []int64
}

func findSums(lines []*line) sums {
	var s sums
	for i, l := range lines {
		into := s.of(l.kind)
		if into == nil {
			continue
		}
		strong := strongTotalWords.has(l.tokens)
		if a, ok := l.lastPrice(); ok {
			*into = append(*into, labelled{amount: a, at: l, strong: strong, seen: 1})
			continue
		}
		// The figure may stand on the next line, alone.
		if i+1 < len(lines) && lines[i+1].kind == kindNone && len(lines[i+1].tokens) <= 1 {
			if a, ok := lines[i+1].lastPrice(); ok && lines[i+1].prices() == 1 {
				*into = append(*into, labelled{amount: a, at: lines[i+1], strong: strong, near: true, seen: 1})
				continue
			}
		}
		if l.kind == kindTax {
			s.addRates(l)
		} else if a, ok := lostPoint(l); ok {
			*into = append(*into, labelled{amount: a, at: l, near: true, seen: 1})
		}
	}
	if n := len(s.totals); n > 0 {
		last := s.totals[n-1].at.index
		for _, list := range [][]labelled{s.taxes, s.tips, s.discounts} {
			for i := range list {
				list[i].late = list[i].at.index > last
			}
		}
	}
	return s
}

func (s *sums) addRates(l *line) {
	for _, a := range l.amounts {
		if a.percent && a.value > 0 && !slices.Contains(s.rates, a.value) {
			s.rates = append(s.rates, a.value)
		}
	}
}

// add joins what another reading found; what both found counts once.
func (s *sums) add(o sums) {
	for _, rate := range o.rates {
		if !slices.Contains(s.rates, rate) {
			s.rates = append(s.rates, rate)
		}
	}
	for k := kindTotal; k <= kindRounding; k++ {
		into := s.of(k)
		if into == nil {
			continue
		}
		for _, l := range *o.of(k) {
			i := slices.IndexFunc(*into, func(have labelled) bool { return have.value == l.value })
			if i < 0 {
				*into = append(*into, l)
				continue
			}
			have := &(*into)[i]
			have.strong, have.near, have.late = have.strong || l.strong, have.near && l.near, have.late && l.late
			have.seen += l.seen
			have.certainty = max(have.certainty, l.certainty)
		}
	}
}

func (s *sums) of(k kind) *[]labelled {
	switch k {
	case kindTotal:
		return &s.totals
	case kindSubtotal:
		return &s.subtotals
	case kindTax:
		return &s.taxes
	case kindCash:
		return &s.cash
	case kindChange:
		return &s.change
	case kindTip:
		return &s.tips
	case kindDiscount:
		return &s.discounts
	case kindRounding:
		return &s.rounding
	}
	return nil
}

// lostPoint reads "1250" or "12 50" at the end of a labelled line as 12.50. Others must confirm it. Text has lost nothing:
// there it is what it says.
func lostPoint(l *line) (amount, bool) {
	n := len(l.amounts)
	if n == 0 {
		return amount{}, false
	}
	last := l.amounts[n-1]
	if l.exact {
		return last, !last.percent && last.decimals < 2
	}
	if last.percent || last.decimals == 3 || len(l.text)-last.end > 3 {
		return amount{}, false
	}
	if n > 1 && last.decimals == 0 && last.end-last.start == 2 && l.amounts[n-2].decimals == 0 && last.start-l.amounts[n-2].end == 1 {
		a := last
		a.start = l.amounts[n-2].start
		a.value, a.decimals = l.amounts[n-2].value+last.value/100, 2
		return a, true
	}
	if last.decimals == 0 && last.end-last.start >= 3 && last.end-last.start <= 7 {
		last.value, last.decimals, last.certainty = last.value/100, 2, last.certainty*0.5
		return last, true
	}
	if last.decimals == 0 {
		last.certainty *= 0.5
		return last, true
	}
	return amount{}, false
}

package receipt

import "slices"

// labeled is an amount with the line whose words name its kind.
type labeled struct {
	amount
	at *line
	// strong is set if the label is unambiguous, such as "amount due".
	strong bool
	// inferred is set if the label is on the line above, or the decimal point was missing.
	inferred bool
	// readings is the number of readings that found the amount with this label.
	readings int
	// afterTotal is set for amounts below the last total. Tables there repeat taxes and savings that the total includes.
	afterTotal bool
}

// sums holds the labeled amounts by kind, top to bottom. After add they have no duplicate values.
type sums struct {
	totals, subtotals, taxes, cash, change, tips, discounts, rounding []labeled
	// rates are the rates of taxes whose amount was not read, in thousandths of a percent.
	rates []int64
	// currency decides to which coins amounts are rounded.
	currency string
}

// findSums collects the labeled amounts of classified lines. A line contributes its rightmost price.
func findSums(lines []*line) sums {
	var s sums
	for i, l := range lines {
		into := s.of(l.kind)
		if into == nil {
			continue
		}
		strong := strongTotalWords.has(l.tokens)
		if a, ok := l.lastPrice(); ok {
			*into = append(*into, labeled{amount: a, at: l, strong: strong, readings: 1})
			continue
		}
		if amountBelow(lines, i) {
			a, _ := lines[i+1].lastPrice()
			*into = append(*into, labeled{amount: a, at: lines[i+1], strong: strong, inferred: true, readings: 1})
			continue
		}
		if l.kind == kindTax {
			s.addRates(l)
		} else if a, ok := addMissingPoint(l); ok {
			*into = append(*into, labeled{amount: a, at: l, inferred: true, readings: 1})
		}
	}
	if n := len(s.totals); n > 0 {
		last := s.totals[n-1].at.index
		for _, list := range [][]labeled{s.taxes, s.tips, s.discounts} {
			for i := range list {
				list[i].afterTotal = list[i].at.index > last
			}
		}
	}
	return s
}

// amountBelow reports whether the amount of line i is alone on the next line. One word beside it may be the currency.
func amountBelow(lines []*line, i int) bool {
	return i+1 < len(lines) && lines[i+1].kind == kindNone && len(lines[i+1].tokens) <= 1 && lines[i+1].priceCount() == 1
}

// addRates records the percentages of a tax line without an amount.
func (s *sums) addRates(l *line) {
	for _, a := range l.amounts {
		if a.percent && a.value > 0 && !slices.Contains(s.rates, a.value) {
			s.rates = append(s.rates, a.value)
		}
	}
}

// add merges the sums of another reading. An amount that both found under the same label is kept once. It keeps the better
// label, the higher confidence, and the number of readings.
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
			i := slices.IndexFunc(*into, func(have labeled) bool { return have.value == l.value })
			if i < 0 {
				*into = append(*into, l)
				continue
			}
			have := &(*into)[i]
			have.strong, have.inferred, have.afterTotal = have.strong || l.strong, have.inferred && l.inferred, have.afterTotal && l.afterTotal
			have.readings += l.readings
			have.minConfidence = max(have.minConfidence, l.minConfidence)
		}
	}
}

// of returns the list for a kind of amount, or nil for kinds that have none.
func (s *sums) of(k kind) *[]labeled {
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

// addMissingPoint reads "1250" or "12 50" at the end of a labeled line as 12.50. The result needs confirmation by other figures.
// Text is not misread, so there a whole number is the amount.
func addMissingPoint(l *line) (amount, bool) {
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
	// In "12 50", the second number is the cents.
	if n > 1 && last.decimals == 0 && last.end-last.start == 2 && l.amounts[n-2].decimals == 0 && last.start-l.amounts[n-2].end == 1 {
		a := last
		a.start = l.amounts[n-2].start
		a.value, a.decimals = l.amounts[n-2].value+last.value/100, 2
		return a, true
	}
	// In "1250", the last two digits are the cents. A guess has half the confidence, which lowers its label.
	if last.decimals == 0 && last.end-last.start >= 3 && last.end-last.start <= 7 {
		last.value, last.decimals, last.minConfidence = last.value/100, 2, last.minConfidence*0.5
		return last, true
	}
	if last.decimals == 0 {
		last.minConfidence *= 0.5
		return last, true
	}
	return amount{}, false
}

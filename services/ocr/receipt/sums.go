package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

type labeled struct {
	printed.Amount
	at *printed.Line
	// strong is set if the label is unambiguous, such as "amount due".
	strong bool
	// inferred is set if the label is on the line above, or the decimal point was missing.
	inferred bool
	readings int
	// afterTotal is set for amounts below the last total. Tables there repeat taxes and savings
	// that the total includes.
	afterTotal bool
	// included is set for a tax that the prices include. Some receipts say so of a tax that they
	// add, so it may be a charge between lines and a total, but no total is derived from it.
	included bool
}

// sums holds the labeled amounts by kind, top to bottom. After add they have no duplicate values.
type sums struct {
	totals, subtotals, taxes, cash, change, tips, discounts, rounding []labeled
	// rates are the rates of taxes whose amount was not read, in thousandths of a percent.
	rates    []int64
	currency string
	// untaxed has the result of selectUntaxed, or nil before it is needed.
	untaxed map[int64]selection
}

// maxSums limits the amounts of a kind in a reading, so that the work for crafted texts is limited.
// Receipts have fewer.
const maxSums = 32

// findSums collects the labeled amounts of classified lines, at most the last maxSums of a kind. A
// line contributes its rightmost price.
func findSums(lines []*printed.Line) sums {
	var sums sums
	for index, line := range lines {
		into := sums.of(line.Kind)
		if paidAbove(lines, index) {
			into = &sums.cash
		}
		if into == nil {
			continue
		}
		found := labeled{
			at: line, strong: printed.StrongTotalWords.Has(line.Tokens), readings: 1,
			included: printed.Included(line),
		}
		ok := false
		if found.Amount, ok = line.LastPrice(); ok {
			*into = append(*into, found)
			continue
		}
		found.inferred = true
		if amountBelow(lines, index) {
			found.at = lines[index+1]
			found.Amount, _ = found.at.LastPrice()
			*into = append(*into, found)
			continue
		}
		if line.Kind == printed.KindTax {
			if !found.included {
				sums.addRates(line)
			}
			continue
		}
		found.strong = false
		if found.Amount, ok = addMissingPoint(line); ok {
			*into = append(*into, found)
		}
	}
	for k := printed.KindTotal; k <= printed.KindRounding; k++ {
		list := sums.of(k)
		*list = (*list)[max(0, len(*list)-maxSums):]
	}
	if n := len(sums.totals); n > 0 {
		last := sums.totals[n-1].at.Index
		for _, list := range [][]labeled{sums.taxes, sums.tips, sums.discounts} {
			for i := range list {
				list[i].afterTotal = list[i].at.Index > last
			}
		}
	}
	return sums
}

// paidAbove reports whether line i has an amount without a label directly above the change. It is
// the payment from which the change was given.
func paidAbove(lines []*printed.Line, i int) bool {
	if i+1 >= len(lines) || lines[i].Kind != printed.KindNone || printed.HasName(lines[i]) &&
		len(lines[i].Tokens) > 1 || lines[i+1].Kind != printed.KindChange {
		return false
	}
	payment, ok := lines[i].LastPrice()
	change, given := lines[i+1].LastPrice()
	return ok && given && payment.Value > abs(change.Value)
}

// amountBelow reports whether the amount of line i is alone on the next line. One word beside it
// may be the currency.
func amountBelow(lines []*printed.Line, i int) bool {
	if i+1 >= len(lines) {
		return false
	}
	next := lines[i+1]
	return next.Kind == printed.KindNone && len(next.Tokens) <= 1 && next.PriceCount() == 1
}

func (s *sums) addRates(l *printed.Line) {
	for _, a := range l.Amounts {
		if a.Percent && a.Value > 0 && !slices.Contains(s.rates, a.Value) {
			s.rates = append(s.rates, a.Value)
		}
	}
}

// add merges the sums of another reading. An amount that both found under the same label is kept
// once.
func (s *sums) add(sums sums) {
	s.untaxed = nil
	for _, rate := range sums.rates {
		if !slices.Contains(s.rates, rate) {
			s.rates = append(s.rates, rate)
		}
	}
	for k := printed.KindTotal; k <= printed.KindRounding; k++ {
		into := s.of(k)
		for _, sum := range *sums.of(k) {
			i := slices.IndexFunc(*into, func(have labeled) bool { return have.Value == sum.Value })
			if i < 0 {
				*into = append(*into, sum)
				continue
			}
			have := &(*into)[i]
			have.strong = have.strong || sum.strong
			have.inferred = have.inferred && sum.inferred
			have.afterTotal = have.afterTotal && sum.afterTotal
			have.included = have.included || sum.included
			have.readings += sum.readings
			have.MinConfidence = max(have.MinConfidence, sum.MinConfidence)
		}
	}
}

func (s *sums) of(k printed.Kind) *[]labeled {
	switch k {
	case printed.KindTotal:
		return &s.totals
	case printed.KindSubtotal:
		return &s.subtotals
	case printed.KindTax:
		return &s.taxes
	case printed.KindCash:
		return &s.cash
	case printed.KindChange:
		return &s.change
	case printed.KindTip:
		return &s.tips
	case printed.KindDiscount:
		return &s.discounts
	case printed.KindRounding:
		return &s.rounding
	}
	return nil
}

// addMissingPoint reads "1250" or "12 50" at the end of a labeled line as 12.50. The result needs
// confirmation by other figures. Text is not misread, so there a whole number is the amount.
func addMissingPoint(line *printed.Line) (printed.Amount, bool) {
	number := len(line.Amounts)
	if number == 0 {
		return printed.Amount{}, false
	}
	last := line.Amounts[number-1]
	if line.Exact {
		return last, !last.Percent && last.Decimals < 2
	}
	if last.Percent || last.Decimals != 0 || len(line.Text)-last.End > 3 {
		return printed.Amount{}, false
	}
	digits := last.End - last.Start
	if number > 1 && digits == 2 {
		// In "12 50", the second number is the cents.
		before := line.Amounts[number-2]
		if before.Decimals == 0 && last.Start-before.End == 1 {
			last.Start, last.Decimals = before.Start, 2
			last.Value = before.Value + last.Value/100
			return last, true
		}
	}
	// In "1250", the last two digits are the cents. A guess has half the confidence, which lowers
	// its label.
	if digits >= 3 && digits <= 7 {
		last.Value /= 100
		last.Decimals = 2
	}
	last.MinConfidence *= 0.5
	return last, true
}

package receipt

import (
	"slices"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

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

// paid returns the candidate that was paid: the first of ranked, or the amount to which it was
// rounded. Tills print the sum of the lines first, and the rounded amount below it or beside the
// payment. If the rounded amount is not printed, the rounding belongs to the payment, and the total
// is the printed one.
func (j *join) paid(ranked []candidate) candidate {
	due := j.withCharges(ranked)
	coin, rounds := smallestCoins[j.currency.Value]
	if !rounds || due.value%coin == 0 {
		return due
	}
	for _, candidate := range ranked[1:] {
		rounded := candidate.value%coin == 0 && 2*abs(candidate.value-due.value) <= coin
		if !rounded || candidate.at.Kind == printed.KindSubtotal ||
			j.sums.charged(candidate.value, due.value) {
			continue
		}
		// A single price without a label is an article.
		if candidate.label >= printedLabel || candidate.rows > 1 {
			candidate.confidence = max(candidate.confidence, due.confidence)
			return candidate
		}
	}
	return due
}

// withCharges returns the first candidate, or the payment that equals it plus a tax or tip printed
// between the two. Restaurants add a service charge or a tip after the total. A payment with change
// is no such amount.
func (j *join) withCharges(ranked []candidate) candidate {
	due := ranked[0]
	if due.at.Kind != printed.KindTotal || len(j.sums.change) > 0 {
		return due
	}
	for _, candidate := range ranked[1:] {
		if candidate.value <= due.value || candidate.at.Kind != printed.KindCash ||
			candidate.at.Index <= due.at.Index {
			continue
		}
		for _, charge := range slices.Concat(j.sums.taxes, j.sums.tips) {
			between := due.at.Index < charge.at.Index && charge.at.Index < candidate.at.Index
			if between && due.value+charge.Value == candidate.value {
				return candidate
			}
		}
	}
	return due
}

func (s *sums) charged(base, total int64) bool {
	adj, ok := s.adjustments(base, total)
	return ok && adj.tax+adj.tip+adj.discount != 0
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

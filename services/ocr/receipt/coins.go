package receipt

import "slices"

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
